"""What a fit knows of its rows: labels and pairs, and their Laplacians.

The paper encodes supervision in two matrices over the labelled rows: ``M`` holds ``1/n_m`` for each ordered pair of one
class (a row with itself included) and ``C`` holds ``1/n_c`` for each ordered pair of two classes. Neither is formed:
see `solver.laplacian`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import ClassIds, Matrix, Rows, Weights
from ..core.checks import OneOf
from ..solver.laplacian import GroupLaplacian, Laplacian, PairLaplacian, Part, group_matrix, pair_matrix, pool
from .conflicts import Conflict
from .pairs import PairGroups, PairList, ResolvedPairs


@dataclass(frozen=True)
class Supervision:
    """Labels and pairs of a fit."""

    classes: npt.NDArray[Any]  # the labelled ones, in the order of their first labelled rows
    class_ids: ClassIds  # of each row, −1 without a label
    pairs: ResolvedPairs | None  # constraints by row number
    conflicts: list[Conflict]  # constraints that contradict each other or the labels

    @property
    def labelled(self) -> Rows:
        """Numbers of the labelled rows, ascending."""
        return np.flatnonzero(self.class_ids >= 0)

    def take(self, rows: Rows) -> Supervision:
        """Return what is known of some rows (ascending), all labelled ones among them; pairs are of these only."""
        pairs = None if self.pairs is None else self.pairs.take(rows)
        return Supervision(self.classes, self.class_ids[rows], pairs, self.conflicts)


def supervision_laplacians(
    class_ids: Rows,
    n_classes: int,
    resolved: ResolvedPairs | None = None,
    weights: Weights = None,
    class_balance: str | None = None,
) -> tuple[Rows, Laplacian | None, Laplacian | None]:
    """Return the rows with any supervision, ascending, and the must-link and cannot-link Laplacians over them.

    A Laplacian is None where there is no such pair. With row weights w a pair i, j weighs w_i w_j, so weight 2 is a row
    given twice. `class_balance` "balanced" divides the weight of a labelled row by the sum of its class: every class
    then has the same weight in must-link, and every two classes the same in cannot-link. The weight of the labels
    against the pairs stays what it is.

    Examples
    --------
    >>> from anchorview import Constraints
    >>> pairs = Constraints.from_pairs(must=[(0, 3)], n_rows=4).resolve(4)
    >>> rows, must, cannot = supervision_laplacians(np.array([0, 0, -1, -1]), 1, pairs)
    >>> rows, cannot is None
    (array([0, 1, 3]), True)
    >>> (6 * must.apply(np.eye(3))).round(12)  # 4 pairs by label, 2 by the pair
    array([[ 2., -1., -1.],
           [-1.,  1.,  0.],
           [-1.,  0.,  1.]])
    """
    OneOf((None, "balanced")).check("class_balance", class_balance)
    weights = np.ones(len(class_ids)) if weights is None else weights
    is_known = class_ids >= 0
    rows = np.flatnonzero(is_known if resolved is None else is_known | resolved.touched())
    must = [_label_part(class_ids[rows], n_classes, weights[rows], class_balance, is_must=True)]
    cannot = [_label_part(class_ids[rows], n_classes, weights[rows], class_balance, is_must=False)]
    if resolved is not None:
        must += _pair_parts(resolved.must, resolved.must_groups, rows, weights)
        cannot += _pair_parts(resolved.cannot, resolved.cannot_groups, rows, weights)
    return rows, pool(must, len(rows)), pool(cannot, len(rows))


def _label_part(classes: Rows, n_classes: int, weights: Matrix, class_balance: str | None, *, is_must: bool) -> Part:
    """Pairs of one class (the paper's M), or of two classes (its C): all labelled rows but those of one class."""

    def laplacian(row_weights: Matrix) -> GroupLaplacian:
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


def _pair_parts(pairs: PairList, groups: tuple[PairGroups, ...], rows: Rows, weights: Matrix) -> Iterator[Part]:
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
