"""Labels from several sources made one: the later source goes before the earlier, and what disagrees is named."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.column_kinds import ColumnKind
from ...data.columns import Column
from ...files.sources import suffix_of
from ..errors import DataError, UsageError
from ..settings import ERROR, RunSettings
from .labels import RunLabels, read_export

_NAMED = 3  # conflicts that are told
_SAME_NAMES = 0.8  # share of names in common from which a column looks like labels: of its own, or of the classes
_MOSTLY_EMPTY = 0.5  # share of empty cells from which such a column is one of labels: features are filled


def columns_of_the_last_run(settings: RunSettings, names: Sequence[str]) -> tuple[RunSettings, list[str]]:
    """Return the settings with the columns of labels and ids that exports of a run name, and what to say about it.

    Tasks of `anchorview export` name the columns of the run that they came from. The column of labels then is one
    again, not a feature.

    Parameters
    ----------
    settings : RunSettings
        What was asked for.
    names : sequence of str
        Columns of the table.
    """
    notes = []
    for path in settings.labels:
        if suffix_of(path) != ".json":
            continue
        found = read_export(path)
        other = found.label_column
        if settings.label is not None and other in names and other not in (settings.label, *settings.columns):
            settings = dataclasses.replace(settings, columns={**settings.columns, str(other): "ignore"})
            notes.append(f"Column {other!r} holds the labels of the run that {path.name} came from; it is left out.")
        if settings.label is None and found.label_column in names:
            settings = dataclasses.replace(settings, label=found.label_column)
            notes.append(
                f"Column {found.label_column!r} holds the labels of the run that {path.name} came from; they are used "
                "too."
            )
        if settings.id is None and found.id_column in names:
            settings = dataclasses.replace(settings, id=found.id_column)
    return settings, notes


def merge_labels(sources: Sequence[RunLabels], ids: npt.NDArray[Any] | None, on_conflict: str) -> RunLabels:
    """Return one label for each row that has any.

    Parameters
    ----------
    sources : sequence of RunLabels
        In order: of two labels the later one is taken.
    ids : ndarray of str, or None
        Ids of the rows, for what is said.
    on_conflict : {"later", "error"}
        Whether labels that disagree are an error.
    """
    given = [source for source in sources if source.values is not None]
    if len(given) < 2:
        return given[0] if given else RunLabels(None, "")
    listed = _of_one_type([source.values.tolist() for source in given if source.values is not None])
    names = _names(given)
    values = np.empty(len(listed[0]), dtype=object)
    origin = np.full(len(values), -1)  # the first source that has said what holds in the end
    disputed: dict[int, str] = {}
    for number, labels in enumerate(listed):
        for row, label in enumerate(labels):
            if label is None or label == values[row]:
                continue
            if values[row] is not None:
                key = f"row {row}" if ids is None else repr(str(ids[row]))
                disputed[row] = f"{key}: {values[row]!r} in {names[origin[row]]}, {label!r} in {names[number]}"
            values[row], origin[row] = label, number
    conflicts = [disputed[row] for row in sorted(disputed)]
    place = " and ".join(source.place for source in given)
    if conflicts and on_conflict == ERROR:
        raise DataError(f"{_told(conflicts)}. Make them agree, or use the later label: --on-conflict later.")
    notes = [note for source in given for note in source.notes]
    if conflicts:
        notes.append(f"{_told(conflicts)}. The later label is used.")
    counted = Counter(origin.tolist())
    counts = {name: counted[number] for number, name in enumerate(names)}
    chosen = {row: why for source in given for row, why in source.chosen.items()}
    return RunLabels(values, place, place, notes, counts, conflicts, chosen)


def _told(conflicts: list[str]) -> str:
    """Return how many conflicts there are, and the first ones."""
    n_rows = len(conflicts)
    more = "; …" if n_rows > _NAMED else ""
    rows = "1 row has" if n_rows == 1 else f"{n_rows:,} rows have"
    return f"{rows} different labels in different places: {'; '.join(conflicts[:_NAMED])}{more}"


def _of_one_type(listed: list[list[Any]]) -> list[list[Any]]:
    """Return all labels as text if some are: a 3 in a Parquet file and a "3" of Label Studio are one class."""
    kinds = {type(label) for labels in listed for label in labels if label is not None}
    if len(kinds) < 2:
        return listed
    return [[None if label is None else str(label) for label in labels] for labels in listed]


def _names(given: Sequence[RunLabels]) -> list[str]:
    """Return the names of sources; in full where two files are called the same."""
    short = [source.name for source in given]
    return [name if short.count(name) == 1 else source.place for name, source in zip(short, given, strict=True)]


def refuse_labels_as_features(
    columns: Mapping[str, ColumnKind],
    cells: Mapping[str, Column],
    classes: Sequence[Any],
    settings: RunSettings,
    path: Path,
) -> list[str]:
    """Refuse a column that is empty in most rows and holds names of classes elsewhere; return notes on filled ones.

    Such a column is one of labels that was not named: as a feature it tells the answer where it is filled, and nothing
    where it is not, so that the model learns to look at nothing else.

    Parameters
    ----------
    columns : mapping of str to ColumnKind
        What the columns were taken for.
    cells : mapping of str to Column
        Those that are used.
    classes : sequence
        Names of the classes.
    settings : RunSettings
        Columns whose kind was said are left alone.
    path : Path
        The table, for errors.
    """
    notes = []
    known = {str(name) for name in classes}
    for name, found in columns.items():
        if found.kind not in ("category", "boolean") or name in settings.columns:
            continue
        texts = cells[name].texts()
        filled = [text for text in texts if text is not None]
        values = set(filled)
        shared = len(values & known)  # the file may hold few of the classes that the column has
        if shared < 2 or shared < _SAME_NAMES * min(len(values), len(known)):
            continue
        if len(filled) <= (1 - _MOSTLY_EMPTY) * len(texts):
            raise UsageError(
                f"{path}: column {name!r} holds names of the classes in {len(filled):,} of {len(texts):,} rows, so it "
                f"looks like labels. Use them too: --label {name}; leave the column out: --column {name}=ignore; or "
                f"use it as a feature all the same: --column {name}=category."
            )
        notes.append(
            f"Column {name!r} holds the same names as the labels. If it tells the answer, leave it out: --column "
            f"{name}=ignore."
        )
    return notes
