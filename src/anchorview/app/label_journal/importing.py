"""Annotations of Label Studio as events of a journal: who said what, how long it took, and what was skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..label_studio import ROW, choice_of, read_tasks
from .book import SECOND
from .journal import Event

IMPORTED = "import"


def events_of_label_studio(path: Path, ids: Sequence[str], known: Mapping[int, str]) -> list[Event]:
    """Return the annotations of an export as events, the earliest first; those that a journal has already included.

    Parameters
    ----------
    path : Path
        The export, as JSON.
    ids : sequence of str
        Ids of the rows.
    known : mapping of int to str
        Labels that rows have without it: an annotation without a person that says the same is left out.

    Raises
    ------
    DataError
        If the file is no such export, or names a row that is not there.
    """
    row_of = {name: row for row, name in enumerate(ids)}
    events: list[Event] = []
    try:
        for where, task in read_tasks(path):
            data = task.get("data")
            if not isinstance(data, dict):
                raise DataError(f"{where} has no data; export the project from Label Studio as JSON, not JSON-MIN.")
            answers = list(_answers(task, where))
            if not answers:
                continue
            name = str(data.get(ROW))
            if name not in row_of:
                raise DataError(f"{where} is about a row {name!r} that is not there; rows have '{ids[0]}', …")
            events += _events(row_of[name], answers, known)
    except ValueError as error:
        raise DataError(str(error)) from None
    return sorted(events, key=lambda event: event.time)


def _answers(task: Mapping[str, Any], where: str) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    """Return annotations with their labels; None for one that was skipped."""
    for annotation in task.get("annotations") or []:
        label = None if annotation.get("was_cancelled") else choice_of(annotation, None, where)
        if label is not None or annotation.get("was_cancelled"):
            yield annotation, label


def _events(row: int, answers: Sequence[tuple[Mapping[str, Any], str | None]], known: Mapping[int, str]) -> list[Event]:
    events, first = list[Event](), None
    for annotation, label in sorted(answers, key=lambda answer: _time(answer[0])):
        who = _who(annotation)
        if who is None and known.get(row) == label:
            continue
        why = IMPORTED
        if label is not None:
            first = first or who or ""
            why = IMPORTED if who == first else SECOND
        seconds = annotation.get("lead_time")
        ms = round(1000 * seconds) if isinstance(seconds, int | float) else None
        when = _time(annotation)
        key = f"label studio {row} {who} {when:.3f}"  # an export that is read again adds nothing
        kind = "skip" if label is None else "label"
        events.append(Event(kind, (row,), who or "Label Studio", label, why, ms=ms, key=key, time=when))
    return events


def _who(annotation: Mapping[str, Any]) -> str | None:
    """Return the person: some exports have an object, some a number."""
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("username") or by.get("id")
    return None if by is None else str(by)[:60]


def _time(annotation: Mapping[str, Any]) -> float:
    text = annotation.get("created_at") or annotation.get("updated_at")
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
