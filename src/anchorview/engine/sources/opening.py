"""`open_rows`: one view from any store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .base import StoredRows, as_stored
from .csr import CsrFiles
from .dask_rows import from_array, from_delayed
from .hdf5 import SUFFIXES, from_item, open_hdf5
from .npy import NpyRows
from .parquet import ParquetRows
from .zarr import MARKS, ZarrRows, open_zarr


def open_rows(store: Any, key: str | None = None, *, columns: str | Sequence[str] | None = None) -> StoredRows:
    """Open the rows of one view where they are kept, to be read block by block and never as a whole.

    Parameters
    ----------
    store : path or object
        A file or folder: ``.npy``; ``.npz`` of a CSR matrix, as ``scipy.sparse.save_npz(..., compressed=False)`` writes
        it, or a folder with its arrays ``data.npy``, ``indices.npy``, ``indptr.npy``, ``shape.npy``; ``.h5``,
        ``.h5ad`` and ``.h5mu`` (needs h5py); a zarr folder (needs zarr); a ``.parquet`` file, or a folder of such
        (needs pyarrow). Or an h5py dataset, a zarr array, a dask array, a list of delayed blocks of Dask, or anything
        that has `shape`, `dtype`, `read(start, stop)` and `take(rows)`.
    key : str, optional
        Which dataset of the file or folder: ``"X"`` (the default for ``.h5ad``), ``"obsm/X_pca"``, ``"mod/rna/X"``.
    columns : str or sequence of str, optional
        Of Parquet: the columns of the view, or the one column that holds lists of a fixed size; by default all columns.

    Returns
    -------
    StoredRows
        To be given as a view, alone, in a list or dict, or in :class:`Views`. It has `shape` and `dtype`; indexing
        reads rows into memory. The store must not change while it is in use: this is checked.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from anchorview import Views, open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/image.npy", np.arange(12.0).reshape(4, 3))
    ...     views = Views({"image": open_rows(f"{folder}/image.npy")})
    ...     print(views, views[1:3].arrays[0].tolist())
    Views(4 rows; image: 3) [[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
    """
    if isinstance(store, str | os.PathLike):
        return _open_path(Path(store), key, columns)
    found = stored_form(store, "X")
    if found is None or key is not None or columns is not None:
        raise TypeError(
            f"Cannot open {type(store).__name__}; give a path, an h5py dataset, a zarr array, or an object with shape, "
            "dtype, read and take. Arrays in memory are views as they are; key= and columns= belong to paths."
        )
    return found


def is_path(view: Any) -> bool:
    """Tell a path object, or text that names a file or folder that is there."""
    return isinstance(view, os.PathLike) or (isinstance(view, str) and os.path.exists(view))


def stored_form(view: Any, name: str) -> StoredRows | None:
    """Return a path, h5py dataset, zarr array or other row source as `StoredRows`; None for anything else."""
    if isinstance(view, StoredRows):
        return view
    if isinstance(view, str | os.PathLike):
        if not os.path.exists(view):
            which = "X" if name == "X" else f"View {name!r}"
            raise FileNotFoundError(
                f"{which} is {str(view)!r}, but there is no file or folder of this name; give its path, or an array."
            )
        return open_rows(view)
    if is_delayed(view):
        return from_delayed(view if isinstance(view, list | tuple) else [view], name)
    package, _, module = type(view).__module__.partition(".")
    if package == "dask" and module.startswith("array"):
        return from_array(view, name)
    if package in ("dask", "dask_expr"):
        raise TypeError(
            f"View {name!r} is a {type(view).__name__} of Dask; a DataFrame becomes an array by "
            "to_dask_array(lengths=True)."
        )
    if package == "h5py":
        return from_item(view)
    if package == "zarr" and hasattr(view, "chunks"):
        return ZarrRows(view)
    if package == "anndata" and hasattr(view, "group"):  # the sparse matrix of a backed object
        return from_item(view.group)
    found = as_stored(view, name)
    return found if isinstance(found, StoredRows) else None


def is_delayed(view: Any) -> bool:
    """Tell a delayed block of Dask, or a list of such."""
    if isinstance(view, list | tuple):
        return len(view) > 0 and all(is_delayed(part) and not isinstance(part, list | tuple) for part in view)
    return type(view).__module__ == "dask.delayed"


def _open_path(path: Path, key: str | None, columns: str | Sequence[str] | None) -> StoredRows:
    """Open a path by what it is."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    if path.is_dir():
        names = set(os.listdir(path))
        if names & set(MARKS):
            return open_zarr(path, key)
        if "indptr.npy" in names:
            return CsrFiles(path)
        return ParquetRows(path, columns)
    with path.open("rb"):  # a file without permission is named here, whatever would read it
        pass
    if path.suffix == ".npy":
        return NpyRows(path)
    if path.suffix == ".npz":
        return CsrFiles(path)
    if path.suffix in SUFFIXES:
        return open_hdf5(path, key)
    if path.suffix in (".parquet", ".pq"):
        return ParquetRows(path, columns)
    raise ValueError(
        f"{path} is of no kind that can be opened: .npy, .npz, .h5, .hdf5, .h5ad, .h5mu, .parquet, or a folder of "
        "zarr, Parquet or CSR arrays."
    )
