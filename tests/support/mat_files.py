"""Files as MATLAB writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from scipy import sparse


def write_v5(path: Path, entries: dict[str, Any]) -> None:
    def cell(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        array = np.empty((1, len(value)), dtype=object)
        for number, item in enumerate(value):
            array[0, number] = cell(item)
        return array

    scipy.io.savemat(path, {key: cell(value) for key, value in entries.items()})


def write_v73(path: Path, entries: dict[str, Any]) -> None:
    """Write what MATLAB writes: HDF5 behind a header of 512 bytes, arrays transposed, cells as references."""
    h5py = pytest.importorskip("h5py")

    with h5py.File(path, "w", userblock_size=512) as file:

        def put(name: str, value: Any) -> Any:
            if isinstance(value, list):
                items = [put(f"#refs#/{name.replace('/', '_')}{i}", item).ref for i, item in enumerate(value)]
                stored = file.create_dataset(name, (len(items), 1), dtype=h5py.ref_dtype)
                stored[:, 0] = items
                stored.attrs["MATLAB_class"] = np.bytes_("cell")
                return stored
            if sparse.issparse(value):
                columns = sparse.csc_matrix(value)
                group = file.create_group(name)
                group.attrs["MATLAB_sparse"] = columns.shape[0]
                group["data"], group["ir"], group["jc"] = columns.data, columns.indices, columns.indptr
                return group
            return file.create_dataset(name, data=np.atleast_2d(value).T)

        for key, value in entries.items():
            put(key, value)
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
