"""What the user told about the rows, checked and put together: labels, pairs, weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .constraint_checks import Conflict, conflict_message, find_conflicts
from .constraints import Constraints
from .row_pairs import ResolvedPairs
from .supervision import Laplacian, supervision_laplacians
from .validation import encode_labels
from .views import Views


@dataclass(frozen=True)
class Supervision:
    """Labels and pairs of a fit.

    Parameters
    ----------
    classes : ndarray
        The labelled classes, sorted.
    codes : ndarray of shape (n_rows,)
        Class number of each row, −1 for rows without a label.
    pairs : ResolvedPairs or None
        Constraints by row number.
    conflicts : list of Conflict
        Constraints that contradict each other or the labels.
    """

    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.intp]
    pairs: ResolvedPairs | None
    conflicts: list[Conflict]

    @property
    def labelled(self) -> npt.NDArray[np.intp]:
        """Numbers of the labelled rows, ascending."""
        return np.flatnonzero(self.codes >= 0)

    @property
    def n_classes(self) -> int:
        """Number of labelled classes."""
        return len(self.classes)

    def laplacians(
        self, weights: npt.NDArray[np.float64] | None, class_balance: str | None
    ) -> tuple[npt.NDArray[np.intp], Laplacian | None, Laplacian | None]:
        """Return the rows with supervision, and their must-link and cannot-link Laplacians."""
        return supervision_laplacians(self.codes, self.n_classes, self.pairs, weights, class_balance)


def read_supervision(y: Any, constraints: Any, views: Views, empty: npt.NDArray[np.bool_] | None = None) -> Supervision:
    """Check labels and constraints, and warn of constraints that contradict each other.

    Parameters
    ----------
    y : array-like of shape (n_rows,), or None
        Labels.
    constraints : Constraints or None
        Pairs.
    views : Views
        The rows; their ids name the ends of id pairs.
    empty : ndarray of bool of shape (n_rows,), optional
        Rows without any view: what is said about them cannot be used.
    """
    classes, codes = encode_labels(y, len(views))
    if empty is not None and empty.any():
        classes, codes = _forget(classes, codes, empty)
    if constraints is None:
        return Supervision(classes, codes, None, [])
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be a Constraints object; got {type(constraints).__name__}. "
            "Build one with Constraints.from_pairs, from_groups or from_matrix."
        )
    ids: Any = views.ids
    pairs = constraints.resolve(len(views), ids, views.known_ids)
    if empty is not None and empty.any():
        pairs = _without(pairs, empty)
    conflicts = find_conflicts(codes, pairs, len(views))
    if conflicts:
        warnings.warn(conflict_message(conflicts, ids), UserWarning, stacklevel=4)
    return Supervision(classes, codes, pairs, conflicts)


def _forget(
    classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], empty: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Drop the labels of empty rows, and classes that no other row has."""
    known = (codes >= 0) & ~empty
    kept, numbers = np.unique(codes[known], return_inverse=True)
    result = np.full(len(codes), -1, dtype=np.intp)
    result[known] = numbers
    return classes[kept], result


def _without(pairs: ResolvedPairs, empty: npt.NDArray[np.bool_]) -> ResolvedPairs:
    """Drop pairs with an empty row, keeping the numbers of the rows."""
    from dataclasses import replace

    def keep(listed: Any) -> Any:
        good = ~(empty[listed.first] | empty[listed.second])
        return type(listed)(listed.first[good], listed.second[good], listed.weight[good])

    def ungroup(groups: Any) -> Any:
        return replace(groups, numbers=np.where(empty, -1, groups.numbers))

    return replace(
        pairs,
        must=keep(pairs.must),
        cannot=keep(pairs.cannot),
        must_groups=tuple(ungroup(groups) for groups in pairs.must_groups),
        cannot_groups=tuple(ungroup(groups) for groups in pairs.cannot_groups),
    )


def check_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Return the weights of the rows, None if all are one."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; got an array of shape {weights.shape}.")
    if len(weights) != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight per row.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative; row {bad[0]} has {weights[bad[0]]}"
            f"{f' ({len(bad)} such rows)' if len(bad) > 1 else ''}."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least some rows must count.")
    return None if np.all(weights == 1) else weights


def row_weights(
    weights: npt.NDArray[np.float64] | None, present: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.float64] | None:
    """Combine the weights given with how much of each row is there.

    A row's data term is V/|p| times that of its |p| present views (design 2.7); a weight of |p|/V makes it count for
    what it has. Measured (benchmarks/missing.py): without it, rows with one view of six count as much as the others,
    and half the views missing cost two points more.
    """
    if present is None:
        return weights
    share: npt.NDArray[np.float64] = present.mean(axis=1, dtype=np.float64)
    return share if weights is None else weights * share
