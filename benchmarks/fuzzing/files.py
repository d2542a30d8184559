"""Files that are cut, changed, malformed or of another kind, for `load_npz`, `load_mat` and tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import h5py
import mudata
import numpy as np
import pandas as pd
import scipy.io
from scipy import sparse

from anchorview import Views
from anchorview.datasets import load_npz
from anchorview.datasets._mat import load_mat

from .case import EITHER, REFUSE, WORK, Case
from .problems import check_fit, plant, quick, require

_N = 12
_ROWS = np.arange(_N * 3.0).reshape(_N, 3)
_LABELS = np.arange(_N) % 3
Writer = Callable[[Path], Path]


def npz(**entries: Any) -> Writer:
    def write(folder: Path) -> Path:
        np.savez(folder / "data.npz", **{key: value for key, value in entries.items() if value is not None})
        return folder / "data.npz"

    return write


def sparse_npz(change: Callable[[dict[str, Any]], Any], stored: Any = sparse.csr_matrix) -> Writer:
    """Write a sparse view beside the file, its parts changed."""

    def write(folder: Path) -> Path:
        path = npz(y=_LABELS)(folder)
        sparse.save_npz(folder / "data_v0.npz", stored(_ROWS))
        with np.load(folder / "data_v0.npz") as file:
            parts = dict(file)
        change(parts)
        np.savez(folder / "data_v0.npz", **parts)
        return path

    return write


def put(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda parts: parts.update({key: value})


def set_at(key: str, place: int, value: int) -> Callable[[dict[str, Any]], Any]:
    def change(parts: dict[str, Any]) -> None:
        parts[key] = parts[key].copy()
        parts[key][place] = value

    return change


def cell(*values: Any) -> np.ndarray:
    array = np.empty((1, len(values)), dtype=object)
    for place, value in enumerate(values):
        array[0, place] = value
    return array


def mat(**entries: Any) -> Writer:
    def write(folder: Path) -> Path:
        scipy.io.savemat(folder / "data.mat", entries)
        return folder / "data.mat"

    return write


def mat73(rows: Any = None, columns: Any = None, n_rows: int = _N) -> Writer:
    """Write a file of v7.3 with one sparse view of which indices or pointers are others."""

    def write(folder: Path) -> Path:
        matrix = sparse.csc_matrix(_ROWS)
        with h5py.File(folder / "data.mat", "w", userblock_size=512) as file:
            group = file.create_group("#refs#/a")
            group.attrs["MATLAB_sparse"] = n_rows
            group["data"] = matrix.data
            group["ir"] = matrix.indices if rows is None else rows(matrix.indices.copy())
            group["jc"] = matrix.indptr if columns is None else columns(matrix.indptr.copy())
            stored = file.create_dataset("X", (1, 1), dtype=h5py.ref_dtype)
            stored[0, 0] = group.ref
            file.create_dataset("Y", data=_LABELS[None, :].astype(float))
        with (folder / "data.mat").open("r+b") as stream:
            stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
        return folder / "data.mat"

    return write


def spoilt(write: Writer, how: str) -> Writer:
    """Cut a file off, or change bytes of it."""

    def change(folder: Path) -> Path:
        path = write(folder)
        data = bytearray(path.read_bytes())
        rng = np.random.default_rng(len(data))
        if how == "cut":
            data = data[: len(data) // 2]
        elif how == "emptied":
            data = bytearray()
        else:
            for place in rng.integers(0, len(data), 20):
                data[place] ^= 0xFF
        path.write_bytes(data)
        return path

    return change


def plain(name: str, content: bytes) -> Writer:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


_ALTERED = _ROWS.copy()
_ALTERED[2, 1] = np.nan
NPZ: dict[str, tuple[Writer, str]] = {
    "good": (npz(v0=_ROWS, v1=_ROWS[:, :2], y=_LABELS), WORK),
    "sparse": (sparse_npz(lambda parts: None), WORK),
    "no y": (npz(v0=_ROWS), REFUSE),
    "no view": (npz(y=_LABELS), REFUSE),
    "y too short": (npz(v0=_ROWS, y=_LABELS[:-1]), REFUSE),
    "y of 2-D": (npz(v0=_ROWS, y=np.zeros((_N, 2))), REFUSE),
    "y of 0-D": (npz(v0=_ROWS, y=np.array(3)), REFUSE),
    "view of 1-D": (npz(v0=_ROWS[:, 0], y=_LABELS), REFUSE),
    "view of 0-D": (npz(v0=np.array(1.0), y=_LABELS), REFUSE),
    "view of text": (npz(v0=_ROWS.astype(str), y=_LABELS), REFUSE),
    "view of complex": (npz(v0=_ROWS * 1j, y=_LABELS), REFUSE),
    "view of objects": (npz(v0=_ROWS.astype(object), y=_LABELS), REFUSE),
    "y of objects": (npz(v0=_ROWS, y=np.array(["a", None] * 6, dtype=object)), REFUSE),
    "a gap": (npz(v0=_ROWS, v2=_ROWS, y=_LABELS), REFUSE),
    "too few names": (npz(v0=_ROWS, v1=_ROWS, y=_LABELS, view_names=["a"]), REFUSE),
    "too many names": (npz(v0=_ROWS, y=_LABELS, view_names=["a", "b"]), REFUSE),
    "names alike": (npz(v0=_ROWS, v1=_ROWS, y=_LABELS, view_names=["a", "a"]), REFUSE),
    "names of 0-D": (npz(v0=_ROWS, y=_LABELS, view_names="a"), REFUSE),
    "names of 2-D": (npz(v0=_ROWS, y=_LABELS, view_names=[["a"]]), REFUSE),
    "no names": (npz(v0=_ROWS, y=_LABELS, view_names=np.array([], dtype=str)), REFUSE),
    "classes of 0-D": (npz(v0=_ROWS, y=_LABELS, classes="a"), REFUSE),
    "no rows": (npz(v0=_ROWS[:0], y=_LABELS[:0]), REFUSE),
    "no columns": (npz(v0=_ROWS[:, :0], y=_LABELS), REFUSE),
    "index too large": (sparse_npz(set_at("indices", 3, 10**6)), REFUSE),
    "index negative": (sparse_npz(set_at("indices", 3, -4)), REFUSE),
    "pointer too large": (sparse_npz(set_at("indptr", 3, 10**6)), REFUSE),
    "pointer falls": (sparse_npz(set_at("indptr", 3, 1)), REFUSE),
    "pointer negative": (sparse_npz(set_at("indptr", 3, -9)), REFUSE),
    "CSC index too large": (sparse_npz(set_at("indices", 3, 10**6), sparse.csc_matrix), REFUSE),
    "COO row too large": (sparse_npz(set_at("row", 3, 10**6), sparse.coo_matrix), REFUSE),
    "another shape": (sparse_npz(put("shape", np.array([_N, 1]))), REFUSE),
    "shape negative": (sparse_npz(put("shape", np.array([-1, 3]))), REFUSE),
    "another format": (sparse_npz(put("format", np.array(b"xyz"))), REFUSE),
    "data missing": (sparse_npz(lambda parts: parts.pop("data")), REFUSE),
    "cut": (spoilt(npz(v0=_ROWS, y=_LABELS), "cut"), REFUSE),
    "emptied": (spoilt(npz(v0=_ROWS, y=_LABELS), "emptied"), REFUSE),
    "bytes changed": (spoilt(npz(v0=_ROWS, y=_LABELS), "bytes"), EITHER),
    "text": (plain("data.npz", b"a,b\n1,2\n"), REFUSE),
    "npy": (plain("data.npz", b"\x93NUMPY\x01\x00"), REFUSE),
    "a zip of text": (plain("data.npz", b"PK\x05\x06" + bytes(18)), REFUSE),
    "not there": (lambda folder: folder / "nothing.npz", REFUSE),
    "a folder": (lambda folder: folder, REFUSE),
}
MAT: dict[str, tuple[Writer, str]] = {
    "good": (mat(X=cell(_ROWS, _ROWS[:, :2]), Y=_LABELS[:, None]), WORK),
    "v7.3": (mat73(), WORK),
    "no labels": (mat(X=cell(_ROWS)), REFUSE),
    "no views": (mat(Y=_LABELS), REFUSE),
    "rows differ": (mat(X=cell(_ROWS, _ROWS[:5]), Y=_LABELS), REFUSE),
    "labels differ": (mat(X=cell(_ROWS), Y=_LABELS[:7]), REFUSE),
    "labels NaN": (mat(X=cell(_ROWS), Y=np.where(_LABELS == 1, np.nan, _LABELS)), REFUSE),
    "labels infinite": (mat(X=cell(_ROWS), Y=np.where(_LABELS == 1, np.inf, _LABELS)), REFUSE),
    "labels of text": (mat(X=cell(_ROWS), Y=np.array(["a"] * _N)), REFUSE),
    "labels of 2-D": (mat(X=cell(_ROWS), Y=np.full((_N, 2), 7)), REFUSE),
    "labels complex": (mat(X=cell(_ROWS), Y=_LABELS * 1j), REFUSE),
    "views of text": (mat(X=cell("abc"), Y=_LABELS), REFUSE),
    "views empty": (mat(X=cell(np.empty((0, 0))), Y=_LABELS), REFUSE),
    "views complex": (mat(X=cell(_ROWS * 1j), Y=_LABELS), REFUSE),
    "views a struct": (mat(X=cell({"a": 1}), Y=_LABELS), REFUSE),
    "views 3-D": (mat(X=cell(_ROWS[:, :, None] * np.ones(2)), Y=_LABELS), REFUSE),
    "a cell in a cell": (mat(X=cell(cell(_ROWS, _ROWS)), Y=_LABELS), EITHER),
    "v7.3 index too large": (mat73(lambda ir: ir + 10**6), REFUSE),
    "v7.3 index negative": (mat73(lambda ir: ir - 50), REFUSE),
    "v7.3 pointers too large": (mat73(None, lambda jc: jc * 1000), REFUSE),
    "v7.3 pointers negative": (mat73(None, lambda jc: -jc), REFUSE),
    "v7.3 rows negative": (mat73(n_rows=-4), REFUSE),
    "v7.3 rows few": (mat73(n_rows=2), REFUSE),
    "cut": (spoilt(mat(X=cell(_ROWS), Y=_LABELS), "cut"), REFUSE),
    "v7.3 cut": (spoilt(mat73(), "cut"), REFUSE),
    "emptied": (spoilt(mat(X=cell(_ROWS), Y=_LABELS), "emptied"), REFUSE),
    "bytes changed": (spoilt(mat(X=cell(_ROWS), Y=_LABELS), "bytes"), EITHER),
    "v7.3 bytes changed": (spoilt(mat73(), "bytes"), EITHER),
    "text": (plain("data.mat", b"hello"), REFUSE),
    "not there": (lambda folder: folder / "nothing.mat", REFUSE),
    "a folder": (lambda folder: folder, REFUSE),
}
READERS: dict[str, Any] = {"load_npz": load_npz, "load_mat": load_mat}
PATHS: dict[str, Any] = {"None": None, "a number": 3, "bytes": b"x", "a list": ["data.npz"], "an array": _ROWS}


def make(rng: np.random.Generator) -> Case:
    """Read a file, or an object of another library."""
    draw = rng.random()
    if draw < 0.05:
        what = str(rng.choice(list(PATHS)))
        reader = str(rng.choice(["load_npz", "load_mat"]))
        return Case(f"{reader}({what})", lambda: READERS[reader](PATHS[what]), REFUSE, ("path", "file"))
    if draw < 0.8:
        reader, table = ("load_npz", NPZ) if draw < 0.45 else ("load_mat", MAT)
        what = str(rng.choice(list(table)))
        write, expect = table[what]

        def run() -> None:
            with tempfile.TemporaryDirectory() as folder:
                bunch = READERS[reader](write(Path(folder)))
                require(len(bunch.views) == len(bunch.target), "views and labels have different lengths")
                require(bunch.target.dtype.kind != "f" or bool(np.isfinite(bunch.target).all()), "a label is NaN")

        return Case(f"{reader}({what})", run, expect, ("data", "nothing", "view", "/"))
    return _table(rng)


def _table(rng: np.random.Generator) -> Case:
    """AnnData and MuData objects, whole and broken."""
    problem = plant(rng, n_views=2)
    cells = [f"s{i}" for i in range(len(problem.y))]
    obs = pd.DataFrame({"kind": np.array(list("abcdefgh"))[problem.truth]}, index=cells)
    parts = {n: anndata.AnnData(v, obs=pd.DataFrame(index=cells)) for n, v in problem.by_name.items()}
    single = anndata.AnnData(problem.views[0], obs=obs)
    single.obsm["X_other"] = problem.views[1]
    model = quick("FSSMSC", problem.n_classes)
    n = len(problem.y)
    made = {
        "AnnData": (single, WORK),
        "MuData": (mudata.MuData(parts), WORK),
        "MuData with fewer cells": (mudata.MuData({**parts, "part1": parts["part1"][: n - 4].copy()}), WORK),
        "AnnData with NaN": (_spoil(single), REFUSE),
        "AnnData without X": (anndata.AnnData(obs=obs), REFUSE),
        "AnnData with sparse X": (anndata.AnnData(sparse.csr_matrix(np.maximum(problem.views[0], 0)), obs=obs), WORK),
    }
    what = str(rng.choice(list(made)))
    X, expect = made[what]

    def run() -> None:
        Views(X)
        check_fit(model.fit(X, problem.y), X, n)

    return Case(f"FSSMSC.fit({what})", run, expect, ("view", "X", "NaN", "obsm"))


def _spoil(data: Any) -> Any:
    data = data.copy()
    data.X[3, 0] = np.nan
    return data
