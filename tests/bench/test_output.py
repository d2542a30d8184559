"""The folder of results: one process at a time, whole files only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anchorview.bench.output import Output
from anchorview.core import files
from anchorview.core.locks import InUseError
from anchorview.report.document import Section, Table
from support.processes import started

ORDER = ("first", "second")


def section(name: str, text: str = "some text") -> Section:
    table = Table(f"{name}-table", "A title", ["Dataset", "MVAR"])
    table.add("hw", "95.6 ± 2.0")
    return Section(name, name.title(), [text], [table])


def test_a_second_process_is_told_who_works_here(tmp_path: Path) -> None:
    out = tmp_path / "o"
    code = "import sys; from pathlib import Path; from anchorview.bench.output import Output\n"
    code += "with Output(Path(sys.argv[1]), ()):\n    print('in', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(out)]
    with started(command, seconds=100, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with (
            pytest.raises(InUseError, match=rf"{out} is in use .*\(process {other.pid} on .*since 20.*--out"),
            Output(out, ORDER),
        ):
            pass
        # The other is killed: a lock ends with its process.
    with Output(out, ORDER) as mine:
        mine.records.add({"seed": 0}, {})
    with Output(out, ORDER) as again:
        assert len(again.records) == 1


def test_records_are_read_when_the_folder_is_ours(tmp_path: Path) -> None:
    """What another process finishes between the first look and the lock is not computed again."""
    late = Output(tmp_path / "o", ORDER)
    with Output(tmp_path / "o", ORDER) as early:
        early.records.add({"seed": 0}, {})
    with late:
        assert len(late.records) == 1


def test_a_crash_while_writing_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with Output(tmp_path, ORDER) as output:
        output.write(section("first"))
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert {"report.md", "report.html", "first.json", "first-table.tex"} <= {path.name for path in before}
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", crash)
            with pytest.raises(OSError, match=r"\.json cannot be written: no space is left on the disk"):
                output.write(section("first", "another text"))
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_no_file_is_ever_seen_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of the page gets its name by a rename, after its content is on disk."""
    named = []
    replace = os.replace
    monkeypatch.setattr(files.os, "replace", lambda part, path: (named.append(path), replace(part, path)))
    with Output(tmp_path, ORDER) as output:
        output.write(section("first"))
    written = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert written - set(named) == {tmp_path / "records.jsonl", tmp_path / "records.lock"}


def test_leftovers_and_damaged_sections_do_no_harm(tmp_path: Path) -> None:
    told: list[str] = []
    with Output(tmp_path, ORDER) as output:
        output.write(section("first"))
    (tmp_path / "sections" / "first.json").write_text('{"name": "fir')
    (tmp_path / "tables" / ".77.x.md.part").write_text("half")
    with Output(tmp_path, ORDER, told.append) as output:
        output.write(section("second"))
    assert not list(tmp_path.rglob("*.part"))
    assert len(told) == 1
    assert "first.json is not a section" in told[0]
    assert "'anchorview bench first' makes it anew" in told[0]
    assert "## Second" in (tmp_path / "report.md").read_text()


def test_a_killed_start_does_not_lock_the_folder_out(tmp_path: Path) -> None:
    (tmp_path / "records.lock").write_text(json.dumps({"pid": 1}))  # made first, records.jsonl after it
    with Output(tmp_path, ORDER) as output:
        assert len(output.records) == 0
