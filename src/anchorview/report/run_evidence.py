"""What labels that were hidden in turn say of a fit: accuracy, confusion, honesty, doubtful labels; and its views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import ClassIds, Matrix, Rows
from ..label_loop.judging import LabelLoop
from ..metrics import ReliabilityCurve, reliability_curve
from ..readers.base import HeldOutLabels
from ..view_importance import measure_unlabelled

_MOST_CLASSES = 2000  # of a confusion matrix: it grows with their square
_MEASURED_ROWS = 500  # by which a page says what views contribute: within four points, in a fraction of a second


@dataclass(frozen=True)
class Accuracy:
    """What to expect of the labels that the model gave."""

    score: float
    low: float  # nine of ten such intervals hold the true accuracy
    high: float
    n_judged: int
    n_alone: int  # labels that are the only one of their class, and could not be judged
    by_audit: bool = False  # judged on rows drawn at random; else on whatever rows have a label
    labels_chosen: bool = False  # these are known not to be random


@dataclass(frozen=True, eq=False)
class SuspectLabels:
    """Given labels that the model disputes, the worst first."""

    rows: Rows
    given: ClassIds
    preferred: ClassIds
    quality: Matrix  # probability of the label given: `label_quality_`
    n_judged: int  # given labels that were looked at

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class ViewsReport:
    """The views of a fit; what each contributes is None where that was not measured, and `note` says why."""

    names: list[str]
    sizes: list[int]
    share: Matrix | None
    changed: Matrix | None
    note: str
    weights: Matrix | None = None  # how much each view counts; None in older runs, and where nothing was measured


def expected_accuracy(model: LabelLoop, given: ClassIds) -> Accuracy | None:
    """Return the accuracy to expect of the labels that were not given, and what it rests on.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    given : ndarray of int of shape (n_rows,)
        Labels that it was given, -1 where there was none.
    """
    found = model.expected_accuracy_
    if found is None:
        return None
    sizes = np.bincount(given[given >= 0], minlength=len(model.classes_))
    n_alone, by_audit = int((sizes == 1).sum()), found.rests_on == "audit"
    return Accuracy(found.value, found.low, found.high, found.n_judged, n_alone, by_audit, found.labels_chosen)


def held_out_confusion(held_out: HeldOutLabels | None, n_classes: int) -> npt.NDArray[np.intp] | None:
    """Count hidden labels by what was given (rows) and what was found (columns); None if no such table can be held."""
    if held_out is None or not len(held_out) or n_classes > _MOST_CLASSES:
        return None
    counts = np.zeros((n_classes, n_classes), dtype=np.intp)
    np.add.at(counts, (held_out.class_ids, held_out.guessed), 1)
    return counts


def held_out_reliability(held_out: HeldOutLabels | None) -> ReliabilityCurve | None:
    """Compare how sure the model was of hidden labels with how often it was right."""
    if held_out is None or not len(held_out):
        return None
    return reliability_curve(held_out.right, np.clip(held_out.confidence, 0.0, 1.0))


def find_suspects(model: LabelLoop, given: ClassIds) -> SuspectLabels:
    """Return given labels for which models that have not seen them find another class likelier, the worst first.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    given : ndarray of int of shape (n_rows,)
        Labels that it was given, -1 where there was none.
    """
    none = np.empty(0, dtype=np.intp)
    quality: Matrix | None = getattr(model, "label_quality_", None)  # not in files of older models
    if quality is None:
        return SuspectLabels(none, none, none, np.empty(0), 0)
    judged, preferred = np.flatnonzero(~np.isnan(quality) & (given >= 0)), model._likely_class_ids
    rows = judged[preferred[judged] != given[judged]]
    rows = rows[np.argsort(quality[rows], kind="stable")]
    return SuspectLabels(rows, given[rows], preferred[rows], quality[rows], len(judged))


def describe_views(model: LabelLoop, given: ClassIds, X: Any = None) -> ViewsReport:
    """Return the views and, if the rows are here, what each contributes to rows whose label was not given."""
    names, sizes = [str(name) for name in model.view_names_], [int(size) for size in model.view_sizes_]
    if len(names) == 1:
        return ViewsReport(names, sizes, None, None, "There is a single view, so there is nothing to compare.")
    if X is None:
        return ViewsReport(names, sizes, None, None, "Contributions were not measured; give the rows (X) to see them.")
    try:
        importance = measure_unlabelled(model, X, given >= 0, max_rows=_MEASURED_ROWS)
    except ValueError as error:
        return ViewsReport(names, sizes, None, None, f"Contributions could not be measured: {error}")
    note = f"Measured on {importance.n_rows:,} rows."
    return ViewsReport(names, sizes, importance.share, importance.changed, note, importance.weights)
