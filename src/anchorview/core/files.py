"""Files that are replaced in one step, so that no reader and no crash ever meets half of one; where they may go."""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .locks import HAS_LOCKS, is_same, lock
from .no_space import naming_file

_PART = ".part"
_AS_IT_IS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


def check_output(path: Path, *, overwrite: bool, folder: bool = False) -> None:
    """Raise an error, before any work, if a file or a folder cannot be written; one replaces only its like.

    Examples
    --------
    >>> check_output(Path("no-such-folder/labels.csv"), overwrite=False)
    Traceback (most recent call last):
    FileNotFoundError: There is no folder no-such-folder to write labels.csv to; create it first.
    """
    mode = None
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = os.lstat(path).st_mode
    if mode is not None:
        if not overwrite:
            raise FileExistsError(f"{path} exists; choose another name, or pass overwrite=True.")
        if folder and not stat.S_ISDIR(mode):
            raise NotADirectoryError(f"{path} is a file or a link, so no folder replaces it; choose another name.")
        if not folder and path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to; create it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder {path.parent} cannot be written to; choose another path.")


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file under another name in the same folder, and give it its name when it is whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(Path(folder, "report.md"), "# Scores")
    ...     [path.name for path in Path(folder).iterdir()]
    ['report.md']
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: Path, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Give a stream to write a file with; the file gets its name when it is whole and on the disk.

    Unless a file of this name may be replaced, one that appears in the meantime is an error.
    """
    part = path.with_name(f".{os.getpid()}.{path.name}{_PART}")
    _remove_leftovers(path)
    try:
        with naming_file(path), _open_locked(part) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if HAS_LOCKS:  # named while it is locked: what nobody has locked is taken for a leftover
                _give_name(part, path, overwrite)
        if not HAS_LOCKS:
            _give_name(part, path, overwrite)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _open_locked(part: Path) -> BinaryIO:
    """Open a file that tells others, by its lock, that somebody is writing it."""
    while True:
        stream = os.fdopen(os.open(part, _AS_IT_IS, 0o666), "wb")
        lock(stream)
        if is_same(stream, part):  # nobody has taken it for a leftover in between
            stream.truncate(0)  # of another thread, perhaps, until it was locked
            return stream
        stream.close()


def _remove_leftovers(path: Path) -> None:
    """Remove what processes that were killed have left of this file: parts that nobody has locked.

    A lock ends with its process, whatever number that had, and is seen by other machines; where there are no locks,
    leftovers stay.
    """
    form = re.compile(rf"\.\d+\.{re.escape(path.name)}{re.escape(_PART)}")
    with suppress(OSError):
        for left in [item for item in path.parent.iterdir() if form.fullmatch(item.name)]:
            with suppress(OSError), left.open("rb") as stream:
                if lock(stream, wait=False) and is_same(stream, left):
                    left.unlink()


def _give_name(part: Path, path: Path, overwrite: bool) -> None:
    """Name a file; unless it may be replaced, not if the name is taken."""
    if overwrite:
        os.replace(part, path)
        return
    try:
        os.link(part, path)  # unlike a rename, this never replaces a file
    except FileExistsError:
        raise FileExistsError(f"{path} exists by now; it was left as it is.") from None
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(f"{path} exists by now; it was left as it is.") from None
        os.replace(part, path)
    part.unlink(missing_ok=True)


def remove_parts(folder: Path) -> None:
    """Remove what a process that was killed left of its files."""
    for part in folder.glob(f".*{_PART}"):
        part.unlink(missing_ok=True)


def file_name(text: str) -> str:
    """Return a name for a file: the text itself where that is safe in any system and in a link, else much like it.

    Examples
    --------
    >>> file_name("label-ratio-caltech_7.v2")
    'label-ratio-caltech_7.v2'
    >>> file_name("label-ratio-a b/c")
    'label-ratio-a_b_c-fdf21fa2'
    """
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", text)[:100]
    return text if safe == text else f"{safe}-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
