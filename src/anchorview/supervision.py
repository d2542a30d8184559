"""Labels as Laplacian operators, in time and memory linear in the number of labelled rows.

The paper encodes supervision in two matrices over the labelled rows: ``M`` holds ``1/n_m`` for each
ordered pair of one class (a row with itself included) and ``C`` holds ``1/n_c`` for each ordered pair of
two classes. Neither is formed here. With the one-hot matrix ``Y`` and the class counts,

    L_M V = d_M * V - Y (Yᵀ V) / n_m,            d_M = count[y] / n_m
    L_C V = d_C * V - (1 1ᵀ V - Y (Yᵀ V)) / n_c,  d_C = (n_l - count[y]) / n_c

so applying either costs O(n_l · columns), and the quadratic form of sparse codes, Zᵀ L Z, costs the non-zeros squared
of each row plus one m×m product of class sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .solver.codes import code_gram

Array = npt.NDArray[np.floating]


class Laplacian(Protocol):
    """A symmetric positive semi-definite operator on the labelled rows."""

    def apply(self, values: Array) -> Array:
        """Return ``L @ values`` for one row of values per labelled row."""
        ...

    def quadratic(self, codes: sparse.csr_array) -> npt.NDArray[np.float64]:
        """Return ``codesᵀ L codes`` (m×m) for the codes of the labelled rows."""
        ...

    def largest_eigenvalue(self) -> float:
        """Return the largest eigenvalue of L, or an upper bound of it."""
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

    def _weights(self) -> tuple[npt.NDArray[np.float64], float]:
        """Return the degree of each labelled row and the number of pairs (n_m or n_c)."""
        counts = np.bincount(self.classes, minlength=self.n_classes).astype(np.float64)
        n_must = float(counts @ counts)
        if self.kind == "must":
            return counts[self.classes] / n_must, n_must
        n_cannot = len(self.classes) ** 2 - n_must
        return (len(self.classes) - counts[self.classes]) / n_cannot, n_cannot

    def apply(self, values: Array) -> Array:
        """Return ``L @ values``."""
        degrees, n_pairs = self._weights()
        sums = np.zeros((self.n_classes, values.shape[1]), dtype=values.dtype)
        np.add.at(sums, self.classes, values)
        neighbours = sums if self.kind == "must" else sums.sum(axis=0) - sums
        result: Array = degrees[:, None] * values - neighbours[self.classes] / n_pairs
        return result

    def quadratic(self, codes: sparse.csr_array) -> npt.NDArray[np.float64]:
        """Return ``codesᵀ L codes``."""
        degrees, n_pairs = self._weights()
        one_hot = sparse.csr_array(
            (np.ones(len(self.classes)), (self.classes, np.arange(len(self.classes)))),
            shape=(self.n_classes, len(self.classes)),
        )
        sums = (one_hot @ codes).toarray().astype(np.float64)
        pairs = sums.T @ sums
        if self.kind == "cannot":
            total = sums.sum(axis=0)
            pairs = np.outer(total, total) - pairs
        result: npt.NDArray[np.float64] = code_gram(codes, degrees) - pairs / n_pairs
        return result

    def largest_eigenvalue(self) -> float:
        """Return the largest eigenvalue of L (must-link: exact; cannot-link: Gershgorin's bound)."""
        largest_degree = float(self._weights()[0].max())
        return largest_degree if self.kind == "must" else 2 * largest_degree


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
