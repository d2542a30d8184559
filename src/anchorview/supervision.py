"""Labels, groups and pairs as Laplacian operators, in time and memory linear in the labelled rows and pairs.

The paper encodes supervision in two matrices over the labelled rows: ``M`` holds ``1/n_m`` for each
ordered pair of one class (a row with itself included) and ``C`` holds ``1/n_c`` for each ordered pair of
two classes. Neither is formed here: see `pair_laplacian`. Pairs from several sources are pooled,

    L = Σ_k n_k L_k / Σ_k n_k,

where n_k is the number of ordered pairs of source k, weights summed: what a matrix with all the pairs would give.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .pair_laplacian import GroupLaplacian, PairLaplacian, lanczos_bound
from .row_pairs import PairList, ResolvedPairs, RowGroups, Rows, group_matrix, pair_matrix
from .validation import check_choice

Array = npt.NDArray[np.floating]


class Laplacian(Protocol):
    """A symmetric positive semi-definite operator on the rows with supervision."""

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
class CombinedLaplacian:
    """A weighted sum of Laplacians on the same rows.

    Parameters
    ----------
    parts : tuple of Laplacian
        L_k.
    shares : tuple of float
        n_k / Σ_k n_k.
    n_rows : int
        Number of rows they act on.
    """

    parts: tuple[Laplacian, ...]
    shares: tuple[float, ...]
    n_rows: int

    def apply(self, values: Array) -> Array:
        """Return ``L @ values``."""
        result: Array = np.zeros(values.shape)
        for part, share in zip(self.parts, self.shares, strict=True):
            result += share * part.apply(values)
        return result

    def quadratic(self, codes: sparse.csr_array) -> npt.NDArray[np.float64]:
        """Return ``codesᵀ L codes``."""
        result = np.zeros((codes.shape[1], codes.shape[1]))
        for part, share in zip(self.parts, self.shares, strict=True):
            result += share * part.quadratic(codes)
        return result

    def largest_eigenvalue(self) -> float:
        """Return the largest eigenvalue of L, or slightly more."""
        return self._largest_eigenvalue

    @cached_property
    def _largest_eigenvalue(self) -> float:
        largest = sum(share * part.largest_eigenvalue() for part, share in zip(self.parts, self.shares, strict=True))
        return lanczos_bound(self.apply, self.n_rows, largest)


def supervision_laplacians(
    class_codes: Rows,
    n_classes: int,
    resolved: ResolvedPairs | None = None,
    weights: npt.NDArray[np.float64] | None = None,
    class_balance: str | None = None,
) -> tuple[Rows, Laplacian | None, Laplacian | None]:
    """Return the rows with any supervision and the must-link and cannot-link Laplacians over them.

    Parameters
    ----------
    class_codes : ndarray of shape (n_rows,)
        Class number of each row, −1 without a label.
    n_classes : int
        Number of classes.
    resolved : ResolvedPairs, optional
        Pairs and groups, from ``Constraints.resolve``.
    weights : ndarray of shape (n_rows,), optional
        Weight w of each row, finite and not negative: a pair i, j weighs w_i w_j, so weight 2 is a row given twice.
    class_balance : {None, "balanced"}
        "balanced" divides the weight of a labelled row by the sum of its class: every class then has the same
        weight in must-link, and every two classes the same in cannot-link. The weight of the labels against the
        pairs stays what it is.

    Returns
    -------
    rows : ndarray
        Rows with a label, in a pair or in a group, ascending; the operators act on them in this order.
    must, cannot : Laplacian or None
        None where there is no such pair.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.constraints import Constraints
    >>> pairs = Constraints.from_pairs(must=[(0, 3)], n_rows=4).resolve(4)
    >>> rows, must, cannot = supervision_laplacians(np.array([0, 0, -1, -1]), 1, pairs)
    >>> rows, cannot is None
    (array([0, 1, 3]), True)
    >>> (6 * must.apply(np.eye(3))).round(12)  # 4 pairs by label, 2 by the pair
    array([[ 2., -1., -1.],
           [-1.,  1.,  0.],
           [-1.,  0.,  1.]])
    """
    check_choice("class_balance", class_balance, (None, "balanced"))
    resolved = ResolvedPairs.empty(len(class_codes)) if resolved is None else resolved
    weights = np.ones(len(class_codes)) if weights is None else weights
    rows = np.flatnonzero((class_codes >= 0) | resolved.touched())
    must = [_label_part(class_codes[rows], n_classes, weights[rows], class_balance, is_must=True)]
    cannot = [_label_part(class_codes[rows], n_classes, weights[rows], class_balance, is_must=False)]
    must += _pair_parts(resolved.must, resolved.must_groups, rows, weights)
    cannot += _pair_parts(resolved.cannot, resolved.cannot_groups, rows, weights)
    return rows, _combine(must, len(rows)), _combine(cannot, len(rows))


def label_laplacians(classes: Rows, n_classes: int) -> tuple[Laplacian | None, Laplacian | None]:
    """Return the must-link and cannot-link Laplacians of labels, one per row; None where there is no such pair.

    Examples
    --------
    >>> import numpy as np
    >>> must, cannot = label_laplacians(np.array([0, 0, 1]), 2)
    >>> must.apply(np.array([[1.0], [3.0], [5.0]])).ravel()
    array([-0.4,  0.4,  0. ])
    >>> label_laplacians(np.array([0, 0]), 1)[1] is None
    True
    """
    _, must, cannot = supervision_laplacians(classes, n_classes)
    return must, cannot


_Part = tuple[GroupLaplacian | PairLaplacian, float]  # L_k and n_k


def _label_part(
    classes: Rows, n_classes: int, weights: npt.NDArray[np.float64], class_balance: str | None, *, is_must: bool
) -> _Part:
    """Pairs of one class (the paper's M), or of two classes (its C): all labelled rows but those of one class."""

    def laplacian(row_weights: npt.NDArray[np.float64]) -> GroupLaplacian:
        by_class = group_matrix(classes, n_classes, row_weights)
        if is_must:
            return GroupLaplacian(by_class)
        return GroupLaplacian(group_matrix(np.where(classes >= 0, 0, -1), 1, row_weights), by_class)

    plain = laplacian(weights)
    if class_balance is None:
        return plain, plain.n_pairs
    labelled = classes >= 0
    sums = np.bincount(classes[labelled], weights=weights[labelled], minlength=n_classes)
    balanced = np.zeros(len(classes))
    balanced[labelled] = weights[labelled] / np.where(sums > 0, sums, 1.0)[classes[labelled]]
    return laplacian(balanced), plain.n_pairs


def _pair_parts(
    pairs: PairList, groups: tuple[RowGroups, ...], rows: Rows, weights: npt.NDArray[np.float64]
) -> Iterator[_Part]:
    """Single pairs together, then each set of groups."""
    first, second = np.searchsorted(rows, pairs.first), np.searchsorted(rows, pairs.second)
    by_pair = pairs.weight * weights[pairs.first] * weights[pairs.second]
    single = PairLaplacian(pair_matrix(first, second, by_pair, len(rows)))
    yield single, single.n_pairs
    for group in groups:
        within = group_matrix(group.numbers[rows], group.n_groups, weights[rows])
        members = None
        if group.members is not None:
            inside = np.where(group.numbers >= 0, group.members, -1)[rows]
            members = group_matrix(inside, int(group.members.max(initial=-1)) + 1, weights[rows])
        laplacian = GroupLaplacian(within, members)
        yield laplacian, group.weight * laplacian.n_pairs


def _combine(parts: list[_Part], n_rows: int) -> Laplacian | None:
    """Pool the parts that have any pair."""
    used = [(part, n_pairs) for part, n_pairs in parts if n_pairs > 0]
    total = sum(n_pairs for _, n_pairs in used)
    if len(used) <= 1:
        return used[0][0] if used else None
    return CombinedLaplacian(tuple(part for part, _ in used), tuple(n_pairs / total for _, n_pairs in used), n_rows)
