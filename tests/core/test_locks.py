"""Locks between real processes: one holder, which is named; a lock ends with its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from anchorview.core import locks
from anchorview.core.locks import LOCK, InUseError, hold, hold_folder, lock
from support.processes import started

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks")

HOLDING = """
import sys
from pathlib import Path
from anchorview.core.locks import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_the_second_is_told_who_came_first_until_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDING, str(path)]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InUseError, match=rf"writing .*out.csv \(process {other.pid} on .*, since 20.*\); wait"):
            hold(path, tmp_path / "out.csv")
        with pytest.raises(InUseError, match=rf"^{path} is taken by process {other.pid}"):
            hold(path, in_use="{path} is taken by {holder}")
        other.kill()
        other.wait()
        with hold(path):
            assert json.loads(path.read_bytes())["pid"] == os.getpid()


def test_a_holder_that_has_not_said_yet_who_it_is(tmp_path: Path) -> None:
    with hold(tmp_path / "lock"):
        (tmp_path / "lock").write_bytes(b"")
        with pytest.raises(InUseError, match=r"\(another process\)"):
            hold(tmp_path / "lock")


def test_a_full_disk_does_not_keep_anybody_from_a_lock() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no full device here")
    hold(Path("/dev/full")).close()


ONE_AT_A_TIME = """
import sys, time
from pathlib import Path
from anchorview.core.locks import LOCK, InUseError, hold_folder
folder, count = Path(sys.argv[1], "held"), Path(sys.argv[1], "count")
done = 0
while done < 40:
    try:
        stream = hold_folder(folder, folder)
    except InUseError:
        time.sleep(0.0005)
        continue
    before = int(count.read_text())
    time.sleep(0.0005)
    count.write_text(str(before + 1))
    (folder / LOCK).unlink()
    try:
        folder.rmdir()
    except OSError:  # the next one is in
        pass
    stream.close()
    done += 1
"""


def test_a_folder_that_its_holders_remove_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    others = [subprocess.Popen([sys.executable, "-c", ONE_AT_A_TIME, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(timeout=100) for process in others] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "120"


def test_a_file_that_is_removed_while_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the one who held it, between opening and locking: others would find another file, and lock that."""
    path, removed = tmp_path / "lock", []

    def remove_first(stream: IO[bytes], **options: bool) -> bool:
        if not removed:
            removed.append(path)
            path.unlink()
        return lock(stream, **options)

    monkeypatch.setattr(locks, "lock", remove_first)
    with hold(path), pytest.raises(InUseError):
        hold(path)


def test_a_folder_that_is_removed_while_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the one who held it, between making the folder and opening its lock."""
    folder, removed = tmp_path / "held", []
    mkdir = Path.mkdir

    def remove_at_once(self: Path) -> None:
        mkdir(self)
        if not removed:
            removed.append(self)
            self.rmdir()

    monkeypatch.setattr(Path, "mkdir", remove_at_once)
    hold_folder(folder, folder).close()
    assert removed == [folder]
    assert (folder / LOCK).is_file()


def test_what_is_no_folder_cannot_be_held(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        with pytest.raises((NotADirectoryError, FileExistsError), match=name):
            hold_folder(tmp_path / name, tmp_path)
    with pytest.raises(FileNotFoundError, match="no/folder"):
        hold_folder(tmp_path / "no" / "folder", tmp_path)
