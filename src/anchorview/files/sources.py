"""What the path of a table stands for: a file, a part of one (``book.xlsx#Orders``), or several (``logs/*.csv``)."""

from __future__ import annotations

import glob
import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.user_errors import CommandError, DataError, UsageError

IMAGE_SUFFIXES = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".avif", ".ppm", ".pgm"),
    *(".heic", ".heif", ".svg"),  # which are named as what cannot be read
)
PACKED = (".gz", ".zst", ".bz2")  # around .csv, .tsv and .jsonl
LINES = (".csv", ".tsv", ".jsonl", ".ndjson")  # kinds of files that have lines
WITH_PARTS = (".xlsx", ".xlsm", ".sqlite", ".sqlite3", ".db")  # sheets, or tables
PHOTOS = "folder of photos"
PHOTO = "photo"  # the column that such a folder is read as: relative paths
TABLES = (*LINES, ".json", ".parquet", ".feather", ".arrow", *WITH_PARTS, PHOTOS)
_AND = " + "  # between files that are read as one table


def suffix_of(path: Path) -> str:
    """Return the suffix that tells what a file is: that of ``a.csv.gz`` is .csv, that of ``b.xlsx#Orders`` .xlsx.

    Examples
    --------
    >>> [suffix_of(Path(name)) for name in ("a.csv.gz", "b.xlsx#Orders", "logs/*.jsonl.zst", "a.csv + b.csv")]
    ['.csv', '.xlsx', '.jsonl', '.csv']
    """
    if path.suffix.lower() in IMAGE_SUFFIXES or is_photo_folder(path):
        return PHOTOS
    first, _ = split_part(Path(str(path).partition(_AND)[0]))
    return (first.with_suffix("") if first.suffix.lower() in PACKED else first).suffix.lower()


def is_photo_folder(path: Path) -> bool:
    """Tell a folder with photos in it, at any depth, from files, and from folders that are stores of arrays."""
    return path.suffix != ".zarr" and path.is_dir() and next(_photos(path), None) is not None


def photo_paths(folder: Path) -> list[str]:
    """Return the photos in a folder, at any depth, as relative paths with slashes, sorted; of one photo its name."""
    if not folder.is_dir():
        return [folder.name]
    return sorted(file.relative_to(folder).as_posix() for file in _photos(folder))


def _photos(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        if file.suffix.lower() in IMAGE_SUFFIXES and not file.name.startswith(".") and file.is_file():
            yield file


def folder_of(path: Path) -> Path:
    """Return the folder that relative paths in a table start from.

    Examples
    --------
    >>> folder_of(Path("shop/orders.csv")).as_posix(), folder_of(Path("shop/red.jpg")).as_posix()
    ('shop', 'shop')
    """
    return path if path.is_dir() and suffix_of(path) == PHOTOS else files_of(path)[0].parent


def split_part(path: Path) -> tuple[Path, str | None]:
    """Return the file, and the name of its sheet or table, if one is named.

    Examples
    --------
    >>> split_part(Path("shop.db#orders"))[1], split_part(Path("a#b.csv"))[1]
    ('orders', None)
    """
    file, mark, part = str(path).rpartition("#")
    if mark and part and Path(file).suffix.lower() in WITH_PARTS:
        return Path(file), part
    return path, None


def with_part(path: Path, part: str | None, option: str) -> Path:
    """Return a path with the sheet or table that an option names."""
    if part is None:
        return path
    if suffix_of(path) not in WITH_PARTS:
        raise UsageError(f"{option} {part} names a part of an Excel or SQLite file, and {path} is none.")
    return Path(f"{split_part(path)[0]}#{part}")


def files_of(path: Path) -> list[Path]:
    """Return the files that a path stands for, in order; an error if a pattern matches none."""
    text = str(path)
    if split_part(path)[0].exists() or (_AND not in text and not glob.has_magic(text)):
        return [path]
    if _AND in text:
        return [file for part in text.split(_AND) for file in files_of(Path(part))]
    file, part = split_part(path)
    found = [Path(name) for name in sorted(glob.glob(str(file.expanduser()), recursive=True)) if Path(name).is_file()]
    if not found:
        raise DataError(f"No file matches {path}.")
    return [Path(f"{name}#{part}") if part else name for name in found]


def join_files(paths: Sequence[Path]) -> Path:
    """Return one path for several files; a short pattern, where it matches just these.

    Examples
    --------
    >>> str(join_files([Path("a.csv"), Path("b.csv")]))
    'a.csv + b.csv'
    """
    if len(paths) == 1:
        return paths[0]
    kinds = {suffix_of(path) for path in paths}
    if len(kinds) > 1:
        raise UsageError(f"Files of one table need to be of one kind; these are {', '.join(sorted(kinds))}.")
    folders = {path.parent for path in paths}
    if len(folders) == 1:
        endings = paths[0].suffixes[-2:] if paths[0].suffix in PACKED else paths[0].suffixes[-1:]
        pattern = folders.pop() / f"*{''.join(endings)}"
        if sorted(map(str, paths)) == sorted(glob.glob(str(pattern))):
            return pattern
    return Path(_AND.join(map(str, paths)))


def map_files(path: Path, change: Callable[[Path], Path]) -> Path:
    """Return a path with each of its files changed: moved to another folder, say."""
    return Path(_AND.join(str(change(Path(part))) for part in str(path).split(_AND)))


def name_of(path: Path) -> str:
    """Return what a table is called in headings and places: its file or files without folders."""
    parts = str(path).split(_AND)
    return _AND.join(Path(part).name for part in parts) if len(parts) <= 3 else f"{len(parts)} files"


def open_stream(path: Path) -> Any:
    """Open a file for reading bytes, unpacked if it is packed."""
    import io

    import pyarrow as pa

    return io.BufferedReader(pa.input_stream(str(path), compression="detect"))


def check_readable(path: Path) -> None:
    """Raise an error if a file is not there, or may not be read."""
    for one in files_of(path):
        file = split_part(one)[0]
        try:
            if file.is_dir() and file.suffix != ".zarr" and not is_photo_folder(file):
                raise DataError(f"{file} is a folder without photos; name a file.")
            if not file.is_dir():
                with file.open("rb"):
                    pass
        except OSError as error:
            raise DataError(f"{file} cannot be read: {error.strerror or error}.") from None


def import_extra(package: str, purpose: str, extra: str = "cli") -> Any:
    """Import a package of an extra; an error says how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise CommandError(f"{purpose}, which is not installed: pip install 'anchorview[{extra}]'") from None


def reads_as_number(cell: Any) -> bool:
    """Tell whether a cell can be read as a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def error_line(error: BaseException) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())


def check_names(names: Sequence[str], place: str) -> list[str]:
    """Return names of columns; an error if there are none, one repeats, or all are numbers."""
    if not any(names):
        raise DataError(f"{place} is empty; its first line must name the columns.")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{place}: line 1 names a column twice: {repeated[0]!r}; rename one of them.")
    if all(reads_as_number(name) for name in names):
        raise DataError(f"{place}: line 1 holds numbers only; it must name the columns.")
    return list(names)
