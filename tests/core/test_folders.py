"""Folders that are whole or not there, and temporary ones, with processes that are really killed."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from anchorview.core import folders
from anchorview.core.folders import NewFolder, ScratchFolder
from anchorview.core.locks import LOCK, InUseError
from support.processes import started

posix = pytest.mark.skipif(sys.platform == "win32", reason="no locks, no SIGKILL")


def write_folder(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "one.txt").write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_there_until_all_is(tmp_path: Path) -> None:
    with NewFolder(tmp_path / "new") as folder:
        (folder.path / "one.txt").write_text("new")
        assert not (tmp_path / "new").exists()
        folder.finish()
    assert names(tmp_path) == ["new"]
    assert names(tmp_path / "new") == ["one.txt"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    write_folder(tmp_path / "new", "old")
    with pytest.raises(RuntimeError), NewFolder(tmp_path / "new", overwrite=True) as folder:
        (folder.path / "one.txt").write_text("new")
        raise RuntimeError
    assert names(tmp_path) == ["new"]
    assert (tmp_path / "new" / "one.txt").read_text() == "old"


def test_an_older_folder_is_replaced_when_the_new_one_is_whole(tmp_path: Path) -> None:
    write_folder(tmp_path / "new", "old")
    with NewFolder(tmp_path / "new", overwrite=True) as folder:
        (folder.path / "one.txt").write_text("new")
        assert (tmp_path / "new" / "one.txt").read_text() == "old"
        folder.finish()
    assert (tmp_path / "new" / "one.txt").read_text() == "new"
    assert names(tmp_path) == ["new"]


def test_two_that_build_one_folder(tmp_path: Path) -> None:
    with NewFolder(tmp_path / "new") as first:
        (first.path / "one.txt").write_text("first")
        with pytest.raises(InUseError, match=f"Another process is writing .*new .process {os.getpid()}"):
            NewFolder(tmp_path / "new", overwrite=True).__enter__()
        first.finish()
    assert (tmp_path / "new" / "one.txt").read_text() == "first"
    with pytest.raises(FileExistsError, match="exists"):
        NewFolder(tmp_path / "new").__enter__()


BUILDING = """
import os, signal, sys
from pathlib import Path
from anchorview.core.folders import NewFolder
renames = []
rename = Path.rename
def rename_or_die(self, to):
    renames.append(to)
    if len(renames) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, to)
Path.rename = rename_or_die
with NewFolder(Path(sys.argv[1]), overwrite=True) as folder:
    (folder.path / "half").mkdir()
    (folder.path / "one.txt").write_text("killed")
    folder.finish()
"""


@posix
@pytest.mark.parametrize("n_renames", [1, 2])
def test_what_a_killed_process_left_is_cleared(tmp_path: Path, n_renames: int) -> None:
    """It is killed when the folder is whole, or when the older one is put aside already, and is then put back."""
    write_folder(tmp_path / "new", "old")
    done = subprocess.run([sys.executable, "-c", BUILDING, str(tmp_path / "new"), str(n_renames)], check=False)
    assert done.returncode == -9
    assert names(tmp_path) == [".new.lock", *([".new.part", "new"] if n_renames == 1 else [".new.old", ".new.part"])]
    with pytest.raises(FileExistsError), NewFolder(tmp_path / "new"):
        pass
    assert (tmp_path / "new" / "one.txt").read_text() == "old"
    with NewFolder(tmp_path / "new", overwrite=True) as folder:
        assert names(folder.path) == []
        (folder.path / "one.txt").write_text("new")
        folder.finish()
    assert names(tmp_path) == ["new"]
    assert names(tmp_path / "new") == ["one.txt"]


AGAIN = """
import sys, time
from pathlib import Path
from anchorview.core.folders import NewFolder
from anchorview.core.locks import InUseError
done = 0
while done < 40:
    try:
        with NewFolder(Path(sys.argv[1]), overwrite=True) as folder:
            (folder.path / "one.txt").write_text("new")
            folder.finish()
    except InUseError:
        time.sleep(0.0002)
        continue
    done += 1
"""


@posix
def test_many_that_build_one_folder_again_and_again(tmp_path: Path) -> None:
    """Whoever comes while another gives the folder its name waits, and never clears what is whole."""
    others = [subprocess.Popen([sys.executable, "-c", AGAIN, str(tmp_path / "new")]) for _ in range(3)]
    assert [process.wait(timeout=100) for process in others] == [0, 0, 0]
    assert names(tmp_path) == ["new"]
    assert names(tmp_path / "new") == ["one.txt"]


# Temporary folders

SCRATCH = """
import os, signal, sys
from anchorview.core.folders import ScratchFolder
folder = ScratchFolder("some-")
(folder.path / "codes.npy").write_bytes(b"many")
if sys.argv[1] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
print("made", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_temporary_folder_goes_with_its_object(temporary: Path) -> None:
    first, second = ScratchFolder("some-"), ScratchFolder("some-")
    assert names(temporary) == sorted([first.path.name, second.path.name])
    del first
    assert names(temporary) == [second.path.name]
    second.remove()
    assert names(temporary) == []


@posix
def test_a_temporary_folder_of_a_process_that_was_killed(temporary: Path) -> None:
    for _ in range(2):
        subprocess.run([sys.executable, "-c", SCRATCH, "die"], check=False)
    assert len(names(temporary)) == 1  # the second has removed that of the first
    other = temporary / "another-1"
    other.mkdir()
    (other / LOCK).write_bytes((next(temporary.glob("some-*")) / LOCK).read_bytes())
    mine = ScratchFolder("some-")
    assert names(temporary) == ["another-1", mine.path.name]


@posix
def test_a_temporary_folder_that_is_in_use_stays(temporary: Path) -> None:
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started([sys.executable, "-c", SCRATCH, "live"], **streams) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        mine = ScratchFolder("some-")
        assert len(names(temporary)) == 2
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait() == 0
    assert names(temporary) == [mine.path.name]


@posix
def test_only_own_folders_of_this_machine_are_removed(temporary: Path) -> None:
    for name, text in (
        ("dead", json.dumps({"host": platform.node()})),
        ("machine", json.dumps({"host": "another"})),
        ("new", ""),  # not locked yet
        ("odd", "[]"),
    ):
        (temporary / f"some-{name}").mkdir()
        (temporary / f"some-{name}" / LOCK).write_text(text)
    (temporary / "some-empty").mkdir()
    (temporary / "some-link").symlink_to(temporary / "some-machine")
    kept = ["some-empty", "some-link", "some-machine", "some-new", "some-odd"]
    if os.geteuid() == 0:
        (temporary / "some-user").mkdir()
        os.mkfifo(temporary / "some-user" / LOCK)  # to open it would be to wait for ever
        os.chown(temporary / "some-user", 12345, 12345)
        kept.append("some-user")
    ScratchFolder("some-").remove()
    assert names(temporary) == kept


def test_a_temporary_folder_goes_if_it_is_interrupted_while_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "hold", interrupt)
    with pytest.raises(KeyboardInterrupt):
        folders.ScratchFolder("anchorview-some-")
    gc.collect()
    assert list(tmp_path.iterdir()) == []
