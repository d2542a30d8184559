"""The labels of a run, from a column or a file of their own, and what would make them useless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.labels import is_unlabelled
from ..errors import DataError, UsageError
from ..label_studio import read_annotations
from ..settings import RunSettings
from .matrices import table_ids
from .tables import TABLES, check_readable, read_table, suffix_of, table_names

_ALL_DIFFERENT = 0.8  # classes per label above which labels are ids or free text
_ENOUGH = 10  # labels to tell that from a few classes with a label each


@dataclass(frozen=True)
class RunLabels:
    """The label of each row, None where there is none, and where they came from.

    Parameters
    ----------
    values : ndarray of object of shape (n_rows,), or None
        The labels; None without any.
    place : str
        The file and column, for errors.
    """

    values: npt.NDArray[Any] | None
    place: str

    @property
    def counts(self) -> dict[Any, int]:
        """Number of labels of each class, the largest class first."""
        if self.values is None:
            return {}
        counted = Counter(value for value in self.values.tolist() if value is not None)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], str(item[0]))))

    @property
    def is_given(self) -> npt.NDArray[np.bool_] | None:
        """Which rows have a label."""
        return None if self.values is None else np.array([value is not None for value in self.values.tolist()], bool)


def labels_of_column(cells: Sequence[Any], place: str, unlabelled: str | None) -> RunLabels:
    """Return labels as a column has them; cells that are empty, -1 or `unlabelled` are none."""
    values = np.empty(len(cells), dtype=object)
    values[:] = [_label(cell, unlabelled) for cell in cells]
    return RunLabels(values, place)


def labels_of_file(settings: RunSettings, ids: npt.NDArray[Any] | None, n_rows: int) -> RunLabels:
    """Return the labels of a file of their own, brought to the rows by their ids."""
    path = settings.labels
    assert path is not None
    if suffix_of(path) == ".npy":
        check_readable(path)
        cells = np.load(path, allow_pickle=False).ravel().tolist()
        _check_count(len(cells), n_rows, str(path))
        return labels_of_column(cells, str(path), settings.unlabelled)
    if suffix_of(path) == ".json":
        return _of_label_studio(path, ids, n_rows)
    if suffix_of(path) not in TABLES:
        raise UsageError(f"--labels {path} must be a table ({', '.join(TABLES)}), .npy, or a .json of Label Studio.")
    names = table_names(path)
    column = _label_column(settings, names)
    has_ids = settings.id is not None and settings.id in names
    wanted = [column, settings.id] if has_ids else [column]
    table = read_table(path, [name for name in wanted if name], text=[name for name in wanted if name])
    labels = labels_of_column(table.column(column).to_pylist(), f"{path}, column {column!r}", settings.unlabelled)
    assert labels.values is not None
    if settings.id is None or not has_ids or ids is None:
        if settings.id is not None and not has_ids:
            raise DataError(f"{path} has no column {settings.id!r} (--id); it has {', '.join(names[:10])}.")
        _check_count(len(labels.values), n_rows, str(path))
        return labels
    own = table_ids(table, settings.id, str(path))
    return RunLabels(_by_id(dict(zip(own.tolist(), labels.values.tolist(), strict=True)), ids, path), labels.place)


def _of_label_studio(path: Path, ids: npt.NDArray[Any] | None, n_rows: int) -> RunLabels:
    """Return the labels of an export of Label Studio, whose tasks name the rows as `anchorview export` does."""
    check_readable(path)
    try:
        found = read_annotations(path)
    except ValueError as error:
        raise DataError(str(error)) from None
    labels = {str(key): label for key, label in found.labels.items()}
    rows = np.arange(n_rows).astype(str) if ids is None else ids
    return RunLabels(_by_id(labels, rows, path), str(path))


def _by_id(labels: dict[str, Any], ids: npt.NDArray[Any], path: Path) -> npt.NDArray[Any]:
    """Bring labels to the order of the rows; those of unknown ids are an error."""
    place = {value: row for row, value in enumerate(ids.tolist())}
    strange = [value for value in labels if value not in place]
    if strange:
        shown = ", ".join(map(repr, strange[:5])) + (", …" if len(strange) > 5 else "")
        raise DataError(f"{path} has labels for {len(strange)} ids that no row has: {shown}; rows have '{ids[0]}', …")
    values = np.empty(len(ids), dtype=object)
    for value, label in labels.items():
        values[place[value]] = label
    return values


def check_labels(labels: RunLabels, clusters: int | None) -> None:
    """Refuse labels that nothing can be learned from."""
    counts = labels.counts
    n_labels = sum(counts.values())
    if not counts:
        if clusters is None:
            where = f"{labels.place} has no label in any row" if labels.place else "There are no labels"
            raise DataError(f"{where}; give some (--label COLUMN or --labels FILE), or cluster: --clusters K.")
        return
    if len(counts) == 1 and clusters is None:
        raise DataError(
            f"{labels.place}: every label is {next(iter(counts))!r}, so every row would get it; label rows of at least "
            "two classes."
        )
    if n_labels >= _ENOUGH and len(counts) >= n_labels * _ALL_DIFFERENT:
        raise DataError(
            f"{labels.place}: {len(counts)} different labels in {n_labels} labelled rows. This looks like an id or "
            "free text, not a class; name another column, or label more rows of each class."
        )
    fractions = [value for value in counts if isinstance(value, float)]
    if fractions:
        raise DataError(f"{labels.place}: {fractions[0]:g} is no class; labels are text or whole numbers.")


def _label(cell: Any, unlabelled: str | None) -> Any:
    if isinstance(cell, str):
        cell = cell.strip()
    if isinstance(cell, bool):
        cell = str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if is_unlabelled(cell) or cell == "-1" or (unlabelled is not None and str(cell) == unlabelled):
        return None
    return cell if isinstance(cell, str | int | float) else str(cell)


def _label_column(settings: RunSettings, names: list[str]) -> str:
    others = [name for name in names if name != settings.id]
    if settings.label is not None:
        if settings.label not in names:
            raise DataError(
                f"{settings.labels} has no column {settings.label!r} (--label); it has {', '.join(names[:10])}."
            )
        return settings.label
    if "label" in others:
        return "label"
    if len(others) != 1:
        raise UsageError(f"{settings.labels} has several columns ({', '.join(names[:10])}); name one: --label.")
    return others[0]


def _check_count(n_labels: int, n_rows: int, place: str) -> None:
    if n_labels != n_rows:
        raise DataError(f"{place} has {n_labels} labels but there are {n_rows} rows; give ids (--id) to match them by.")
