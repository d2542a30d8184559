"""The grammar of ``--view NAME=SPEC``: columns of the one table, or a file and what to take of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from .errors import DataError, UsageError

_FILE = re.compile(
    r"(.+?\.(?:npy|npz|(?:csv|tsv|jsonl|ndjson)(?:\.gz|\.zst|\.bz2)?|json|parquet|feather|arrow"
    r"|(?:xlsx|xlsm|sqlite3?|db)(?:#[^:]+)?|mat|h5ad|h5mu|zarr))(?::(.*))?",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(.*?)(\d+)")


@dataclass(frozen=True)
class ViewSpec:
    """One view: its name, the file it is in (None: the table), and what to take of it.

    Parameters
    ----------
    name : str
        Name of the view.
    path : Path or None
        The file.
    selector : str
        Columns by name, pattern (``emb_*``) or range (``img_0..img_511``), with commas between them; or the name of an
        array in the file. Empty for all.
    """

    name: str
    path: Path | None
    selector: str

    def __str__(self) -> str:
        if self.path is None:
            return f"{self.name}={self.selector}"
        return f"{self.name}={self.path}{f':{self.selector}' if self.selector else ''}"


def parse_views(texts: Sequence[str], folder: Path | None = None) -> list[ViewSpec]:
    """Read the values of ``--view``; an error if a name is given twice.

    Parameters
    ----------
    texts : sequence of str
        Each ``NAME=SPEC``.
    folder : Path, optional
        Where files are that have no absolute path.

    Examples
    --------
    >>> for spec in parse_views(["text=emb_*", "image=pixels.npy", "meta=table.csv:age,size"]):
    ...     print(spec.name, spec.path, repr(spec.selector))
    text None 'emb_*'
    image pixels.npy ''
    meta table.csv 'age,size'
    """
    specs: list[ViewSpec] = []
    for text in texts:
        name, equals, rest = text.partition("=")
        name, rest = name.strip(), rest.strip()
        if not equals or not name or not rest:
            raise UsageError(
                f"--view {text!r} is not NAME=SPEC: write --view text=emb_* for columns of the table, or "
                "--view image=emb.npy for a file."
            )
        if name in (spec.name for spec in specs):
            raise UsageError(f"--view {name} is given twice; views need different names.")
        found = _FILE.fullmatch(rest)
        if found is None:
            specs.append(ViewSpec(name, None, rest))
        else:
            path = Path(found[1]).expanduser()
            specs.append(ViewSpec(name, path if folder is None else folder / path, found[2] or ""))
    return specs


def choose_columns(selector: str, names: Sequence[str], view: str, place: str, reserved: Sequence[str]) -> list[str]:
    """Return the columns that a selector names, in order; all of them if it is empty.

    Parameters
    ----------
    selector : str
        See `ViewSpec`.
    names : sequence of str
        Columns of the table.
    view, place : str
        Name of the view and of the file, for errors.
    reserved : sequence of str
        Columns that are no features: the id and the label. Patterns pass over them.

    Examples
    --------
    >>> names = ["id", "img_0", "img_1", "img_2", "age"]
    >>> choose_columns("img_1..img_2,age", names, "v", "t.csv", ["id"])
    ['img_1', 'img_2', 'age']
    >>> choose_columns("*", names, "v", "t.csv", ["id"])
    ['img_0', 'img_1', 'img_2', 'age']
    """
    free = [name for name in names if name not in reserved]
    chosen: list[str] = []
    for part in [selector] if selector in names else (selector or "*").split(","):
        part = part.strip()
        if part in reserved:
            raise UsageError(f"View {view!r} takes column {part!r}, which is the id or the label; leave it out.")
        if part in names:
            found = [part]
        elif ".." in part:
            found = _range(part, free, view, place)
        else:
            found = [name for name in free if fnmatchcase(name, part)]
        if not found:
            shown = ", ".join(free[:10]) + (", …" if len(free) > 10 else "")
            raise DataError(f"View {view!r}: {place} has no column {part!r}; it has {shown or 'no others'}.")
        chosen += [name for name in found if name not in chosen]
    return chosen


def _range(part: str, names: list[str], view: str, place: str) -> list[str]:
    """Return ``img_0..img_511`` by number, or ``first..last`` by position in the table."""
    first, _, last = (word.strip() for word in part.partition(".."))
    numbered = [_NUMBERED.fullmatch(word) for word in (first, last)]
    if numbered[0] and numbered[1] and numbered[0][1] == numbered[1][1]:
        stem, known = numbered[0][1], {}
        for name in names:
            match = _NUMBERED.fullmatch(name)
            if match and match[1] == stem:
                known[int(match[2])] = name
        wanted = range(int(numbered[0][2]), int(numbered[1][2]) + 1)
        lacking = [number for number in wanted if number not in known]
        if lacking or not wanted:
            missing = f"{stem}{lacking[0]}" if lacking else part
            raise DataError(f"View {view!r}: {place} has no column {missing!r} of the range {part}.")
        return [known[number] for number in wanted]
    for word in (first, last):
        if word not in names:
            raise DataError(f"View {view!r}: {place} has no column {word!r} of the range {part}.")
    return names[names.index(first) : names.index(last) + 1]
