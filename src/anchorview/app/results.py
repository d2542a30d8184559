"""What a run has found, as a table of labels: one line for each row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import ClassIds, Mask, Matrix
from ..files.csv_cells import mark_table

COLUMNS = ("id", "label", "confidence", "second_label", "second_confidence", "source", "x", "y")


def fitted_labels(model: Any, ids: npt.NDArray[Any] | None, given: npt.NDArray[Any] | None, xy: Matrix) -> Any:
    """Return the rows of a fit with their labels.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    ids : ndarray, optional
        Ids of the rows; by default their numbers.
    given : ndarray of object of shape (n_rows,), optional
        The labels that were given, None where there was none.
    xy : ndarray of shape (n_rows, 2)
        Their places on the map, NaN where there is none.

    Returns
    -------
    pyarrow.Table
        With the columns ``id``, ``label``, ``confidence``, ``second_label``, ``second_confidence``, ``source``
        ("given" or "model"), ``x`` and ``y``.
    """
    seconds, values = _second_labels(model)
    n_rows = len(model.labels_)
    is_given = np.array([False] * n_rows if given is None else [label is not None for label in given], dtype=bool)
    labels, confidence = model.labels_.copy(), np.asarray(model.confidence_).copy()
    without = (confidence == 0) & is_given  # of rows without any view the model knows nothing: not even what was given
    if given is not None and without.any():
        labels[without], confidence[without] = given[without], 1.0
    has_none = confidence == 0
    columns = _label_columns(labels, confidence, model.classes_, seconds, values, has_none, is_given)
    columns["source"] = np.where(is_given, "given", "model")
    columns |= {"x": _with_nulls(xy[:, 0]), "y": _with_nulls(xy[:, 1])}
    return _table(np.arange(n_rows) if ids is None else ids, columns)


def _second_labels(model: Any) -> tuple[ClassIds, Matrix]:
    """Return the likeliest class of each row other than its label, and a probability, not above that of the label."""
    seconds, values = model._runner_up
    return seconds, np.minimum(values, model.confidence_)


def predicted_labels(
    model: Any, probabilities: Matrix, ids: npt.NDArray[Any], has_none: Mask, min_confidence: float = 0.0
) -> Any:
    """Return new rows with their labels: the columns of `fitted_labels` up to ``second_confidence``.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        The model.
    probabilities : ndarray of shape (n_rows, n_classes)
        What it says of the rows.
    ids : ndarray
        Their ids.
    has_none : ndarray of bool of shape (n_rows,)
        Rows without any view, which get no label.
    min_confidence : float
        Rows of which the model is less sure get no label either; their confidence tells.
    """
    found = model._model.top_two(probabilities)
    labels, confidence = model.classes_[found.class_ids], np.where(has_none, 0.0, found.confidence)
    seconds, unsure = (found.seconds, found.second_confidence), has_none | (confidence < min_confidence)
    return _table(ids, _label_columns(labels, confidence, model.classes_, *seconds, unsure, has_none))


def _label_columns(
    labels: Any, confidence: Any, classes: Any, seconds: Any, values: Any, has_none: Mask, without_second: Mask
) -> dict[str, Any]:
    import pyarrow as pa

    no_second = without_second | has_none | (seconds < 0)
    return {
        "label": pa.array(labels, mask=has_none),
        "confidence": np.asarray(confidence, dtype=np.float32),
        "second_label": pa.array(classes[np.maximum(seconds, 0)], mask=no_second),
        "second_confidence": pa.array(np.asarray(values, dtype=np.float32), mask=no_second),
    }


def _with_nulls(values: Matrix) -> Any:
    import pyarrow as pa

    return pa.array(values.astype(np.float32), mask=np.isnan(values))


def _table(ids: npt.NDArray[Any], columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    columns = {"id": ids, **columns}
    return pa.table({name: columns[name] for name in COLUMNS if name in columns})


def write_label_table(table: Any, folder: Path) -> None:
    """Write the table as labels.parquet and labels.csv."""
    import pyarrow.parquet
    from pyarrow import csv

    pyarrow.parquet.write_table(table, folder / "labels.parquet")
    csv.write_csv(mark_table(table), folder / "labels.csv")
