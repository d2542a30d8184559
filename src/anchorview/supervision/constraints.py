"""Must-link and cannot-link constraints: what a user gives, and the rows it stands for at a fit.

`Constraints` by sample id have no length, so scikit-learn hands them on as they are; `RowConstraints` have one entry
per row, so scikit-learn cuts them together with the rows. Either way they mean the same rows inside cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.checks import check_number
from .forms import as_list, as_rows, read_groups, read_matrix, read_pairs, renumber
from .pairs import PairGroups, PairList, ResolvedPairs


class Constraints:
    """Pairs of samples that belong together (must-link) or apart (cannot-link).

    Made by `from_groups`, `from_pairs` or `from_matrix`; ``a + b`` holds the constraints of both. The first and the
    last, and pairs of row numbers, are bound to the rows of one data set: they have a length, and selecting rows
    (``constraints[index]``) keeps the pairs with both ends among them, as scikit-learn's cross-validation does. Pairs
    of sample ids are matched with the ids of the rows when a model is fitted.

    Examples
    --------
    >>> from anchorview.supervision.constraints import Constraints
    >>> Constraints.from_groups(must=["ann", "ann", "", "bob"])  # the first two rows are one person
    Constraints(4 rows: 2 must-link groups)
    >>> Constraints.from_pairs(must=[("s1", "s2")], cannot=[("s1", "s7", 0.5)])  # the last with weight 0.5
    Constraints(by id: 1 must-link pair, 1 cannot-link pair)
    >>> Constraints.from_pairs(must=[(0, 2), (1, 3)], n_rows=4)[[0, 2, 3]]
    Constraints(3 rows: 1 must-link pair)
    """

    def __init__(self, must: PairList, cannot: PairList) -> None:
        self._must_ids, self._cannot_ids = must, cannot

    @staticmethod
    def from_groups(must: Any = None, cannot: Any = None, weight: float = 1.0) -> RowConstraints:
        """Make constraints from a group per row.

        Parameters
        ----------
        must : array-like of shape (n_rows,), optional
            Rows with the same value must link. −1, None, NaN and "" are no group.
        cannot : array-like of shape (n_rows,), optional
            Rows with the same value must all differ from one another.
        weight : float, default=1.0
            Weight of every pair. As with labels, a row of a must-link group also counts as a pair with itself.

        Returns
        -------
        RowConstraints

        Examples
        --------
        >>> from anchorview import Constraints
        >>> Constraints.from_groups(must=["ann", "ann", "", "bob"], cannot=[0, -1, 0, -1])
        Constraints(4 rows: 2 must-link groups, 1 cannot-link group)
        """
        if must is None and cannot is None:
            raise ValueError("No groups were given; pass must=, cannot= or both, one value per row.")
        check_number("weight", weight, 0, strict=True)
        read = [None if groups is None else read_groups(groups) for groups in (must, cannot)]
        lengths = [len(part) for part in read if part is not None]
        if lengths[0] != lengths[-1]:
            raise ValueError(f"must has {lengths[0]} values but cannot has {lengths[1]}; both need one per row.")
        return RowConstraints(
            ResolvedPairs(
                lengths[0],
                PairList.empty(np.intp),
                PairList.empty(np.intp),
                () if read[0] is None else (PairGroups(read[0], float(weight)),),
                () if read[1] is None else (PairGroups(read[1], float(weight), np.arange(lengths[0])),),
            )
        )

    @staticmethod
    def from_pairs(
        must: Any = (),
        cannot: Any = (),
        *,
        n_rows: int | None = None,
        must_weight: npt.ArrayLike | None = None,
        cannot_weight: npt.ArrayLike | None = None,
    ) -> Constraints:
        """Make constraints from pairs (a, b) or triples (a, b, weight).

        Parameters
        ----------
        must, cannot : iterable of pairs or triples, or array-like of shape (n_pairs, 2) or (n_pairs, 3)
            The pairs; (a, b) is (b, a), and a pair given twice has the sum of the weights. A must-link pair (a, a)
            moves nothing, and counts as one of the paper's pairs i=i.
        n_rows : int, optional
            If given, a and b are row numbers, from 0, of data with exactly this many rows. Without it they are
            sample ids.
        must_weight, cannot_weight : float or array-like of shape (n_pairs,), optional
            Weights of pairs given without; 1 by default.

        Returns
        -------
        Constraints
            RowConstraints with `n_rows`.

        Examples
        --------
        >>> from anchorview import Constraints
        >>> Constraints.from_pairs(must=[("s1", "s2")], cannot=[("s1", "s7", 0.5)])
        Constraints(by id: 1 must-link pair, 1 cannot-link pair)
        """
        pairs = [read_pairs(must, must_weight, "must"), read_pairs(cannot, cannot_weight, "cannot")]
        if n_rows is not None:
            check_number("n_rows", n_rows, 0, integer=True)
            pairs = [as_rows(pairs[0], n_rows, "must"), as_rows(pairs[1], n_rows, "cannot")]
        with_itself = np.flatnonzero(pairs[1].first == pairs[1].second)
        if len(with_itself):
            named = ", ".join(repr(name) for name in pairs[1].first[with_itself[:5]].tolist())
            raise ValueError(f"cannot pairs a sample with itself: {named}; leave such pairs out.")
        if n_rows is None:
            return Constraints(*pairs)
        return RowConstraints(ResolvedPairs(n_rows, pairs[0].merged(n_rows), pairs[1].merged(n_rows)))

    @staticmethod
    def from_matrix(matrix: Any) -> RowConstraints:
        """Make constraints from a matrix of weights.

        Parameters
        ----------
        matrix : sparse or dense matrix of shape (n_rows, n_rows)
            Positive where rows must link, negative where they must not, 0 elsewhere; the size is the weight.
            Symmetric, or with one triangle (above or below the diagonal) filled only: each entry is then one pair.

        Returns
        -------
        RowConstraints

        Examples
        --------
        >>> from anchorview import Constraints
        >>> Constraints.from_matrix([[0, 1, -1], [0, 0, 0], [0, 0, 0]])
        Constraints(3 rows: 1 must-link pair, 1 cannot-link pair)
        """
        return RowConstraints(read_matrix(matrix))

    def __add__(self, other: Constraints) -> Constraints:
        if not isinstance(other, Constraints):
            return NotImplemented
        ids = self._must_ids + other._must_ids, self._cannot_ids + other._cannot_ids
        rows = [part._rows for part in (self, other) if isinstance(part, RowConstraints)]
        if not rows:
            return Constraints(*ids)
        if rows[0].n_rows != rows[-1].n_rows:
            raise ValueError(
                f"Constraints for {rows[0].n_rows} rows and for {rows[-1].n_rows} rows cannot be added; both must "
                "be made for the same rows."
            )
        return RowConstraints(rows[0] if len(rows) == 1 else rows[0] + rows[1], *ids)

    def resolve(
        self, n_rows: int, ids: Sequence[Any] | None = None, known_ids: Iterable[Any] | None = None
    ) -> ResolvedPairs:
        """Return the constraints as row numbers; pairs of ids need the sample id of each row.

        `known_ids` are those of all rows the data was selected from: a pair with one that is not in `ids` is skipped,
        while an id that is not known at all is an error.
        """
        pairs = [self._must_ids, self._cannot_ids]
        if not any(len(part) for part in pairs):
            return ResolvedPairs.empty(n_rows)
        if ids is None:
            raise ValueError(
                "The constraints name samples by id but the rows have no ids; give the ids to Views, or pass n_rows= "
                "to Constraints.from_pairs if the pairs are row numbers."
            )
        position: dict[Any, int] = {}
        rows = np.array([position.setdefault(name, len(position)) for name in as_list(ids)], dtype=np.intp)
        if len(rows) != n_rows:
            raise ValueError(f"{len(rows)} ids were given for {n_rows} rows.")
        named = {name: None for part in pairs for name in [*part.first.tolist(), *part.second.tolist()]}
        known = position.keys() if known_ids is None else position.keys() | set(as_list(known_ids))
        unknown = [name for name in named if name not in known]
        if unknown:
            raise ValueError(
                f"The constraints name {len(unknown)} ids that no row has: {', '.join(map(repr, unknown[:5]))}"
                f"{', …' if len(unknown) > 5 else ''}. Ids must equal those of the rows, in type too (7 is not '7')."
            )
        must, cannot = (renumber(part, position).merged(len(position)) for part in pairs)
        # Numbers of distinct ids are row numbers unless an id repeats, as in a bootstrap sample.
        return ResolvedPairs(len(position), must, cannot).take(rows)

    def __repr__(self) -> str:
        return f"Constraints({self._describe_ids()})"

    def _describe_ids(self) -> str:
        counts = [_count(len(self._must_ids), "must-link pair"), _count(len(self._cannot_ids), "cannot-link pair")]
        return "by id: " + (", ".join(filter(None, counts)) or "none")


class RowConstraints(Constraints):
    """Constraints bound to the rows of one data set; made by the functions of `Constraints`."""

    def __init__(self, rows: ResolvedPairs, must: PairList | None = None, cannot: PairList | None = None) -> None:
        super().__init__(must or PairList.empty(object), cannot or PairList.empty(object))
        self._rows = rows

    @property
    def shape(self) -> tuple[int]:
        """Number of rows, as of a vector with one entry per row."""
        return (self._rows.n_rows,)

    def __len__(self) -> int:
        return self._rows.n_rows

    def __getitem__(self, key: Any) -> RowConstraints:
        """Select rows as from a vector; pairs with an end outside are left out."""
        key = key[0] if isinstance(key, tuple) else key  # scikit-learn asks for [index, ...]
        if not isinstance(key, slice):
            key = np.asarray(key)
            key = key.astype(np.intp) if key.size == 0 and key.dtype.kind == "f" else key
        index = np.atleast_1d(np.arange(len(self))[key])
        return RowConstraints(self._rows.take(index), self._must_ids, self._cannot_ids)

    def resolve(
        self, n_rows: int, ids: Sequence[Any] | None = None, known_ids: Iterable[Any] | None = None
    ) -> ResolvedPairs:
        """Return the constraints as row numbers; see `Constraints.resolve`."""
        if n_rows != len(self):
            raise ValueError(
                f"The constraints were made for {len(self)} rows but X has {n_rows}. Groups and row numbers are wrong "
                "once rows were selected: select the same rows of them (constraints[index]), or name the samples by "
                "id (Constraints.from_pairs without n_rows=)."
            )
        return self._rows + super().resolve(n_rows, ids, known_ids)

    def __repr__(self) -> str:
        rows = self._rows
        counts = [
            _count(len(rows.must), "must-link pair"),
            _count(len(rows.cannot), "cannot-link pair"),
            _count(sum(groups.count() for groups in rows.must_groups), "must-link group"),
            _count(sum(groups.count() for groups in rows.cannot_groups), "cannot-link group"),
        ]
        text = f"{len(self)} rows: " + (", ".join(filter(None, counts)) or "none")
        has_ids = len(self._must_ids) + len(self._cannot_ids) > 0
        return f"Constraints({text}{'; ' + self._describe_ids() if has_ids else ''})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}" if number else ""
