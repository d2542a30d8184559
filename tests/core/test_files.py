"""Files that are replaced in one step, by processes that are killed, come second, or have no space."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anchorview.core.files import check_output, replace_file, replacing
from anchorview.core.no_space import NoSpaceError
from support.processes import started

WRITING = """
import os, signal, sys
from pathlib import Path
from anchorview.core.files import replacing
with replacing(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print("writing", flush=True)
    sys.stdin.readline()
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="no locks, no SIGKILL")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@posix
def test_what_killed_processes_left_goes_with_the_next_file(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("old")
    subprocess.run([sys.executable, "-c", WRITING, str(path), "die"], check=False)
    (tmp_path / ".12.other.txt.part").write_bytes(b"of another file")
    (tmp_path / f".{os.getppid()}.m.txt.part").write_bytes(b"the number belongs to somebody else by now")
    assert len(list(tmp_path.glob(".*.m.txt.part"))) == 2
    assert path.read_text() == "old"
    replace_file(path, "new")
    assert names(tmp_path) == [".12.other.txt.part", "m.txt"]
    assert path.read_text() == "new"


@posix
def test_a_part_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    command = [sys.executable, "-c", WRITING, str(path), "live"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        replace_file(path, b"mine")
        assert len(list(tmp_path.glob(".*.part"))) == 1
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait() == 0
    assert path.read_bytes() == b"half"  # the last one to finish
    assert names(tmp_path) == ["m.txt"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_in_the_meantime_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def refuse(*paths: Path) -> None:
        raise OSError(errno.EPERM, "no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    with replacing(tmp_path / "free", overwrite=False) as stream:
        stream.write(b"mine")
    taken = tmp_path / "taken"
    with pytest.raises(FileExistsError, match="taken exists by now"), replacing(taken, overwrite=False) as stream:
        stream.write(b"mine")
        taken.write_text("theirs")
    assert (tmp_path / "free").read_text() == "mine"
    assert taken.read_text() == "theirs"
    assert names(tmp_path) == ["free", "taken"]


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("old")
    words = r"m\.txt cannot be written: no space is left on the disk"
    with pytest.raises(NoSpaceError, match=words), replacing(path) as stream:
        stream.write(b"new")
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError, match="Is a directory"), replacing(path):  # any other error says itself what is wrong
        raise OSError(errno.EISDIR, "Is a directory")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["m.txt"]


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("file", {"overwrite": False}, FileExistsError, "file exists; choose another name"),
        ("dangling", {"overwrite": False}, FileExistsError, "dangling exists"),
        ("folder", {"overwrite": True}, IsADirectoryError, "folder is a folder; name a file"),
        ("file", {"overwrite": True, "folder": True}, NotADirectoryError, "file is a file or a link"),
        ("link", {"overwrite": True, "folder": True}, NotADirectoryError, "link is a file or a link"),
        ("no/file", {"overwrite": True}, FileNotFoundError, "There is no folder .*no to write file to"),
        ("file/file", {"overwrite": True}, FileNotFoundError, "There is no folder .*file to write file to"),
    ],
)
def test_places_where_nothing_can_be_written(
    tmp_path: Path, name: str, options: dict[str, bool], error: type[OSError], words: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    with pytest.raises(error, match=words):
        check_output(tmp_path / name, **options)


def test_places_where_something_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    check_output(tmp_path / "new", overwrite=False)
    check_output(Path("new"), overwrite=False, folder=True)
    check_output(tmp_path / "file", overwrite=True)
    check_output(tmp_path / "folder", overwrite=True, folder=True)
    monkeypatch.setattr(os, "access", lambda path, how: False)  # everything is open to an administrator
    with pytest.raises(PermissionError, match="cannot be written to; choose another path"):
        check_output(tmp_path / "new", overwrite=False)
