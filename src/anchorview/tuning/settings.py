"""What the search tries: settings of the model, in the order of trying."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..scaling import ScalingChoice, resolve_scaling, zero_share
from ..view_input import is_sparse
from ..views import Views

_DENSE_SCALINGS = ("minmax", "symmetric", "standard", "l2")
_COUNT_ZEROS = 0.9  # a non-negative view with more zeros may be counts of words


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
        λ_Z, μ and λ_M of the model; without meaning for the heads "features" and "graph".
    head : {"nearest", "knn", "embedding", "codes", "features", "graph"}
        What reads the label: the nearest labelled row of the embedding or the five nearest, or a logistic regression
        on the embedding, on the codes, or on the scaled features alone, or labels spread over a graph of neighbours.
    strength : float
        C of the logistic regression; how far labels spread over the graph.
    """

    scaling: str | tuple[str, ...]
    n_landmarks: int
    l1: float = 0.2
    ridge: float = 1.0
    must_link_weight: float = 1e4
    head: str = "nearest"
    strength: float = 10.0

    def parameters(self) -> dict[str, Any]:
        """Return the setting as a dictionary."""
        return asdict(self)

    @property
    def choice(self) -> ScalingChoice:
        """Scaling in the form that the estimator takes."""
        return self.scaling if isinstance(self.scaling, str) else list(self.scaling)


def count_changes(setting: Setting) -> int:
    """Return how many of λ_Z, μ and λ_M are not the defaults, where they have a meaning."""
    if setting.head in ("features", "graph"):
        return 0
    return sum(getattr(setting, name) != getattr(Setting, name) for name in ("l1", "ridge", "must_link_weight"))


def scalings_to_try(views: Views) -> list[str | tuple[str, ...]]:
    """Return the scalings that make sense for these views, the default first."""
    sparse = [is_sparse(array) for array in views.arrays]
    if all(sparse):
        return ["lsa", "tfidf"]
    default = resolve_scaling(views, "auto")
    # Where the default centres, rows scaled to 0 … 1 are nearly parallel: nothing to be learned from them.
    dense = [kind for kind in _DENSE_SCALINGS if not (kind == "minmax" and "standard" in default)]
    counts = [known or zero_share(array) > _COUNT_ZEROS for known, array in zip(sparse, views.arrays, strict=True)]
    found = [["lsa" if known else kind for known in sparse] for kind in dense]
    if counts != sparse:
        found.append(["lsa" if count else dense[0] for count in counts])
    return list(dict.fromkeys(_short(kinds) for kinds in [default, *found]))


def _short(kinds: list[str]) -> str | tuple[str, ...]:
    """Return one name if all views have the same scaling."""
    return kinds[0] if len(set(kinds)) == 1 else tuple(kinds)


def heads_of(base: Setting) -> list[Setting]:
    """Return the settings that share the codes of `base`."""
    return [replace(base, head=head) for head in ("nearest", "knn", "embedding", "codes")]
