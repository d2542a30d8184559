"""What a fit is given: views, labels, pairs and weights, read and checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import ClassIds, Mask, Matrix, Presence, Rows, Weights
from ..data.labels import check_weights, encode_labels, number_by_appearance
from ..data.view_errors import check_no_empty_view
from ..data.views import Views
from .conflicts import Conflict, conflict_message, find_conflicts
from .constraints import Constraints
from .known import Supervision
from .pairs import ResolvedPairs


@dataclass(frozen=True)
class FitInput:
    """What a fit is given, read and checked once."""

    views: Views
    present: Presence  # which rows have which view; None if all have all
    empty: Mask | None  # rows without any view; None if there are none
    weights: Weights  # of each row in sums over rows: what the user gave, times the share of views that the row has
    sample_weight: Weights  # what the user gave
    known: Supervision  # labels and pairs
    n_counted: int  # rows of positive weight

    def take(self, rows: Rows) -> FitInput:
        """Return what is given of some rows (ascending), all labelled ones among them."""

        def some(array: Any) -> Any:
            return None if array is None else array[rows]

        weights = some(self.weights)
        n_counted = len(rows) if weights is None else int(np.count_nonzero(weights))
        about_rows = some(self.present), some(self.empty), weights, some(self.sample_weight)
        return FitInput(self.views[rows], *about_rows, self.known.take(rows), n_counted)

    def hide(self, rows: Rows) -> FitInput:
        """Return the same without the labels of some rows; classes that lose their last label are gone.

        So are the pairs of these rows, which could tell the labels.
        """
        class_ids, hides = self.known.class_ids.copy(), np.zeros(len(self.known.class_ids), dtype=bool)
        class_ids[rows], hides[rows] = -1, True
        pairs = None if self.known.pairs is None else self.known.pairs.without(hides)
        counted = None if self.sample_weight is None else self.sample_weight > 0
        kept = np.unique(class_ids[class_ids >= 0])
        numbers = np.full(len(self.known.classes) + 1, -1, dtype=np.intp)
        numbers[kept] = np.arange(len(kept))
        classes, class_ids = number_by_appearance(self.known.classes[kept], numbers[class_ids], counted)
        return replace(self, known=replace(self.known, classes=classes, class_ids=class_ids, pairs=pairs))


def read_known(
    views: Views, present: Presence, empty: Mask | None, y: Any, sample_weight: Any, constraints: Any, unlabelled: Any
) -> FitInput:
    """Read and check labels, weights and pairs of rows, and warn of pairs that contradict each other.

    What is known about `empty` rows, without any view, cannot be used. `unlabelled` is one more value of `y` that means
    "no label". Ids of the views name the ends of id pairs.
    """
    weights = given_weights = check_weights(sample_weight, len(views), views.ids)
    classes, class_ids = encode_labels(y, len(views), unlabelled=unlabelled, ids=views.ids)
    if empty is not None and empty.any():
        classes, class_ids = _forget(classes, class_ids, empty)
    classes, class_ids = number_by_appearance(classes, class_ids, None if weights is None else weights > 0)
    found = (None, []) if constraints is None else _read_pairs(constraints, views, empty, class_ids)
    known = Supervision(classes, class_ids, *found)
    if present is not None:
        check_no_empty_view(present, views.names, weights)
        weights = _weigh_by_views(weights, present)
    n_counted = len(views) if weights is None else int(np.count_nonzero(weights))
    return FitInput(views, present, empty, weights, given_weights, known, n_counted)


def _read_pairs(
    constraints: Any, views: Views, empty: Mask | None, class_ids: ClassIds
) -> tuple[ResolvedPairs, list[Conflict]]:
    """Return pairs by row number, and those that contradict each other or the labels."""
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be a Constraints object; got {type(constraints).__name__}. "
            "Build one with Constraints.from_pairs, from_groups or from_matrix."
        )
    ids: Any = views.ids
    pairs = constraints.resolve(len(views), ids, views.known_ids)
    if empty is not None and empty.any():
        pairs = pairs.without(empty)
    conflicts = find_conflicts(class_ids, pairs, len(views))
    if conflicts:
        warnings.warn(conflict_message(conflicts, ids), UserWarning, stacklevel=5)
    return pairs, conflicts


def _forget(classes: npt.NDArray[Any], class_ids: Rows, empty: Mask) -> tuple[npt.NDArray[Any], Rows]:
    """Drop the labels of empty rows, and classes that no other row has."""
    known = (class_ids >= 0) & ~empty
    kept, numbers = np.unique(class_ids[known], return_inverse=True)
    result = np.full(len(class_ids), -1, dtype=np.intp)
    result[known] = numbers
    return classes[kept], result


def _weigh_by_views(weights: Weights, present: Mask) -> Matrix:
    """Combine the weights given with how much of each row is there.

    A row's data term is V/|p| times that of its |p| present views (docs/method.md, "Missing views"); a weight of |p|/V
    makes it count for what it has. Without it, rows with one view of six would count as much as the others.
    """
    share: Matrix = present.mean(axis=1, dtype=np.float64)
    return share if weights is None else weights * share
