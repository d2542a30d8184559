"""Results of rows as files: a Parquet file, or a folder with one `.npy` a column, that appear when they are whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.sources.optional import load_optional

Columns = Mapping[str, npt.NDArray[Any]]  # of the same rows: one-dimensional, or with one column per class

_OWN = frozenset(f"{name}.npy" for name in ("id", "label", "confidence", "probability", "embedding"))


def as_plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return Python objects as text, which any reader of the files knows; anything else as it is."""
    return values.astype(str) if values.dtype == object else values


@contextmanager
def naming_path(path: Path, what: str) -> Iterator[None]:
    """Say in errors of the system what could not be written, and where."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is None:
            raise
        raise type(error)(
            error.errno, f"{what} cannot be written to {path}: {error.strerror}. What was there before is unchanged"
        ) from error


def is_parquet(path: Path) -> bool:
    """Tell which form a path asks for: one Parquet file by its ending, else a folder of `.npy` files."""
    return path.suffix in (".parquet", ".pq")


def check_target(path: Path, overwrite: bool) -> None:
    """Raise an error, before any work, if a result cannot go to a path."""
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already; pass overwrite=True to replace it, or another path.")
    strange = [item.name for item in path.iterdir() if item.name not in _OWN] if path.is_dir() else []
    if strange:
        raise FileExistsError(
            f"The folder {path} holds other files than results ({', '.join(sorted(strange)[:3])}), so it is not "
            "replaced; choose another path."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to; create it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder {path.parent} cannot be written to; choose another path.")
    if is_parquet(path):
        load_optional("pyarrow", "parquet", str(path))


def write_columns(path: Path, parts: Iterable[Columns], n_rows: int, scratch: Path | None = None) -> None:
    """Write columns, part by part, under another name, and give them their name when they are whole.

    Parameters
    ----------
    path : Path
        The file or folder; what is there is replaced.
    parts : iterable of mapping
        Columns of consecutive rows, at least one part.
    n_rows : int
        Rows of all parts together.
    scratch : Path, optional
        Folder on the same file system for what is not whole; by default one beside `path`, which is removed.
    """
    with naming_path(path, "Results"):
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent if scratch is None else scratch))
        try:
            whole = folder / "whole"
            (_write_parquet if is_parquet(path) else _write_npy)(whole, parts, n_rows)
            if path.is_dir():
                os.rename(path, folder / "before")
            os.replace(whole, path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _write_parquet(path: Path, parts: Iterable[Columns], n_rows: int) -> None:
    pyarrow, parquet = (
        load_optional("pyarrow", "parquet", str(path)),
        load_optional("pyarrow.parquet", "parquet", str(path)),
    )
    writer = None
    try:
        for part in parts:
            flat = _flatten(part)
            table = pyarrow.table({name: pyarrow.array(values) for name, values in flat.items()})
            if writer is None:
                writer = parquet.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _flatten(part: Columns) -> dict[str, npt.NDArray[Any]]:
    """Give every column of a two-dimensional one a name of its own."""
    flat: dict[str, npt.NDArray[Any]] = {}
    for name, values in part.items():
        if values.ndim == 1:
            flat[name] = values
        else:
            flat.update({f"{name}{number}": column for number, column in enumerate(values.T)})
    return flat


def _write_npy(folder: Path, parts: Iterable[Columns], n_rows: int) -> None:
    folder.mkdir()
    files: dict[str, Any] = {}
    dtypes: dict[str, np.dtype[Any]] = {}
    try:
        for part in parts:
            for name, values in part.items():
                if name not in files:
                    files[name], dtypes[name] = (folder / f"{name}.npy").open("wb"), values.dtype
                    shape = (n_rows, *values.shape[1:])
                    header = {
                        "descr": np.lib.format.dtype_to_descr(values.dtype),
                        "fortran_order": False,
                        "shape": shape,
                    }
                    np.lib.format.write_array_header_1_0(files[name], header)
                files[name].write(np.ascontiguousarray(values, dtype=dtypes[name]).tobytes())
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
    finally:
        for file in files.values():
            file.close()
