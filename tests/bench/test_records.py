"""Records that survive a crash."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest

from anchorview.bench import records as records_module
from anchorview.bench import scripts
from anchorview.bench.records import Records
from support.processes import started


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
    with pytest.warns(UserWarning, match="left out"):
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


def test_a_record_that_lost_only_its_newline_is_kept_and_not_glued_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Records(path).add({"seed": 0}, {"acc": 1.0})
    path.write_bytes(path.read_bytes()[:-1])
    records = Records(path)
    assert records.get({"seed": 0}) == {"acc": 1.0}
    records.add({"seed": 1}, {"acc": 2.0})
    assert [json.loads(line)["key"]["seed"] for line in path.read_text().splitlines()] == [0, 1]
    assert len(Records(path)) == 2


@pytest.mark.parametrize("left", range(1, 50, 6))
def test_half_a_record_is_set_aside_with_a_word(tmp_path: Path, left: int) -> None:
    path = tmp_path / "runs.jsonl"
    Records(path).add({"seed": 0}, {"acc": 1.0})
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:left])
    with pytest.warns(UserWarning, match="line 2 was cut off by a crash"):
        records = Records(path)
    assert path.read_bytes() == whole + whole[:left]  # reading changes nothing
    records.add({"seed": 1}, {"acc": 2.0})
    assert path.with_name("runs.jsonl.cut").read_bytes() == whole[:left] + b"\n"
    assert [json.loads(line)["key"]["seed"] for line in path.read_text().splitlines()] == [0, 1]


def test_files_that_were_glued_before_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for seed in range(3):
        Records(path).add({"seed": seed}, {"version": 1, "acc": 1.0})
    first, second, third = path.read_text().splitlines()
    path.write_text(f"{first}{second}\n{third[:30]}{third}\n")
    with pytest.warns(UserWarning, match="line 2"):
        records = Records(path)
    assert [key["seed"] for key, _ in records] == [0, 1, 2]


WRITER = """
import sys, warnings
from anchorview.bench import records as records_module
from anchorview.bench import scripts
from anchorview.bench.records import Records
records = Records(sys.argv[1])
for seed in range(150):
    records.add({"who": sys.argv[2], "seed": seed}, {"text": "x" * 20000})
"""


def test_nothing_is_lost_when_others_read_and_write_too(tmp_path: Path) -> None:
    """Two processes append while this one opens the file again and again and appends as well."""
    path = tmp_path / "runs.jsonl"
    mine = 0
    with ExitStack() as stack:
        writers = [stack.enter_context(started([sys.executable, "-c", WRITER, str(path), who])) for who in "ab"]
        while any(writer.poll() is None for writer in writers):
            opened = Records(path)  # a warning, if it met half a line
            if mine < 100:
                opened.add({"who": "c", "seed": mine}, {"text": "y" * 9000})
                mine += 1
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(Records(path)) == 300 + mine
    assert len(path.read_text().splitlines()) == 300 + mine


def test_opening_leaves_the_line_that_another_process_is_writing(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Records(path).add({"seed": 0}, {"acc": 1.0})
    line = path.read_bytes().replace(b'"seed": 0', b'"seed": 1')
    with path.open("ab") as other:  # one that knows no locks
        other.write(line[:20])
        other.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(Records(path)) == 1
        other.write(line[20:])
    assert len(Records(path)) == 2


def stamped(monkeypatch: pytest.MonkeyPatch, commit: str, defaults: str) -> None:
    for module in (records_module, scripts):
        monkeypatch.setattr(module, "code_stamp", lambda: {"commit": commit, "defaults": defaults})


def test_a_figure_of_other_defaults_or_of_another_commit_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, path = {"data": "hw", "seed": 0}, tmp_path / "runs.jsonl"
    stamped(monkeypatch, "aaaaaaa", "one")
    assert scripts.Runs(Records(path), scripts.DataSets([])).get(key, lambda: {"acc": 1.0}) == {"acc": 1.0}
    assert scripts.Runs(Records(path), scripts.DataSets([])).known(key) == {"acc": 1.0}

    stamped(monkeypatch, "bbbbbbb", "one")
    runs = scripts.Runs(Records(path), scripts.DataSets([]), any_commit=True)
    assert scripts.Runs(Records(path), scripts.DataSets([])).known(key) is None
    assert runs.known(key) == {"acc": 1.0}
    assert runs.used == {"aaaaaaa"}  # for the line below a table
    assert len(runs.recorded()) == 1

    stamped(monkeypatch, "bbbbbbb", "two")
    for compute in (True, False):
        runs = scripts.Runs(Records(path), scripts.DataSets([]), compute=compute, any_commit=True)
        assert runs.known(key) is None
        assert runs.recorded() == []


def test_code_that_is_not_committed_is_measured_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamped(monkeypatch, "aaaaaaa-dirty", "one")
    runs = scripts.Runs(Records(tmp_path / "runs.jsonl"), scripts.DataSets([]))
    assert [runs.get({"seed": 0}, lambda value=value: {"acc": value}) for value in (1.0, 2.0)] == [
        {"acc": 1.0},
        {"acc": 2.0},
    ]
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [line["made"]["commit"] for line in lines] == ["aaaaaaa-dirty"] * 2
    assert all(len(line["made"]["date"]) == 10 for line in lines)
