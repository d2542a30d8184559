"""One view from a file: .npy, .npz, .mat, .h5ad, .h5mu, zarr, or columns of a table."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...files.sources import LINES, TABLES, check_readable, files_of, suffix_of
from ...files.tables import FIRST_LINE, table_names
from ..errors import CommandError, DataError
from ..view_spec import ViewSpec, choose_columns
from .columns import read_columns

FILES = (*TABLES, ".npy", ".npz", ".mat", ".h5ad", ".h5mu", ".zarr")


@dataclass(frozen=True)
class Loaded:
    """A view as its file has it: rows, names of the features, ids of the rows, and where it came from."""

    array: Any
    features: list[Any] | None
    ids: npt.NDArray[Any] | None
    place: str


def load_view(spec: ViewSpec, id_column: str | None, reserved: Sequence[str]) -> Loaded:
    """Read the view that a spec names from its file.

    Parameters
    ----------
    spec : ViewSpec
        With a path.
    id_column : str, optional
        The column of ids, in tables that have it.
    reserved : sequence of str
        Columns that are no features.
    """
    assert spec.path is not None
    path, suffix = spec.path, suffix_of(spec.path)
    check_readable(path)
    if suffix in TABLES:
        return _from_table(spec, path, id_column, reserved)
    try:
        if suffix in (".h5ad", ".h5mu"):
            return _from_annotated(spec, path)
        array = {".npy": _load_npy, ".npz": _load_npz, ".mat": _load_mat, ".zarr": _load_zarr}[suffix](
            path, spec.selector
        )
    except (ValueError, OSError, KeyError, EOFError, BadZipFile, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    return Loaded(_check_matrix(array, str(path)), None, None, str(path))


def load_annotated(path: Path) -> Any:
    """Read an .h5ad or .h5mu file."""
    check_readable(path)
    package = "anndata" if path.suffix.lower() == ".h5ad" else "mudata"
    try:
        import importlib

        module = importlib.import_module(package)
    except ImportError:
        raise CommandError(f"{path} needs the package {package}: pip install 'anchorview[{package}]'") from None
    try:
        return module.read_h5ad(path) if package == "anndata" else module.read(path)
    except Exception as error:  # h5py and anndata raise all kinds of errors on files of other programs
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())[:300]}") from None


def table_ids(table: Any, column: str, place: str, start: int = 0) -> npt.NDArray[Any]:
    """Return the ids of a table's rows as text; an error if one is missing or repeats. Its first row is row `start`."""
    ids = ["" if value is None else str(value).strip() for value in table.column(column).to_pylist()]
    lines = suffix_of(Path(place)) in LINES[:2] and files_of(Path(place)) == [Path(place)]
    for row, value in enumerate(ids):
        if not value:
            raise DataError(f"{place}: {_at(start + row, lines)} has no id in column {column!r}; give each row an id.")
    if len(set(ids)) < len(ids):
        first: dict[str, int] = {}
        repeated = [(value, row) for row, value in enumerate(ids) if first.setdefault(value, row) != row]
        value, row = repeated[0]
        raise DataError(
            f"{place}: column {column!r} repeats {len({value for value, _ in repeated})} of its ids, first {value!r} "
            f"({_at(start + first[value], lines)} and {_at(start + row, lines)}); each row needs an id of its own."
        )
    return np.array(ids, dtype=str)


def _at(row: int, lines: bool) -> str:
    return f"line {row + FIRST_LINE}" if lines else f"row {row}"


def _from_table(spec: ViewSpec, path: Path, id_column: str | None, reserved: Sequence[str]) -> Loaded:
    names = table_names(path)
    columns = choose_columns(spec.selector, names, spec.name, str(path), reserved)
    with_ids = [id_column] if id_column is not None and id_column in names else []
    arrays, table = read_columns(path, {spec.name: columns}, with_ids)
    ids = table_ids(table, with_ids[0], str(path)) if with_ids else None
    matrix = arrays[spec.name]
    return Loaded(matrix, columns if matrix.shape[1] == len(columns) else None, ids, str(path))


def _from_annotated(spec: ViewSpec, path: Path) -> Loaded:
    from ...data.views import Views

    views = Views(load_annotated(path), views=[spec.selector] if spec.selector else None)
    if len(views.names) > 1:
        raise DataError(f"{path} holds {len(views.names)} views; name one: {spec.name}={path}:{views.names[0]}.")
    ids = None if views.ids is None else np.array([str(value) for value in views.ids.tolist()], dtype=str)
    array = views.arrays[0]
    if views.present is not None:  # cells that a modality lacks
        ids, array = (None if ids is None else ids[views.present[:, 0]]), array[views.present[:, 0]]
    return Loaded(array, views.features[0], ids, str(path))


def _load_npy(path: Path, selector: str) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _load_npz(path: Path, selector: str) -> Any:
    with np.load(path, allow_pickle=False) as stored:
        if not hasattr(stored, "files"):
            raise ValueError("it is no .npz file.")
        if {"indices", "indptr", "shape"} <= set(stored.files):
            return sparse.csr_array(sparse.load_npz(path))
        keys = [selector] if selector else stored.files
        if len(keys) != 1 or keys[0] not in stored.files:
            what = f"it has no array {selector!r}" if selector else f"it holds {len(keys)} arrays"
            raise ValueError(f"{what}; name one of {', '.join(stored.files)}: NAME={path}:{stored.files[0]}.")
        return stored[keys[0]]


def _load_mat(path: Path, selector: str) -> Any:
    from ...datasets._mat import read_entries

    entries = {key: value for key, value in read_entries(path).items() if getattr(value, "ndim", 0) == 2}
    keys = [selector] if selector else [key for key, value in entries.items() if min(value.shape) > 1]
    if len(keys) != 1 or keys[0] not in entries:
        listed = ", ".join(entries) or "none"
        raise ValueError(f"name the matrix to read, as in NAME={path}:X; it has {listed}.")
    return entries[keys[0]]


def _load_zarr(path: Path, selector: str) -> Any:
    try:
        import zarr
    except ImportError:
        raise CommandError(f"{path} needs the package zarr: pip install zarr") from None
    opened: Any = zarr.open(str(path), mode="r")
    if selector:
        opened = opened[selector]
    if not hasattr(opened, "shape"):
        keys = list(opened.array_keys())
        raise ValueError(
            f"it is a group; name one of its arrays ({', '.join(keys)}): NAME={path}:{(keys or ['…'])[0]}."
        )
    return opened[:]


def _check_matrix(array: Any, place: str) -> Any:
    shape, kind = array.shape, array.dtype.kind
    if len(shape) != 2 or kind not in "fiub":
        raise DataError(
            f"{place} holds an array of shape {shape} and type {array.dtype}; a view is a 2-D array of numbers."
        )
    if shape[0] == 0 or shape[1] == 0:
        raise DataError(f"{place} holds an array of shape {shape}, which is empty.")
    return array
