"""Results of rows as files: a Parquet file, or a folder with one `.npy` a column, that appear when they are whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.files import check_output, replacing
from ..core.folders import NewFolder
from ..core.no_space import naming_file
from ..engine.sources.optional import load_optional

Columns = Mapping[str, npt.NDArray[Any]]  # of the same rows: one-dimensional, or with one column per class

_OWN = frozenset(f"{name}.npy" for name in ("id", "label", "confidence", "probability", "embedding"))


def as_plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return Python objects as text, which any reader of the files knows; anything else as it is."""
    return values.astype(str) if values.dtype == object else values


def is_parquet(path: Path) -> bool:
    """Tell which form a path asks for: one Parquet file by its ending, else a folder of `.npy` files."""
    return path.suffix in (".parquet", ".pq")


def check_target(path: Path, overwrite: bool) -> None:
    """Raise an error, before any work, if a result cannot go to a path."""
    check_output(path, overwrite=overwrite, folder=not is_parquet(path))
    others = sorted(item.name for item in path.iterdir() if item.name not in _OWN) if path.is_dir() else []
    if others:
        raise FileExistsError(
            f"The folder {path} holds other files than results ({', '.join(others[:3])}), so it is not replaced; "
            "choose another path."
        )
    if is_parquet(path):
        load_optional("pyarrow", "parquet", str(path))


def write_columns(path: Path, parts: Iterable[Columns], n_rows: int, overwrite: bool) -> None:
    """Write columns of consecutive rows, part by part, to a file or folder that gets its name when it is whole."""
    if is_parquet(path):
        return _write_parquet(path, parts, overwrite)
    with naming_file(path), NewFolder(path, overwrite) as folder:
        _write_npy(folder.path, parts, n_rows)
        folder.finish()


def _write_parquet(path: Path, parts: Iterable[Columns], overwrite: bool) -> None:
    pyarrow, parquet = (load_optional(name, "parquet", str(path)) for name in ("pyarrow", "pyarrow.parquet"))
    with replacing(path, overwrite=overwrite) as stream, ExitStack() as stack:
        writer = None
        for part in parts:
            table = pyarrow.table({name: pyarrow.array(values) for name, values in _flatten(part).items()})
            if writer is None:
                writer = stack.enter_context(parquet.ParquetWriter(stream, table.schema))
            writer.write_table(table.cast(writer.schema))


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
    with ExitStack() as stack:
        files: dict[str, Any] = {}
        dtypes: dict[str, np.dtype[Any]] = {}
        for part in parts:
            for name, values in part.items():
                if name not in files:
                    files[name] = stack.enter_context((folder / f"{name}.npy").open("wb"))
                    dtypes[name] = values.dtype
                    descr, shape = np.lib.format.dtype_to_descr(values.dtype), (n_rows, *values.shape[1:])
                    header = {"descr": descr, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(files[name], header)
                files[name].write(np.ascontiguousarray(values, dtype=dtypes[name]).tobytes())
