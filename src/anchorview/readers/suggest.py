"""Which rows to label next: those that together stand for most of the mistakes that are expected.

Rows are grouped finely by their codes, which know nothing of the labels. A group's expected number of mistakes,
Σ (1 − confidence), measures how much a label near it can help: it is large where the model is in doubt about many rows,
not where a single row is odd. Rows are chosen one after the other, each for what the labels and those chosen before it
leave uncovered (`covering`), among the middle rows of the groups. Without any label all rows are in doubt alike, and
there is nothing to cover: then it is the middle rows of as many groups as are asked for, the largest first.

Large groups without any label come before all others: they may be classes that nobody has named yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Matrix, Rows
from .covering import CoveredDoubt
from .group_tree import GroupTree, group_centres

_MOST_LABELLED = 5000  # labelled rows that show which groups have a label
_GROUPS_PER_CLASS = 2  # where classes without a label are looked for
_FEWEST_GROUPS = 10


@dataclass(frozen=True)
class Suggestion:
    """A row to label next, and why.

    Attributes
    ----------
    row : object
        Number of the row (its id, if the views have ids).
    source : {"suggested", "random"}
        What to give as `label_source`; "random" for a row of the audit.
    reason : str
        In words.
    size : int
        About how many rows it stands for.
    """

    row: Any
    source: str
    reason: str
    size: int


@dataclass(frozen=True, eq=False)
class SuggestedRows:
    """Rows to label next, the most useful first.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers.
    sizes : ndarray of int
        About how many rows each stands for.
    in_new_groups : ndarray of bool
        Whether these are rows without any label among them.
    """

    rows: Rows
    sizes: Rows
    in_new_groups: Mask


def suggest_from(
    groups: GroupTree,
    coordinates: Matrix,
    doubt: Matrix,
    candidates: Mask,
    n: int,
    *,
    n_labelled: int = 0,
    labelled: Rows | None = None,
    n_classes: int = 0,
) -> SuggestedRows:
    """Return the rows to label next, the most useful first, by groups that were made before.

    Parameters
    ----------
    groups : GroupTree
        Of the same rows.
    coordinates : ndarray of shape (n_rows, p)
        Where rows that are alike lie together; see `code_space`.
    doubt : ndarray of shape (n_rows,)
        Probability that the label of a row is wrong; 0 for rows that do not matter.
    candidates : ndarray of bool of shape (n_rows,)
        Rows that may be suggested, at least `n`.
    n : int
        Number of rows.
    n_labelled : int
        Number of rows that have a label.
    labelled : ndarray of int, optional
        Rows with a label: large groups without any of them come first.
    n_classes : int
        Classes that have a label.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.readers.group_tree import make_group_tree
    >>> places = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0]])
    >>> groups, doubt = make_group_tree(places), np.array([0.1, 0.1, 0.1, 0.6, 0.6, 0.6, 0.9])
    >>> suggest_from(groups, places, doubt, np.full(7, True), 2, n_labelled=1).rows
    array([4, 6])
    """
    rows, points, fine = _with_candidates(groups, coordinates, candidates, n)
    joined = groups.joined(n_labelled + n)[fine]
    scale = len(doubt) / max(len(groups.rows), 1)
    expected_mistakes: Matrix = np.bincount(joined, weights=doubt[rows]).astype(np.float64)
    order = _representatives(points, joined, expected_mistakes, candidates[rows])
    new_order, is_new = np.empty(0, dtype=np.intp), np.zeros(len(rows), dtype=bool)
    if labelled is not None and len(labelled):
        new_order, is_new = _in_new_groups(groups, coordinates, points, fine, candidates[rows], labelled, n_classes, n)
        coverage = CoveredDoubt(groups, n_labelled + n, coordinates[labelled])
        covering = _covering(coverage, points, fine, doubt[rows], candidates[rows], n, new_order)
        before = np.concatenate([new_order, covering])
        order = np.concatenate([before, order[~np.isin(order, before)]])
    chosen = _without_doubles(points, order, n, groups.double)
    n_alike = np.bincount(joined)[joined[chosen]]
    found_new = is_new[chosen] & np.isin(chosen, new_order)
    coarse_sizes = _new_sizes(groups, fine, n_classes)[chosen]
    sizes = np.maximum(np.round(scale * np.where(found_new, coarse_sizes, n_alike)), 1).astype(np.intp)
    return SuggestedRows(rows[chosen], sizes, found_new)


@dataclass(frozen=True, eq=False)
class LabelQueue:
    """Rows to label next, in order, some of them of the audit.

    Attributes
    ----------
    rows, sizes, in_new_groups
        As `SuggestedRows` has them.
    is_audit : ndarray of bool
        Which are rows of the audit.
    """

    rows: Rows
    sizes: Rows
    in_new_groups: Mask
    is_audit: Mask


def make_queue(
    groups: GroupTree,
    coordinates: Matrix,
    doubt: Matrix,
    candidates: Mask,
    n: int,
    audit: Rows,
    *,
    share: float,
    labelled: Rows,
    n_classes: int,
) -> LabelQueue:
    """Return the rows to label next, the most useful first, and evenly between them the next rows of the audit.

    Parameters
    ----------
    groups, coordinates, doubt, candidates, n, labelled, n_classes
        As for `suggest_from`.
    audit : ndarray of int
        Rows of the audit that have no label, in order: from `next_audit_rows`.
    share : float
        Of the audit: with 0.2 every fifth row is one, the last of each five.
    """
    is_audit = np.diff(np.floor(np.arange(n + 1) * share + 1e-9)) > 0
    is_audit[np.flatnonzero(is_audit)[len(audit) :]] = False  # no more are left
    drawn = audit[: int(is_audit.sum())]
    rows, sizes, in_new = np.empty(n, dtype=np.intp), np.ones(n, dtype=np.intp), np.zeros(n, dtype=bool)
    rows[is_audit] = drawn
    if not is_audit.all():
        left = candidates.copy()
        left[drawn] = False
        found = suggest_from(
            groups,
            coordinates,
            doubt,
            left,
            n - len(drawn),
            n_labelled=len(labelled),
            labelled=labelled,
            n_classes=n_classes,
        )
        rows[~is_audit], sizes[~is_audit], in_new[~is_audit] = found.rows, found.sizes, found.in_new_groups
    return LabelQueue(rows, sizes, in_new, is_audit)


def _with_candidates(groups: GroupTree, coordinates: Matrix, candidates: Mask, n: int) -> tuple[Rows, Matrix, Rows]:
    """Return rows with their coordinates and fine groups; with enough candidates among them to choose from."""
    n_there = int(np.count_nonzero(candidates[groups.rows]))
    if n_there >= min(2 * n, int(np.count_nonzero(candidates))):
        return groups.rows, groups.points, groups.groups
    others = np.setdiff1d(np.flatnonzero(candidates), groups.rows)
    extra = np.random.RandomState(0).permutation(others)[: max(2 * n - n_there, n)]
    points = coordinates[extra].astype(np.float32)
    return (
        np.concatenate([groups.rows, extra]),
        np.vstack([groups.points, points]),
        np.concatenate([groups.groups, groups.nearest(points)]),
    )


def _representatives(points: Matrix, joined: Rows, expected_mistakes: Matrix, candidates: Mask) -> Rows:
    """Return candidates: the middle row of each group, groups in order; then the second of each, and so on."""
    centres = group_centres(points, joined)
    distances = np.linalg.norm(points - centres[joined], axis=1)
    order = np.lexsort((distances, joined))
    order = order[candidates[order]]
    starts = np.flatnonzero(np.diff(joined[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    result: Rows = order[np.lexsort((-expected_mistakes[joined[order]], place))]
    return result


def _covering(
    coverage: CoveredDoubt, points: Matrix, fine: Rows, doubt: Matrix, candidates: Mask, n: int, first: Rows
) -> Rows:
    """Return middle rows of fine groups that together cover most doubt, beside those that come first anyway."""
    mistakes = np.bincount(fine, weights=doubt).astype(np.float64)
    middle = _representatives(points, fine, mistakes, candidates)
    middle = middle[np.sort(np.unique(fine[middle], return_index=True)[1])]  # one of each group
    middle = np.concatenate([first, middle[~np.isin(middle, first)]])
    result: Rows = middle[coverage.choose(points[middle], mistakes, n, np.arange(len(first)))]
    return result


def _coarse(groups: GroupTree, n_classes: int) -> Rows:
    return groups.joined(max(_GROUPS_PER_CLASS * n_classes, _FEWEST_GROUPS))


def _new_sizes(groups: GroupTree, fine: Rows, n_classes: int) -> Rows:
    """Return, for each row, how many rows its coarse group has."""
    coarse = _coarse(groups, n_classes)[fine]
    sizes: Rows = np.bincount(coarse)[coarse]
    return sizes


def _in_new_groups(
    groups: GroupTree,
    coordinates: Matrix,
    points: Matrix,
    fine: Rows,
    candidates: Mask,
    labelled: Rows,
    n_classes: int,
    n: int,
) -> tuple[Rows, Mask]:
    """Return the middle rows of large groups without a label, at most half of those asked for, and all their rows."""
    some = labelled if len(labelled) <= _MOST_LABELLED else labelled[:: -(-len(labelled) // _MOST_LABELLED)]
    number = _coarse(groups, n_classes)
    coarse = number[fine]
    has_label = np.zeros(int(number.max()) + 1, dtype=bool)
    has_label[number[groups.nearest(coordinates[some])]] = True
    sizes = np.bincount(coarse, minlength=len(has_label))
    # Half as large as the mean group: specks of odd rows are no class.
    is_new = ~has_label & (sizes >= len(coarse) / (2 * len(has_label)))
    order = _representatives(points, coarse, sizes.astype(np.float64), candidates & is_new[coarse])
    first = order[np.sort(np.unique(coarse[order], return_index=True)[1])] if len(order) else order
    return first[: n // 2], is_new[coarse]


def _without_doubles(points: Matrix, order: Rows, n: int, double: float) -> Rows:
    """Return the first `n` rows of which no two are near-doubles; these come after all others, if need be."""
    if double <= 0 or not len(order):
        return order[:n]
    # Rows far down the order are looked at only if so many before them are doubles.
    head = order[: 4 * n]
    chosen: list[int] = []
    kept = np.empty((n, points.shape[1]), dtype=np.float32)
    is_double = np.zeros(len(order), dtype=bool)
    for place, row in enumerate(head.tolist()):
        near = len(chosen) and float(((kept[: len(chosen)] - points[row]) ** 2).sum(axis=1).min()) < double**2
        if near:
            is_double[place] = True
            continue
        kept[len(chosen)] = points[row]
        chosen.append(row)
        if len(chosen) == n:
            return np.array(chosen, dtype=np.intp)
    rest = np.concatenate([order[len(head) :], head[is_double[: len(head)]]])
    result: Rows = np.concatenate([np.array(chosen, dtype=np.intp), rest])[:n]
    return result


def check_request(n: Any, candidates: Mask) -> None:
    """Raise an error unless `n` rows can be suggested."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be an integer of at least 1, the number of rows to suggest; got {n!r}.")
    available = int(np.count_nonzero(candidates))
    if n > available:
        raise ValueError(f"n={n} rows were asked for, but only {available} rows can be labelled; ask for fewer.")


def restrict(candidates: Mask, among: Any, ids: npt.NDArray[Any] | None) -> Mask:
    """Leave only the rows listed in `among`: numbers of rows, or ids if the rows have ids.

    Examples
    --------
    >>> import numpy as np
    >>> restrict(np.array([True, True, False]), ["b", "c"], np.array(["a", "b", "c"]))
    array([False,  True, False])
    """
    if among is None:
        return candidates
    listed = np.asarray(among)
    names = np.arange(len(candidates)) if ids is None else ids
    unknown = [] if listed.dtype == bool else listed[~np.isin(listed, names)].tolist()
    if listed.ndim != 1 or listed.dtype == bool or unknown:
        what = "numbers of rows" if ids is None else "ids of rows"
        raise ValueError(f"among must list {what} of the fit; got {unknown[:5] or repr(among)[:60]}.")
    result: Mask = candidates & np.isin(names, listed)
    return result
