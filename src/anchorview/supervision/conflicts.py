"""Constraints that contradict one another, and constraints that a clustering violates; no pair of a group is listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..core.arrays import Mask, Rows
from ..solver.laplacian import group_matrix
from .pairs import PairGroups, ResolvedPairs


class Contradiction(Enum):
    """How two rows contradict; the value completes the sentence "rows a and b …"."""

    BOTH = "must link and must not link"
    CHAIN = "must not link, but a chain of must-links or equal labels joins them"
    LABELS = "have different labels, but must-links join them"


@dataclass(frozen=True)
class Conflict:
    """Two rows, the smaller number first, and how they contradict."""

    first: int
    second: int
    kind: Contradiction


@dataclass(frozen=True)
class ConstraintViolations:
    """How many pairs a clustering violates: (violated, stated), for must-link and for cannot-link.

    Pairs i<j are counted, whatever their weight; one that is stated as a pair and by a group counts twice.
    """

    must: tuple[int, int]
    cannot: tuple[int, int]


def find_conflicts(class_ids: Rows, resolved: ResolvedPairs, n_rows: int) -> list[Conflict]:
    """Return the contradictions between pairs, groups and labels.

    Each contradictory cannot-link pair is returned. Of a cannot-link group whose rows are joined by must-links, and of
    rows with different labels that are joined, one pair per row or label too many is returned, not all of them.

    Examples
    --------
    >>> from anchorview.supervision.constraints import Constraints
    >>> pairs = Constraints.from_pairs(must=[(0, 1), (1, 2)], cannot=[(0, 2)], n_rows=3).resolve(3)
    >>> found = find_conflicts(np.full(3, -1), pairs, 3)
    >>> print(conflict_message(found, ids=["s1", "s2", "s3"]))
    1 constraint contradicts others: 's1' and 's3' must not link, but a chain of must-links or equal labels joins them.
    """
    must = resolved.must
    links = sparse.coo_array((must.weight, (must.first, must.second)), shape=(n_rows, n_rows))
    groups = [group_matrix(part.numbers, part.n_groups, np.ones(n_rows)) for part in resolved.must_groups]
    labels = group_matrix(class_ids, int(class_ids.max(initial=-1)) + 1, np.ones(n_rows))
    linked = _components(links, groups, n_rows)
    joined = _components(links, [*groups, labels], n_rows)
    mixed = _one_too_many(linked, class_ids, np.flatnonzero(class_ids >= 0))
    conflicts = [Conflict(a, b, Contradiction.LABELS) for a, b in mixed.tolist()]
    apart = np.column_stack([resolved.cannot.first, resolved.cannot.second])
    apart = apart[joined[apart[:, 0]] == joined[apart[:, 1]]]
    for part in resolved.cannot_groups:
        assert part.members is not None
        blocks = part.numbers * n_rows + joined  # rows of one group that are joined
        apart = np.vstack([apart, _one_too_many(blocks, part.members, np.flatnonzero(part.numbers >= 0))])
    apart = np.unique(apart, axis=0)
    for (a, b), is_stated in zip(apart.tolist(), _is_stated(apart[:, 0], apart[:, 1], resolved), strict=True):
        conflicts.append(Conflict(a, b, Contradiction.BOTH if is_stated else Contradiction.CHAIN))
    return conflicts


def conflict_message(conflicts: Sequence[Conflict], ids: Sequence[Any] | None = None) -> str:
    """Return a sentence that names the first five contradictions, by id if the rows have ids."""

    def name(conflict: Conflict) -> str:
        if ids is None:
            return f"rows {conflict.first} and {conflict.second}"
        named = ids[conflict.first], ids[conflict.second]
        return " and ".join(repr(value.item() if isinstance(value, np.generic) else value) for value in named)

    shown = "; ".join(f"{name(conflict)} {conflict.kind.value}" for conflict in conflicts[:5])
    more = f"; and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
    count = "1 constraint contradicts" if len(conflicts) == 1 else f"{len(conflicts)} constraints contradict"
    return f"{count} others: {shown}{more}."


def count_violations(labels: npt.ArrayLike, resolved: ResolvedPairs) -> ConstraintViolations:
    """Count the pairs that a clustering, the cluster or class of each row, violates.

    Examples
    --------
    >>> from anchorview.supervision.constraints import Constraints
    >>> constraints = Constraints.from_groups(must=["a", "a", "a", ""], cannot=[-1, -1, 0, 0])
    >>> count_violations([0, 0, 1, 1], constraints.resolve(4))
    ConstraintViolations(must=(2, 3), cannot=(1, 1))
    """
    clusters = np.unique(np.asarray(labels), return_inverse=True)[1]
    if len(clusters) != resolved.n_rows:
        raise ValueError(f"{len(clusters)} labels were given for constraints on {resolved.n_rows} rows.")
    listed = resolved.must.first < resolved.must.second
    is_split = clusters[resolved.must.first] != clusters[resolved.must.second]
    must_total, must_split = int(listed.sum()), int(is_split.sum())
    for groups in resolved.must_groups:
        stated, together = _pairs_of(groups, clusters)
        must_total, must_split = must_total + stated, must_split + stated - together
    cannot_total = len(resolved.cannot)
    cannot_joined = int((clusters[resolved.cannot.first] == clusters[resolved.cannot.second]).sum())
    for groups in resolved.cannot_groups:
        stated, together = _pairs_of(groups, clusters)
        cannot_total, cannot_joined = cannot_total + stated, cannot_joined + together
    return ConstraintViolations(must=(must_split, must_total), cannot=(cannot_joined, cannot_total))


def _components(links: sparse.coo_array, memberships: list[sparse.csr_array], n_rows: int) -> Rows:
    """Return the connected component of each row; a group is a node that all its rows are linked with."""
    groups = sparse.vstack([sparse.csr_array((0, n_rows)), *memberships])
    graph: Any = sparse.block_array([[links, groups.T], [groups, None]], format="csr")
    result: Rows = connected_components(graph, directed=False)[1][:n_rows].astype(np.intp)
    return result


def _one_too_many(blocks: Rows, members: Rows, rows: Rows) -> Rows:
    """Pair, in each block with rows of several members, a row of the first member with one of each other member."""
    rows = rows[np.lexsort((rows, members[rows], blocks[rows]))]
    starts_block = np.diff(blocks[rows], prepend=-1) != 0
    starts_member = np.diff(members[rows], prepend=-1) != 0
    leaders = rows[starts_block][np.cumsum(starts_block) - 1]
    others = starts_member & ~starts_block
    return np.sort(np.column_stack([leaders[others], rows[others]]), axis=1)


def _is_stated(first: Rows, second: Rows, resolved: ResolvedPairs) -> Mask:
    """Tell which pairs are must-link pairs, or of one must-link group, as they stand."""
    result = np.isin(first * resolved.n_rows + second, resolved.must.first * resolved.n_rows + resolved.must.second)
    for groups in resolved.must_groups:
        result |= (groups.numbers[first] >= 0) & (groups.numbers[first] == groups.numbers[second])
    return result


def _pairs_of(groups: PairGroups, clusters: Rows) -> tuple[int, int]:
    """Return the number of pairs i<j that groups state, and of those in one cluster."""
    rows = np.flatnonzero(groups.numbers >= 0)
    numbers, clusters = groups.numbers[rows], clusters[rows]
    stated, together = _count_pairs(numbers), _count_pairs(numbers, clusters)
    if groups.members is not None:
        members = groups.members[rows]
        stated, together = stated - _count_pairs(members), together - _count_pairs(members, clusters)
    return stated, together


def _count_pairs(*keys: Rows) -> int:
    """Return the number of pairs of rows that agree in all keys."""
    counts = np.unique(np.column_stack(keys), axis=0, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())
