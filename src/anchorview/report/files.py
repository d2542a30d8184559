"""Files that are replaced in one step, so that neither a reader nor a crash ever meets half of one."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

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
    part = path.with_name(f".{os.getpid()}.{path.name}{_PART}")
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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
