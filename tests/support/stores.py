"""The same rows in every kind of store, for tests that must not notice the difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from anchorview import open_rows
from anchorview.engine.sources.opening import stored_form

Store = Callable[[np.ndarray, Path, int], Any]


def as_array(rows: np.ndarray, path: Path, chunk: int) -> Any:
    return rows


def as_memory_map(rows: np.ndarray, path: Path, chunk: int) -> Any:
    np.save(path.with_suffix(".npy"), rows)
    return np.load(path.with_suffix(".npy"), mmap_mode="r")


def as_npy(rows: np.ndarray, path: Path, chunk: int) -> Any:
    np.save(path.with_suffix(".npy"), rows)
    return open_rows(path.with_suffix(".npy"))


def as_npy_by_columns(rows: np.ndarray, path: Path, chunk: int) -> Any:
    return as_npy(np.asfortranarray(rows), path, chunk)


def as_csr(rows: np.ndarray, path: Path, chunk: int) -> Any:
    return sparse.csr_array(rows)


def as_csr_npz(rows: np.ndarray, path: Path, chunk: int) -> Any:
    sparse.save_npz(path.with_suffix(".npz"), sparse.csr_array(rows), compressed=False)
    return open_rows(path.with_suffix(".npz"))


def as_csr_folder(rows: np.ndarray, path: Path, chunk: int) -> Any:
    path.mkdir()
    matrix = sparse.csr_array(rows)
    for part in ("data", "indices", "indptr"):
        np.save(path / f"{part}.npy", getattr(matrix, part))
    np.save(path / "shape.npy", matrix.shape)
    return open_rows(path)


def as_csr_h5ad(rows: np.ndarray, path: Path, chunk: int) -> Any:
    import anndata

    anndata.AnnData(sparse.csr_matrix(rows)).write_h5ad(path.with_suffix(".h5ad"))
    return open_rows(path.with_suffix(".h5ad"))


def as_zarr(rows: np.ndarray, path: Path, chunk: int) -> Any:
    import zarr

    array = zarr.create_array(
        path.with_suffix(".zarr"), shape=rows.shape, chunks=(chunk, rows.shape[1]), dtype=rows.dtype
    )
    array[:] = rows
    return open_rows(path.with_suffix(".zarr"))


def as_hdf5(rows: np.ndarray, path: Path, chunk: int) -> Any:
    import h5py

    with h5py.File(path.with_suffix(".h5"), "w") as file:
        file.create_dataset("deep/rows", data=rows, chunks=(min(chunk, len(rows)), rows.shape[1]))
    return open_rows(path.with_suffix(".h5"), "deep/rows")


def as_parquet(rows: np.ndarray, path: Path, chunk: int) -> Any:
    """Write a folder: two files, and an empty one at the end."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    names = [f"feature{number}" for number in range(rows.shape[1])]
    for number, part in enumerate((rows[: len(rows) // 3], rows[len(rows) // 3 :], rows[:0])):
        table = pa.table([pa.array(column) for column in part.T], names=names)
        pq.write_table(table, path / f"part-{number}.parquet", row_group_size=chunk)
    return open_rows(path, columns=names)


def as_parquet_lists(rows: np.ndarray, path: Path, chunk: int) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    table = pa.table({"id": pa.array(range(len(rows))), "vector": lists})
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=chunk)
    return open_rows(path.with_suffix(".parquet"), columns="vector")


def dask_chunks(n_rows: int, chunk: int) -> tuple[int, ...]:
    """Return a chunk of that many rows, an empty one, and others: each costs Dask a millisecond or more per pass."""
    first = min(chunk, n_rows)
    return (first, 0, *(min(50, n_rows - start) for start in range(first, n_rows, 50)))


def as_dask(rows: np.ndarray, path: Path, chunk: int) -> Any:
    """Cut by rows and columns."""
    import dask.array as da

    return stored_form(da.from_array(rows, chunks=(dask_chunks(len(rows), chunk), 3)), path.stem)


def as_delayed_blocks(rows: np.ndarray, path: Path, chunk: int) -> Any:
    import dask

    cut = np.split(rows, np.cumsum(dask_chunks(len(rows), chunk)))
    return stored_form([dask.delayed(np.array)(part) for part in cut], path.stem)


def as_dask_csr(rows: np.ndarray, path: Path, chunk: int) -> Any:
    import dask.array as da

    array = da.from_array(rows, chunks=(dask_chunks(len(rows), chunk), rows.shape[1]))
    return stored_form(array.map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix((0, 0), dtype=rows.dtype)), path.stem)


DENSE: dict[str, Store] = {
    "array": as_array,
    "memory map": as_memory_map,
    "npy": as_npy,
    "npy by columns": as_npy_by_columns,
    "zarr": as_zarr,
    "hdf5": as_hdf5,
    "parquet": as_parquet,
    "parquet lists": as_parquet_lists,
    "dask": as_dask,
    "delayed blocks": as_delayed_blocks,
}
SPARSE: dict[str, Store] = {
    "csr": as_csr,
    "csr npz": as_csr_npz,
    "csr folder": as_csr_folder,
    "csr h5ad": as_csr_h5ad,
    "dask csr": as_dask_csr,
}


class CountingRows:
    """Rows that count how often each is read in order, and how often by number."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.n_read, self.n_taken = np.zeros(len(rows), dtype=int), np.zeros(len(rows), dtype=int)
        self.longest = 0

    def read(self, start: int, stop: int) -> np.ndarray:
        self.n_read[start:stop] += 1
        self.longest = max(self.longest, stop - start)
        return self.rows[start:stop].copy()

    def take(self, rows: np.ndarray) -> np.ndarray:
        self.n_taken[rows] += 1
        return self.rows[rows]
