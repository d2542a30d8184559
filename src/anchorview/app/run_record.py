"""run.json: how a run was made and what came of it; with labels.parquet beside it, enough to write the page again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files.tables import read_table
from ..metrics import ReliabilityCurve
from ..report.rival import Comparison
from ..report.row_details import RowDetails
from ..report.row_reasons import Standing
from ..report.run_evidence import Accuracy, SuspectLabels, ViewsReport
from ..report.run_summary import RunSummary
from .errors import DataError
from .run_folder import MARK

FORMAT, VERSION = "anchorview run", 1
LABELS = "labels.parquet"

_OF_ROWS = ("class_ids", "given", "confidence", "ids", "xy")  # what labels.parquet holds
_PARTS = {"accuracy": Accuracy, "reliability": ReliabilityCurve, "suspects": SuspectLabels, "views": ViewsReport,
          "comparison": Comparison}  # fmt: skip
_LISTS = ("names", "sizes")  # fields of parts that are no arrays
_COUNTS = {"rows", "given", "preferred", "count"}  # fields of parts that are whole numbers


def write_record(
    folder: Path, summary: RunSummary, about: Mapping[str, Any], class_values: list[Any]
) -> dict[str, Any]:
    """Write run.json, and return what is in it.

    Parameters
    ----------
    folder : Path
        Where to.
    summary : RunSummary
        What there is to say about the fit.
    about : mapping
        What else there is to say about the run; it comes first.
    class_values : list
        The classes as labels.parquet has them.
    """
    kept = {item.name: getattr(summary, item.name) for item in dataclasses.fields(summary) if item.name not in _OF_ROWS}
    record = {"format": FORMAT, "version": VERSION, **about, "class_values": class_values, "report": _to_json(kept)}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / MARK).write_text(text, encoding="utf-8")
    return record


def read_record(folder: Path) -> dict[str, Any]:
    """Read run.json of a run's folder."""
    path = folder / MARK
    if not path.is_file():
        raise DataError(f"{folder} is not the folder of a run: there is no {MARK} in it.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT or record["version"] > VERSION:
            raise ValueError("it is of another program, or a newer version")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from None
    result: dict[str, Any] = record
    return result


def read_summary(folder: Path) -> RunSummary:
    """Put together what there is to say about a run from its files."""
    record = read_record(folder)
    table = read_table(folder / LABELS)
    try:
        kept = dict(record["report"])
        for name, kind in _PARTS.items():
            kept[name] = None if kept.get(name) is None else kind(**_arrays(kept[name]))
        kept["details"] = {int(row): _details(one) for row, one in kept.get("details", {}).items()}
        kept["suggested"] = np.array(kept["suggested"], dtype=np.intp)
        kept["confusion"] = None if kept["confusion"] is None else np.array(kept["confusion"], dtype=np.intp)
        place = {value: number for number, value in enumerate(record["class_values"])}
        class_ids = np.array([place.get(value, -1) for value in table.column("label").to_pylist()], dtype=np.intp)
        is_given = np.array(table.column("source").to_pylist()) == "given"
        xy = [np.asarray(table.column(axis).to_numpy(), dtype=np.float32) for axis in ("x", "y")]
        return RunSummary(
            **kept,
            class_ids=class_ids,
            given=np.where(is_given, class_ids, -1),
            confidence=np.asarray(table.column("confidence").to_numpy(), dtype=np.float64),
            ids=table.column("id").to_pylist() if record["has_ids"] else None,
            xy=np.column_stack(xy),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder}: {MARK} and {LABELS} do not go together ({error!r}); make the run again.") from None


def _to_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _to_json(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_to_json(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _details(fields: dict[str, Any]) -> RowDetails:
    """Return what there is to say about a row."""
    standing = None if fields["standing"] is None else Standing(**fields["standing"])
    cells = [(name, cell) for name, cell in fields["cells"]]
    return RowDetails(**{**fields, "cells": cells, "standing": standing})


def _arrays(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a part with lists as the arrays that they were."""
    return {
        name: np.array(value, dtype=np.intp if name in _COUNTS else np.float64)
        if isinstance(value, list) and name not in _LISTS
        else value
        for name, value in fields.items()
    }
