"""What the search tries: settings of the model, in the order of trying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..scaling import ScalingChoice
from ..view_input import is_sparse
from ..views import Views

HEADS = ("nearest", "knn", "embedding", "codes", "features")
_DENSE_SCALINGS = ("minmax", "symmetric", "standard", "l2")


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
        λ_Z, μ and λ_M of the model; without meaning for the head "features".
    head : {"nearest", "knn", "embedding", "codes", "features"}
        What reads the label: the nearest labelled row of the embedding or the five nearest, or a logistic regression
        on the embedding, on the codes, or on the scaled features alone.
    strength : float
        C of the logistic regression.
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


def scalings_to_try(views: Views) -> list[str | tuple[str, ...]]:
    """Return the scalings that make sense for these views, the default first."""
    sparse = [is_sparse(array) for array in views.arrays]
    if all(sparse):
        return ["lsa", "tfidf"]
    if not any(sparse):
        return list(_DENSE_SCALINGS)
    return [tuple("lsa" if s else kind for s in sparse) for kind in _DENSE_SCALINGS]


def heads_of(base: Setting, strengths: Sequence[float] = (10.0,)) -> list[Setting]:
    """Return the settings that share the codes of `base`."""
    from dataclasses import replace

    plain = [replace(base, head=head) for head in ("nearest", "knn")]
    return plain + [replace(base, head=head, strength=c) for head in ("embedding", "codes") for c in strengths]
