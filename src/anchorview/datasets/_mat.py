"""Read the field's .mat files as they are published: views in a cell array, labels beside it, v5 or v7.3."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import Bunch

from ..data.matrices import checked_csr
from ._bunch import check_finite_labels, existing_file, make_bunch

VIEW_KEYS = ("X", "x", "fea", "data", "views", "features")
LABEL_KEYS = ("Y", "y", "gt", "truth", "gnd", "label", "labels")
_HDF5 = b"\x89HDF\r\n\x1a\n"


def load_mat(path: str | os.PathLike[str]) -> Bunch:
    """Load a multi-view data set from a .mat file, of MATLAB v5 or v7.3 (the latter needs ``h5py``).

    It holds a cell array ``X`` or ``fea`` with one matrix per view, samples in rows or in columns, and the labels as
    ``Y``, ``y``, ``gt`` or ``truth``: numbers, one-hot rows, or one copy per view. The result is what
    `anchorview.datasets.load_npz` gives, with samples in rows; classes are numbers 0, 1, …

    Examples
    --------
    >>> import tempfile, numpy as np, scipy.io
    >>> cell = np.empty((1, 2), dtype=object)
    >>> cell[0, 0], cell[0, 1] = np.ones((3, 2)), np.ones((4, 3))  # the second has its samples in columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(folder + "/tiny.mat", {"X": cell, "gt": [[1], [2], [2]]})
    ...     tiny = load_mat(folder + "/tiny.mat")
    >>> [view.shape for view in tiny.data], tiny.target.tolist()
    ([(3, 2), (3, 4)], [0, 1, 1])
    """
    path = existing_file(path)
    entries = read_entries(path)
    views = _find_views(entries, path)
    values, classes = _find_labels(entries, path)
    data = [_samples_in_rows(view, len(values), number, path) for number, view in enumerate(views)]
    names = [f"view{number}" for number in range(len(data))]
    return make_bunch(data, values, names, classes, f"Multi-view data read from {path}.")


def read_entries(path: Path) -> dict[str, Any]:
    """Return the variables; cells are lists, matrices arrays or CSR matrices."""
    with path.open("rb") as stream:
        head = stream.read(520)
    is_hdf5 = head.startswith((b"MATLAB 7.3", _HDF5)) or head[512:520] == _HDF5
    try:
        return _read_hdf5(path) if is_hdf5 else _read_v5(path)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # scipy and h5py raise all kinds of errors on broken files
        raise ValueError(
            f"{path} cannot be read as a MATLAB file ({type(error).__name__}: {error}); it may be cut off or of "
            "another kind. Download it again."
        ) from error


def _read_v5(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    return {key: _plain(value) for key, value in loadmat(path).items() if not key.startswith("__")}


def _is_sparse(value: Any) -> bool:
    return bool(sparse.issparse(value))


def _plain(value: Any) -> Any:
    """Turn object arrays (cells) into lists, sparse matrices into CSR."""
    if _is_sparse(value):
        return sparse.csr_matrix(checked_csr(value, "of the file"))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_plain(item) for item in value.ravel(order="F")]
    return value


def _read_hdf5(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"{path} is a file of MATLAB v7.3, which needs one more package: pip install 'anchorview[bench]'"
        ) from None

    def read(item: Any) -> Any:
        if isinstance(item, h5py.Group):
            if "MATLAB_sparse" in item.attrs:
                n_rows, pointers = int(item.attrs["MATLAB_sparse"]), item["jc"][()]
                values, rows = (item["data"][()], item["ir"][()]) if "data" in item else (np.empty(0), np.empty(0, int))
                columns = sparse.csc_matrix((values, rows, pointers), (n_rows, len(pointers) - 1))
                return sparse.csr_matrix(checked_csr(columns, item.name))
            return {key: read(value) for key, value in item.items()}
        if item.attrs.get("MATLAB_empty"):
            return np.empty((0, 0))
        if item.dtype == h5py.ref_dtype:
            return [read(item.file[reference]) for reference in item[()].ravel()]
        return item[()].T  # MATLAB stores columns first

    with h5py.File(path, "r") as file:
        return {key: read(item) for key, item in file.items() if not key.startswith("#")}


def _find_views(entries: dict[str, Any], path: Path) -> list[Any]:
    for key in VIEW_KEYS:
        value = entries.get(key)
        if isinstance(value, list) and value:
            while len(value) == 1 and isinstance(value[0], list):  # a cell within a cell
                value = value[0]
            return [_check_matrix(view, number, path) for number, view in enumerate(value)]
    raise ValueError(
        f"{path} has no cell array of views named {' or '.join(VIEW_KEYS[:3])}; it holds {', '.join(sorted(entries))}."
    )


def _check_matrix(view: Any, number: int, path: Path) -> Any:
    if _is_sparse(view):
        return view
    if not isinstance(view, np.ndarray) or view.ndim != 2 or view.dtype.kind not in "fiub" or view.size == 0:
        what = f"an array of shape {view.shape}" if isinstance(view, np.ndarray) else f"a {type(view).__name__}"
        raise ValueError(f"View {number} of {path} is {what}, not a matrix of numbers.")
    return view


def _find_labels(entries: dict[str, Any], path: Path) -> tuple[npt.NDArray[np.int64], list[str]]:
    for key in LABEL_KEYS:
        if key not in entries:
            continue
        value = entries[key]
        while isinstance(value, list) and value:  # one copy of the labels per view
            value = value[0]
        if _is_sparse(value):
            value = value.toarray()
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "fiub":
            return _encode(value, key, path)
    raise ValueError(f"{path} has no labels named {', '.join(LABEL_KEYS[:4])}; it holds {', '.join(sorted(entries))}.")


def _encode(value: npt.NDArray[Any], key: str, path: Path) -> tuple[npt.NDArray[np.int64], list[str]]:
    if value.ndim == 2 and min(value.shape) > 1:
        table = value if value.shape[0] >= value.shape[1] else value.T
        if not (np.isin(table, (0, 1)).all() and (table.sum(axis=1) == 1).all()):
            raise ValueError(
                f"{key} of {path} has shape {value.shape}; it needs one label per sample, or one-hot rows."
            )
        return table.argmax(axis=1).astype(np.int64), [str(number) for number in range(table.shape[1])]
    labels = value.ravel()
    check_finite_labels(labels, f"{key} of {path}")
    classes, class_ids = np.unique(labels, return_inverse=True)
    return class_ids.astype(np.int64), [f"{value:g}" for value in classes]


def _samples_in_rows(view: Any, n: int, number: int, path: Path) -> Any:
    """Turn a view so that its rows are the samples; a square one is taken as it is."""
    if view.shape[0] == n:
        return view
    if view.shape[1] == n:
        return sparse.csr_matrix(view.T) if _is_sparse(view) else np.ascontiguousarray(view.T)
    raise ValueError(
        f"View {number} of {path} has shape {view.shape[0]}×{view.shape[1]} but there are {n} labels; "
        "every view needs one row (or column) per label."
    )
