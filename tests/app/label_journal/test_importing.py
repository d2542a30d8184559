"""Labels to Label Studio and back: who, milliseconds, skipped rows, second labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anchorview.app.errors import DataError
from anchorview.app.label_journal.importing import events_of_label_studio
from anchorview.app.labelling.exporting import export_file
from support.labelling import plain_session


def test_an_export_comes_back_as_it_was(tmp_path: Path) -> None:
    first = plain_session(tmp_path / "one.labels.jsonl")
    for row in range(6):
        first.take("ann", [{"kind": "label", "rows": [row], "label": "a", "ms": 100 * row + 1}])
    first.take("ann", [{"kind": "skip", "rows": [7], "ms": 50}])
    first._dealer.put_back("bob", 2, "second")
    first.queue("bob")
    first.take("bob", [{"kind": "label", "rows": [2], "label": "b"}])
    first.undo("ann")  # the skip
    path = tmp_path / "labels.json"
    path.write_bytes(export_file(first, "label-studio"))
    second = plain_session(tmp_path / "two.labels.jsonl")
    events = events_of_label_studio(path, second.rows.ids, {})
    assert second.take_over(events) == 7
    assert second.book.labels == first.book.labels and second.book.first_by == first.book.first_by
    assert second.book.agreement() == first.book.agreement() and first.book.agreement().disputed == [2]
    assert [event.ms for event in events] == [1, 101, 201, 301, 401, 501, None]
    assert set(second.book.why.values()) == {"import"}
    assert second.take_over(events_of_label_studio(path, second.rows.ids, second.book.labels)) == 0  # read twice
    first.close()
    second.close()


def test_skips_and_people_of_a_real_export(tmp_path: Path) -> None:
    def annotation(by: Any, choice: str | None, at: str) -> dict[str, Any]:
        result = [] if choice is None else [{"type": "choices", "from_name": "label", "value": {"choices": [choice]}}]
        about = {"completed_by": by, "created_at": at, "lead_time": 2.5, "was_cancelled": choice is None}
        return {**about, "result": result}

    tasks = [
        {"id": 1, "data": {"row_id": "r1"}, "annotations": [annotation(7, "cat", "2026-01-01T10:00:00Z")]},
        {
            "id": 2,
            "data": {"row_id": "r2"},
            "annotations": [annotation({"email": "a@b"}, None, "2026-01-01T09:00Z")],
        },
        {"id": 3, "data": {"row_id": "r3"}, "annotations": []},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    events = events_of_label_studio(path, ["r0", "r1", "r2", "r3"], {})
    assert [(event.kind, event.rows, event.who, event.ms) for event in events] == [
        ("skip", (2,), "a@b", 2500),
        ("label", (1,), "7", 2500),
    ]
    with pytest.raises(DataError, match="task 1 is about a row 'r1' that is not there"):
        events_of_label_studio(path, ["x"], {})
    path.write_text("{}")
    with pytest.raises(DataError, match="no list of tasks"):
        events_of_label_studio(path, ["x"], {})
