"""What people take away from a session, at any time: labels, tasks of Label Studio, the model, a report."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...files.csv_cells import mark_text
from ..label_studio import CONTROL, MODEL, ROW, SHOWN
from .answers import BadRequest
from .session import Session

_COLUMNS = ("id", "label", "confidence", "source", "who", "why")


@dataclass(frozen=True)
class Form:
    """A file that people can take away.

    Parameters
    ----------
    name, about : str
        What it is called, and what it is for.
    file, kind : str
        Its name, and its type on the web.
    """

    name: str
    about: str
    file: str
    kind: str


FORMS = {
    "csv": Form("CSV", "all rows with their labels, for any program", "labels.csv", "text/csv"),
    "parquet": Form("Parquet", "the same, with types", "labels.parquet", "application/octet-stream"),
    "label-studio": Form("Label Studio", "tasks with annotators and times", "labels.json", "application/json"),
    "model": Form(
        "Model", "for anchorview predict and anchorview serve", "model.anchorview", "application/octet-stream"
    ),
    "report": Form("Report", "accuracy, map and rows as one web page", "report.html", "text/html"),
}


def export_file(session: Session, form: str) -> bytes:
    """Return a file of the session: all rows with the labels that people gave and those of the model, or the model."""
    if form in ("model", "report"):
        try:
            return session.model.save(form)
        except (RuntimeError, ValueError) as error:
            raise BadRequest(str(error)) from None
    with session._lock:
        rows = _rows(session)
        if form == "label-studio":
            return json.dumps(_tasks(session), ensure_ascii=True).encode()
    if form == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        stream = pa.BufferOutputStream()
        columns = {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}
        parquet.write_table(pa.table(columns), stream)
        data: bytes = stream.getvalue().to_pybytes()
        return data
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows([["" if cell is None else mark_text(cell) for cell in row] for row in rows])
    return text.getvalue().encode("utf-8", "surrogatepass")


def _rows(session: Session) -> list[tuple[Any, ...]]:
    book, state = session.book, session.state
    found: list[tuple[Any, ...]] = []
    for row, name in enumerate(session.rows.ids):
        given = book.labels.get(row)
        if given is not None:
            who = book.first_by.get(row, ("", ""))[0] or None
            found.append((name, given, 1.0, "given", who, book.why.get(row)))
        else:
            guess = session.guess(row)
            sure = None if guess is None else round(float(state.confidence[row]), 6)
            found.append((name, guess, sure, "model", None, None))
    return found


def _tasks(session: Session) -> list[dict[str, Any]]:
    """Return a task of Label Studio for each row that somebody answered or the model labels."""
    answers: dict[int, list[dict[str, Any]]] = {}
    undone = {event.undoes for event in session.journal.events if event.kind == "undo"}
    for event in session.journal.events:
        if event.kind not in ("label", "skip", "none") or event.number in undone:
            continue
        when = datetime.fromtimestamp(event.time, UTC).isoformat()
        annotation: dict[str, Any] = {
            "completed_by": {"email": event.who},
            "created_at": when,
            "updated_at": when,
            "was_cancelled": event.kind != "label",
            "result": [] if event.label is None else [_choice(event.label)],
        }
        if event.ms is not None:
            annotation["lead_time"] = event.ms / 1000
        for row in event.rows:
            answers.setdefault(row, []).append(annotation)
    for row, label in session._given.items():
        answers.setdefault(row, []).insert(0, {"result": [_choice(label)], "was_cancelled": False})
    tasks = []
    for row, name in enumerate(session.rows.ids):
        shown = dict(session.rows.cells(row)["texts"])
        task: dict[str, Any] = {"data": {ROW: name, **shown}}
        if row in answers:
            task["annotations"] = answers[row]
        elif (guess := session.guess(row)) is not None:
            score = round(float(session.state.confidence[row]), 6)
            task["predictions"] = [{"model_version": MODEL, "score": score, "result": [_choice(guess)]}]
        tasks.append(task)
    return tasks


def _choice(label: str) -> dict[str, Any]:
    return {"from_name": CONTROL, "to_name": SHOWN, "type": "choices", "value": {"choices": [label]}}
