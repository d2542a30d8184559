"""What the search tries: settings of the model, in the order of trying."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..data.views import Views
from ..features.auto import suit_views, zero_share
from ..features.view_weights import ViewWeights
from ..readers.base import JOINABLE, OF_PRODUCTS
from ..solver.weights import DEFAULTS
from ..solvers import ActiveSet
from .options import SearchOptions

Scaling = str | tuple[str, ...]  # of all views, or of each
SPARSE_SCALINGS = ("lsa", "tfidf")  # that are tried where all views are sparse
N_VOTES = 5
FOR_FSSMSC = JOINABLE  # heads that `FSSMSC` has too
ON_GRAPH = ("spread", "poisson")
ON_FEATURES = ("features", "views")
WITHOUT_CODES = (*ON_FEATURES, *ON_GRAPH)
READINGS: tuple[tuple[str, ...], ...] = (("linear",), ("poisson",), OF_PRODUCTS)  # of E (`readers`), in `FSSMSC`
_WEIGHTS = ("l1", "ridge", "must_link_weight")


@dataclass(frozen=True)
class Setting:
    """One way to label the rows.

    Parameters
    ----------
    scaling : str or tuple of str
        Scaling, of all views or of each.
    n_landmarks : int
        Number of landmarks.
    l1, ridge, must_link_weight : float
        λ_Z, μ and λ_M of the model; without meaning for heads without codes.
    n_votes : int
        Labelled rows that vote in the head "knn".
    units : {"data", "paper"}
        What these are measured in; see `solver.weights`.
    head : {"nearest", "knn", "embedding", "codes", "features", "views", "spread", "poisson"}
        What reads the label: the nearest labelled row of the embedding or the five nearest, or a logistic regression
        on the embedding, on the codes, or on the scaled features alone, or the mean of one on each view, or labels
        spread over a graph of neighbours, or their potential on it.
    strength : float
        C of the logistic regression; how far labels spread over the graph, how little the potential is damped.
    view_weights : tuple of float or None
        How much each view counts; None if all do the same.
    """

    scaling: Scaling
    n_landmarks: int
    l1: float = DEFAULTS["data"].l1
    ridge: float = DEFAULTS["data"].ridge
    must_link_weight: float = DEFAULTS["data"].must_link_weight
    head: str = "nearest"
    strength: float = 10.0
    n_votes: int = N_VOTES
    units: str = "data"
    view_weights: ViewWeights = None

    def parameters(self) -> dict[str, Any]:
        """Return the setting as a dictionary."""
        return asdict(self)

    def for_fssmsc(self) -> dict[str, Any]:
        """Return what the setting is to `FSSMSC`, by the names of its parameters."""
        scaling = self.scaling if isinstance(self.scaling, str) else list(self.scaling)
        found: dict[str, Any] = {"scaling": scaling, "n_landmarks": self.n_landmarks}
        found["view_weights"] = None if self.view_weights is None else list(self.view_weights)
        if self.head in FOR_FSSMSC:  # the others have no codes, or read them in a way of their own
            found |= {name: getattr(self, name) for name in _WEIGHTS} | {"solver": ActiveSet(units=self.units)}
            found |= {"readers": (self.head,)} | ({"n_neighbors": self.n_votes} if self.head == "knn" else {})
        return found

    @property
    def source(self) -> tuple[Scaling, int, ViewWeights]:
        """What settings with the same landmarks have in common."""
        return self.scaling, self.n_landmarks, self.view_weights

    @property
    def encoder(self) -> tuple[Any, ...]:
        """What settings with the same codes have in common."""
        return *self.source, self.units, self.l1, self.ridge


def count_changes(setting: Setting) -> int:
    """Return how many of λ_Z, μ and λ_M are not the defaults, where they have a meaning."""
    if setting.head in WITHOUT_CODES:
        return 0
    return sum(getattr(setting, name) != getattr(DEFAULTS[setting.units], name) for name in _WEIGHTS)


def scalings_to_try(views: Views, options: SearchOptions) -> list[Scaling]:
    """Return the scalings that make sense for these views, the default first."""
    is_sparse_view = views.is_sparse_view
    if all(is_sparse_view):
        return list(SPARSE_SCALINGS)
    default = suit_views(views, ["auto"] * len(views.names))
    # Where the default centres, rows scaled to 0 … 1 are nearly parallel: nothing to be learned from them.
    centred = {kind for kind, known in zip(default, is_sparse_view, strict=True) if not known} == {"standard"}
    dense = [kind for kind in options.dense_scalings if not (kind == "minmax" and centred)]
    counts = [
        known or zero_share(array) > options.count_zeros
        for known, array in zip(is_sparse_view, views.arrays, strict=True)
    ]
    tried = [["lsa" if known else kind for known in is_sparse_view] for kind in dense]
    if counts != is_sparse_view:
        tried.append(["lsa" if count else dense[0] for count in counts])
    return list(dict.fromkeys(map(one_name, [default, *tried])))


def one_name(kinds: list[str]) -> Scaling:
    """Return one name if all views have the same scaling."""
    return kinds[0] if len(set(kinds)) == 1 else tuple(kinds)
