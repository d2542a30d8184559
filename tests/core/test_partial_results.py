"""Parts of a long work: kept when a process is killed, never mixed with those of another work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from anchorview.core.locks import InUseError
from anchorview.core.partial_results import PartialResults

WORK = {"rows": 3, "model": "a"}
KILLED = """
import os, signal, sys
from pathlib import Path
from anchorview.core.partial_results import PartialResults
with PartialResults(Path(sys.argv[1], "parts"), Path(sys.argv[1], "out"), {"rows": 3, "model": "a"}, ".txt") as parts:
    for number in range(2):
        with parts.writing(number) as stream:
            stream.write(b"whole" if number == 0 else b"ha")
            stream.flush()
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
"""


def parts_in(folder: Path, work: dict[str, Any] = WORK) -> PartialResults:
    return PartialResults(folder / "parts", folder / "out", work, ".txt")


def write(parts: PartialResults, *numbers: int) -> None:
    for number in numbers:
        with parts.writing(number) as stream:
            stream.write(f"part {number}".encode())


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_parts_of_a_process_that_was_killed(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert len(list((tmp_path / "parts").glob(".*.part"))) == 1
    with parts_in(tmp_path) as parts:
        assert not list(parts.folder.glob(".*.part"))
        assert parts.differs == []
        assert [parts.has(number) for number in range(3)] == [True, False, False]
        assert parts.path(0).read_text() == "whole"
        write(parts, 1, 2)
        assert parts.n_kept == 3
        parts.clear()
    assert list(tmp_path.iterdir()) == []


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with parts_in(tmp_path) as parts:
        write(parts, 0)
        with pytest.raises(InUseError, match=rf"writing {tmp_path / 'out'} \(process {os.getpid()}"):
            parts_in(tmp_path).__enter__()
    with parts_in(tmp_path) as parts:
        assert parts.has(0)


def test_parts_of_another_work_are_told_from_those_of_this(tmp_path: Path) -> None:
    with parts_in(tmp_path, {"rows": 3, "model": "b"}) as parts:
        write(parts, 0)
    with parts_in(tmp_path) as parts:
        assert parts.differs == ["model"]
        with pytest.raises(AssertionError, match="parts of another work"):
            write(parts, 1)
    with parts_in(tmp_path, {"rows": 3, "model": "b"}) as parts:  # they were left as they are
        assert (parts.differs, parts.n_kept) == ([], 1)
    with parts_in(tmp_path) as parts:
        parts.clear()
        assert not parts.has(0)
        write(parts, 1)
    with parts_in(tmp_path) as parts:
        assert (parts.differs, parts.has(1)) == ([], True)
    (tmp_path / "parts" / "work.json").unlink()
    with parts_in(tmp_path) as parts:
        assert parts.differs == ["rows", "model"]  # nobody knows


def test_nothing_stays_where_nothing_is_done(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), parts_in(tmp_path) as parts, parts.writing(0):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"needed for parts, but holds other files: thesis\.txt; move them"):
        parts_in(tmp_path).__enter__()
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["thesis.txt"]
    (tmp_path / "parts" / "thesis.txt").unlink()
    with parts_in(tmp_path) as parts:
        write(parts, 0)
        (parts.folder / "late.txt").write_text("more work")
        parts.clear()
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["late.txt"]


@pytest.mark.parametrize("is_folder", [False, True])
def test_an_output_that_is_whole_is_known(tmp_path: Path, is_folder: bool) -> None:
    """A process can be killed between giving the output its name and removing the parts."""

    def make_output() -> None:
        if is_folder:
            (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "label.npy" if is_folder else tmp_path / "out").write_text("whole")

    make_output()
    time.sleep(0.01)
    with parts_in(tmp_path) as parts:
        write(parts, 0)
        assert not parts.are_put_together(1)  # older than its parts
        assert not parts.are_put_together(2)
        time.sleep(0.01)
        make_output()
        assert parts.are_put_together(1)
        assert not parts.are_put_together(2)
