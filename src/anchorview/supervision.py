"""Labels as Laplacian operators, in time and memory linear in the number of labelled rows.

The paper encodes supervision in two matrices over the labelled rows: ``M`` holds ``1/n_m`` for each
ordered pair of one class (a row with itself included) and ``C`` holds ``1/n_c`` for each ordered pair of
two classes. Neither is formed here. With the one-hot matrix ``Y`` and the class counts,

    L_M V = d_M * V - Y (Yᵀ V) / n_m,            d_M = count[y] / n_m
    L_C V = d_C * V - (1 1ᵀ V - Y (Yᵀ V)) / n_c,  d_C = (n_l - count[y]) / n_c

so applying either costs O(n_l · columns).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]


class Laplacian(Protocol):
    """A symmetric positive semi-definite operator on the labelled rows."""

    def apply(self, values: Array) -> Array:
        """Return ``L @ values`` for one row of values per labelled row."""
        ...


@dataclass(frozen=True)
class LabelLaplacian:
    """The must-link or the cannot-link Laplacian that class labels imply.

    Parameters
    ----------
    classes : ndarray of shape (n_labelled,)
        Class number of each labelled row, from 0.
    n_classes : int
        Number of classes.
    kind : {"must", "cannot"}
        Which of the two.
    """

    classes: npt.NDArray[np.intp]
    n_classes: int
    kind: str

    def _class_sums(self, values: Array) -> Array:
        sums = np.zeros((self.n_classes, values.shape[1]), dtype=values.dtype)
        np.add.at(sums, self.classes, values)
        return sums

    def apply(self, values: Array) -> Array:
        """Return ``L @ values``."""
        counts = np.bincount(self.classes, minlength=self.n_classes).astype(np.float64)
        n_labelled, n_must = len(self.classes), float(counts @ counts)
        same_class = self._class_sums(values)
        if self.kind == "must":
            degree = counts[self.classes] / n_must
            neighbours = same_class[self.classes] / n_must
        else:
            n_cannot = n_labelled**2 - n_must
            degree = (n_labelled - counts[self.classes]) / n_cannot
            neighbours = (same_class.sum(axis=0) - same_class[self.classes]) / n_cannot
        result: Array = degree[:, None] * values - neighbours
        return result


def label_laplacians(
    classes: npt.NDArray[np.intp], n_classes: int
) -> tuple[LabelLaplacian | None, LabelLaplacian | None]:
    """Return the must-link and cannot-link Laplacians of some labels; None where there is no such pair.

    Examples
    --------
    >>> import numpy as np
    >>> must, cannot = label_laplacians(np.array([0, 0, 1]), 2)
    >>> must.apply(np.array([[1.0], [3.0], [5.0]])).ravel()
    array([-0.4,  0.4,  0. ])
    >>> label_laplacians(np.array([0, 0]), 1)[1] is None
    True
    """
    if len(classes) == 0:
        return None, None
    must = LabelLaplacian(classes, n_classes, "must")
    cannot = LabelLaplacian(classes, n_classes, "cannot") if len(np.unique(classes)) > 1 else None
    return must, cannot
