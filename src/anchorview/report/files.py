"""Files that are replaced in one step, so that neither a reader nor a crash ever meets half of one."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_PART = ".part"


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

    Parameters
    ----------
    path : Path
        The file.
    overwrite : bool
        Whether a file of this name may be replaced; if not, one that appears in the meantime is an error.
    """
    part = path.with_name(f".{os.getpid()}.{path.name}{_PART}")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if overwrite:
            os.replace(part, path)
        else:
            _give_name(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _give_name(part: Path, path: Path) -> None:
    """Name a file, unless the name is taken."""
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
