"""Records that survive a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from anchorview.bench.records import Records


def test_records_are_found_again_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.jsonl"
    records = Records(path)
    assert records.get({"seed": 0}) is None
    records.add({"seed": 0, "data": "hw"}, {"acc": 1.5})
    records.add({"seed": 1, "data": "hw"}, {"acc": 2.5})
    again = Records(path)
    assert len(again) == 2
    assert again.get({"data": "hw", "seed": 1}) == {"acc": 2.5}
    assert [key["seed"] for key, _ in again] == [0, 1]


def test_a_line_cut_off_by_a_crash_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Records(path).add({"seed": 0}, {"acc": 1.0})
    with path.open("a") as stream:
        stream.write('{"version": 1, "key": {"se')
    records = Records(path)
    assert len(records) == 1
    records.add({"seed": 1}, {"acc": 2.0})
    assert len(Records(path)) == 2


@pytest.mark.parametrize("content", ["a,b\n1,2\n", '{"version": 99, "key": {}, "result": {}}\n'])
def test_foreign_files_are_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match="left as it is"):
        Records(path)
    assert path.read_text() == content
