"""The labels of a run, from a column or a file of their own."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.labels import is_unlabelled
from ...files.sources import PHOTO, TABLES, check_readable, suffix_of
from ...files.tables import read_table, table_names
from ...readers.label_sources import SKIPPED
from ..errors import DataError, UsageError
from ..label_journal.book import LabelBook
from ..label_journal.journal import ids_key, read_journal
from ..label_studio import Annotations, read_annotations
from ..settings import NO_ID, RunSettings
from .matrices import table_ids

_OF_A_RUN = ("label", "confidence", "source")  # columns of the labels.csv of a run


@dataclass(frozen=True)
class RunLabels:
    """The label of each row, None where there is none, and where they came from.

    Parameters
    ----------
    values : ndarray of object of shape (n_rows,), or None
        The labels; None without any.
    place : str
        The file and column, for errors.
    name : str
        The same in short, for the summary.
    notes : list of str
        What the user should know about them.
    sources : dict of str to int
        Of labels that were merged, how many came from where.
    conflicts : list of str
        Rows for which sources disagreed, in words.
    chosen : dict of int to str
        Of labels from the labelling page, why people were asked for the row ("random", "suggested" …, or "skipped").
    """

    values: npt.NDArray[Any] | None
    place: str
    name: str = ""
    notes: list[str] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    chosen: dict[int, str] = field(default_factory=dict)

    @property
    def label_source(self) -> npt.NDArray[Any] | None:
        """Where the label of each row comes from, as `fit` takes it; None if nothing is known."""
        if self.values is None or not self.chosen:
            return None
        sources = np.full(len(self.values), "", dtype=object)
        for row, why in self.chosen.items():
            if (self.values[row] is None) == (why == SKIPPED):
                sources[row] = why
        return sources

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


@dataclass(frozen=True)
class RowNames:
    """What rows are called, so that labels can be brought to them.

    Parameters
    ----------
    ids : ndarray of str, or None
        Ids of the rows; without any they are numbered.
    n_rows : int
        Number of rows.
    in_file : ndarray of str, or None
        Ids of the lines of files that have none; None if they are in the order of the rows.
    is_said : bool
        Whether somebody has said so.
    """

    ids: npt.NDArray[Any] | None
    n_rows: int
    in_file: npt.NDArray[Any] | None = None
    is_said: bool = True


def labels_of_column(cells: Sequence[Any], place: str, name: str, unlabelled: str | None) -> RunLabels:
    """Return labels as a column has them; cells that are empty, -1 or `unlabelled` are none."""
    values = np.empty(len(cells), dtype=object)
    values[:] = [_label(cell, unlabelled) for cell in cells]
    return RunLabels(values, place, name)


def labels_of_file(path: Path, settings: RunSettings, rows: RowNames, in_table: bool) -> RunLabels:
    """Return the labels of a file of their own, brought to the rows by their ids.

    Parameters
    ----------
    path : Path
        The file.
    settings : RunSettings
        Names of the columns of ids and labels, and what means "no label".
    rows : RowNames
        The rows.
    in_table : bool
        Whether the column of labels is one of the table; a file may then call its own otherwise.
    """
    if suffix_of(path) == ".npy":
        check_readable(path)
        try:
            cells = np.load(path, allow_pickle=False).ravel().tolist()
        except (ValueError, OSError, EOFError) as error:
            raise DataError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
        return _by_position(labels_of_column(cells, str(path), path.name, settings.unlabelled), rows)
    if suffix_of(path) == ".json":
        return _of_label_studio(path, rows, settings.unlabelled)
    if path.name.endswith(".jsonl"):
        return _of_journal(path, rows)
    if suffix_of(path) not in TABLES:
        raise UsageError(
            f"--labels {path} must be a table ({', '.join(TABLES)}), .npy, a .json of Label Studio, or a .labels.jsonl "
            "of the labelling page."
        )
    names = table_names(path)
    if settings.id == PHOTO and PHOTO not in names and rows.ids is not None:
        settings = dataclasses.replace(settings, id=_column_of_photos(path, names, rows.ids))
    column = _label_column(path, settings, names, in_table)
    id_column = settings.id if settings.id in names else None
    wanted = [name for name in names if name in (column, id_column, *_OF_A_RUN)]
    if id_column is None and rows.ids is not None:
        wanted = names
    table = read_table(path, wanted, text=wanted)
    notes = _guesses(path, table)
    if id_column is None and rows.ids is not None:
        id_column = _find_ids(table, [name for name in names if name != column], rows.ids)
        if id_column is not None:
            notes.append(f"Labels of {path.name} are brought to the rows by its column {id_column!r}, which holds ids.")
    place = f"{path}, column {column!r}"
    labels = labels_of_column(table.column(column).to_pylist(), place, path.name, settings.unlabelled)
    labels = dataclasses.replace(labels, notes=notes)
    assert labels.values is not None
    if id_column is None or rows.ids is None:
        if (
            settings.id is not None
            and settings.id != NO_ID
            and rows.ids is not None
            and len(labels.values) != rows.n_rows
        ):
            raise DataError(f"{path} has no column {settings.id!r} (--id); it has {', '.join(names[:10])}.")
        return _by_position(labels, rows)
    own = table_ids(table, id_column, str(path))
    by_id = dict(zip(own.tolist(), labels.values.tolist(), strict=True))
    return RunLabels(_by_id(by_id, rows.ids, path), place, path.name, notes)


def _find_ids(table: Any, names: Sequence[str], ids: npt.NDArray[Any]) -> str | None:
    """Return the first column whose cells all differ and mostly are ids of the rows, whatever it is called."""
    known = set(ids.tolist())
    for name in names:
        cells = table.column(name).to_pylist()
        if len(set(cells)) == len(cells) < 2 * len(known.intersection(cells)):  # others may be spelled wrongly
            return name
    return None


def _guesses(path: Path, table: Any) -> list[str]:
    """Return a note if these are the labels.csv of a run, with what its model gave."""
    if not set(_OF_A_RUN) <= set(table.column_names):
        return []
    count = table.column("source").to_pylist().count("model")
    if not count:
        return []
    return [
        f"{path.name} holds labels of a run, {count:,} of them given by its model (column 'source'). They count as "
        "given labels now; leave these lines out unless a person has checked them."
    ]


def _column_of_photos(path: Path, names: list[str], ids: npt.NDArray[Any]) -> str:
    """Return the first column that names photos of the folder, whatever it is called."""
    known = set(ids.tolist())
    table = read_table(path, names, text=names)
    for name in names:
        if any(cell in known for cell in table.column(name).to_pylist()):
            return name
    raise DataError(f"{path} names no photo of the folder; its paths must be relative to it, such as '{ids[0]}'.")


def _by_position(labels: RunLabels, rows: RowNames) -> RunLabels:
    """Bring labels of a file without ids to the rows."""
    assert labels.values is not None
    if not rows.is_said:
        raise UsageError(
            f"{labels.place} has no ids, and the rows have: whose order do its labels have? Say --assume-order if it "
            "is that of the first file with ids, or name a file that has it: --order FILE."
        )
    lines = rows.n_rows if rows.in_file is None else len(rows.in_file)
    if len(labels.values) != lines:
        raise DataError(
            f"{labels.place} has {len(labels.values)} labels but there are {lines} rows; give ids (--id) to match "
            "them by."
        )
    if rows.in_file is None or rows.ids is None:
        return labels
    named = dict(zip(rows.in_file.tolist(), labels.values.tolist(), strict=True))
    return RunLabels(_by_id(named, rows.ids, Path(labels.name)), labels.place, labels.name)


def _of_label_studio(path: Path, rows: RowNames, unlabelled: str | None) -> RunLabels:
    """Return the labels of an export of Label Studio, whose tasks name the rows as `anchorview export` does."""
    found = read_export(path)
    labels = {str(key): _label(label, unlabelled) for key, label in found.labels.items()}
    ids = np.arange(rows.n_rows).astype(str) if rows.ids is None else rows.ids
    notes = []
    if found.n_skipped:
        notes.append(f"{path.name}: {found.n_skipped:,} of {found.n_tasks:,} tasks have no label yet, or were skipped.")
    if found.disagreeing:
        shown = ", ".join(repr(str(key)) for key in found.disagreeing[:3])
        notes.append(
            f"{path.name}: people disagree about {len(found.disagreeing):,} rows ({shown}"
            f"{', …' if len(found.disagreeing) > 3 else ''}); the ground truth is taken, or else the latest label."
        )
    return RunLabels(_by_id(labels, ids, path), str(path), path.name, notes)


def _of_journal(path: Path, rows: RowNames) -> RunLabels:
    """Return the labels that people gave on the labelling page of a run on the same rows."""
    check_readable(path)
    header, events = read_journal(path)
    ids = np.arange(rows.n_rows).astype(str) if rows.ids is None else rows.ids
    if header.ids != ids_key([str(name) for name in ids.tolist()]):
        raise DataError(f"{path} holds labels of other rows than these: ids or their order differ.")
    book = LabelBook.replay(events)
    values = np.empty(rows.n_rows, dtype=object)
    for row, label in book.labels.items():
        values[row] = label
    agreement, notes = book.agreement(), []
    if agreement.disputed:
        notes.append(f"{path.name}: people disagree about {len(agreement.disputed):,} rows; the first label is taken.")
    return RunLabels(values, str(path), path.name, notes, chosen=book.sources())


def read_export(path: Path) -> Annotations:
    """Read an export of Label Studio; what is wrong with it is an error of the data."""
    check_readable(path)
    try:
        return read_annotations(path)
    except ValueError as error:
        raise DataError(str(error)) from None


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


def _label_column(path: Path, settings: RunSettings, names: list[str], in_table: bool) -> str:
    others = [name for name in names if name != settings.id]
    if settings.label in names:
        return str(settings.label)
    if settings.label is not None and not in_table:
        raise DataError(f"{path} has no column {settings.label!r} (--label); it has {', '.join(names[:10])}.")
    if "label" in others:
        return "label"
    if len(others) != 1:
        raise UsageError(
            f"{path} has several columns ({', '.join(names[:10])}); name the one with the labels (--label), or call it "
            "'label'."
        )
    return others[0]
