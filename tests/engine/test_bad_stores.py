"""Stores that are damaged, disagree, change or cannot be written: errors that name them, and nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from anchorview import FSSMSC, Views, datasets, open_rows
from anchorview.engine.sources.base import SourceError, as_stored
from anchorview.export import predict_to, save_results
from support.processes import run
from support.settled import settle
from support.stores import DENSE, SPARSE, CountingRows, as_hdf5, as_npy, as_parquet, as_zarr

ROWS = np.random.default_rng(0).random((60, 4), dtype=np.float32)
MADE = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)


def fit(views: Any, y: Any = MADE.target, **options: Any) -> FSSMSC:
    return settle(n_landmarks=10, n_jobs=1, random_state=0, **options).fit(views, y)


def cut_off(path: Path, part: float) -> None:
    with path.open("r+b") as stream:
        stream.truncate(int(path.stat().st_size * part))


def test_stores_that_disagree_in_rows_are_named(tmp_path: Path) -> None:
    stored = {"image": as_npy(ROWS, tmp_path / "a", 0), "text": as_parquet(ROWS[:50], tmp_path / "b", 10)}
    with pytest.raises(ValueError, match=r"View 'text' \(.*/b\) has 50 rows but view 'image' \(.*/a.npy\) has 60"):
        Views(stored)


def test_a_store_of_other_features_than_the_fit_is_named(tmp_path: Path) -> None:
    model = fit([ROWS])
    with pytest.raises(ValueError, match=r"view 'view0' \(.*wide.npy\) has 5 and was fitted with 4"):
        model.predict([as_npy(np.ones((9, 5), np.float32), tmp_path / "wide", 0)])


def test_files_of_a_folder_that_disagree_are_named(tmp_path: Path) -> None:
    as_parquet(ROWS, tmp_path / "rows", 10)
    other = pa.table({f"feature{number}": pa.array([1, 2]) for number in range(4)})
    pq.write_table(other, tmp_path / "rows" / "part-9.parquet")
    with pytest.raises(ValueError, match=r"'feature0' is float in .*part-0.parquet but int64 in .*part-9.parquet"):
        open_rows(tmp_path / "rows")
    pq.write_table(other.select(["feature1"]), tmp_path / "rows" / "part-9.parquet")
    with pytest.raises(ValueError, match="'feature0' is float in .* but no such column in .*part-9.parquet"):
        open_rows(tmp_path / "rows")


def test_columns_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    lists = pa.array([[1.0], [2.0, 3.0]])
    pq.write_table(pa.table({"id": ["a", "b"], "x": [1, None], "n": [1, 2], "v": lists}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'id' is string, which is no number; name the columns .*columns="):
        open_rows(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="lists of column 'v' may differ in length"):
        open_rows(tmp_path / "t.parquet", columns="v")
    with pytest.raises(ValueError, match="has no column 'y'; it has id, x, n, v"):
        open_rows(tmp_path / "t.parquet", columns=["y"])
    np.testing.assert_array_equal(open_rows(tmp_path / "t.parquet", columns=["x", "n"])[:], [[1, 1], [np.nan, 2]])
    assert open_rows(tmp_path / "t.parquet", columns=["n"]).dtype == np.int64


@pytest.mark.parametrize("kind", ["npy", "parquet lists", "csr npz"])
def test_a_file_that_is_cut_off_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rows"
    stored = {**DENSE, **SPARSE}[kind](ROWS, path, 10)
    file = next(tmp_path.glob("rows*"))
    cut_off(file, 0.6)
    with pytest.raises(SourceError, match=rf"{file.name}.* has changed since it was opened"):
        stored.check_unchanged()
    with pytest.raises(SourceError, match=file.name):
        stored.read(0, 60)
    with pytest.raises(ValueError, match=rf"{file.name}.* is (no complete|cut off)"):
        open_rows(file)


def test_an_hdf5_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["rows"] = ROWS
    cut_off(tmp_path / "rows.h5", 0.6)
    with pytest.raises(ValueError, match="rows.h5 is no complete HDF5 file"):
        open_rows(tmp_path / "rows.h5", "rows")


def test_a_damaged_part_of_a_file_is_named_by_its_rows(tmp_path: Path) -> None:
    as_parquet(ROWS, tmp_path / "rows", 10)
    path = tmp_path / "rows" / "part-1.parquet"
    content = bytearray(path.read_bytes())
    content[200:900] = bytes(700)  # the footer is whole, so the file can be opened
    path.write_bytes(content)
    stored = open_rows(tmp_path / "rows")
    np.testing.assert_array_equal(stored.read(0, 20), ROWS[:20])
    with pytest.raises(SourceError, match=r"Rows 0 to 59 of .*rows cannot be read: .*may be cut off, or damaged"):
        stored.read(0, 60)


def test_matrices_that_are_not_rows(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(ROWS))
    with pytest.raises(ValueError, match="a.npz is compressed, .*compressed=False"):
        open_rows(tmp_path / "a.npz")
    sparse.save_npz(tmp_path / "a.npz", sparse.csc_array(ROWS), compressed=False)
    with pytest.raises(ValueError, match="a.npz holds a csc matrix, .*save matrix.tocsr"):
        open_rows(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", rows=ROWS)
    with pytest.raises(ValueError, match="a.npz has no data, indices, indptr, shape, so it is no CSR matrix"):
        open_rows(tmp_path / "a.npz")
    matrix = sparse.csr_array(ROWS)
    folder = tmp_path / "folder"
    folder.mkdir()
    parts = {"data": matrix.data, "indices": matrix.indices + 2, "indptr": matrix.indptr, "shape": matrix.shape}
    for name, values in parts.items():
        np.save(folder / f"{name}.npy", values)
    with pytest.raises(SourceError, match="Rows 0 to 59 of .*folder cannot be read: a column lies outside"):
        open_rows(folder).read(0, 60)
    np.save(folder / "indptr.npy", matrix.indptr[:-1])
    with pytest.raises(ValueError, match="folder is a malformed sparse matrix: its indptr does not cut 240 entries"):
        open_rows(folder)


def test_places_in_files_are_listed(tmp_path: Path) -> None:
    as_hdf5(ROWS, tmp_path / "rows", 10)
    with pytest.raises(ValueError, match=r"key= says which dataset to read; .*rows.h5 has deep/rows\."):
        open_rows(tmp_path / "rows.h5")
    with pytest.raises(ValueError, match=r"rows.h5 has no 'deep/row'; .*has deep/rows\."):
        open_rows(tmp_path / "rows.h5", "deep/row")
    import zarr

    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    group.create_array("image", shape=(3, 2), dtype="f4")
    with pytest.raises(ValueError, match="key= says which array to read; .*g.zarr has image"):
        open_rows(tmp_path / "g.zarr")
    with pytest.raises(ValueError, match="g.zarr has no array 'text'; it has image"):
        open_rows(tmp_path / "g.zarr", "text")
    assert open_rows(tmp_path / "g.zarr", "image").shape == (3, 2)


def test_a_zarr_chunk_that_is_rewritten_is_noticed(tmp_path: Path) -> None:
    stored = as_zarr(ROWS, tmp_path / "rows", 10)
    stored.check_unchanged()
    import zarr

    zarr.open_array(tmp_path / "rows.zarr", mode="r+")[3] = 7
    with pytest.raises(SourceError, match="rows.zarr has changed"):
        fit([stored])


def test_a_store_that_vanishes(tmp_path: Path) -> None:
    stored = as_npy(ROWS, tmp_path / "rows", 0)
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(SourceError, match="rows.npy cannot be read any more"):
        fit([stored])


def test_a_source_that_gives_other_rows_than_it_says() -> None:
    source = CountingRows(ROWS)
    source.shape = (80, 4)
    with pytest.raises(SourceError, match=r"X gave \(0, 4\) for rows 70 to 79 of \(80, 4\)"):
        as_stored(source, "X").read(70, 80)


def test_packages_that_are_not_there_are_named(tmp_path: Path) -> None:
    """In an interpreter that cannot import them; without them, everything else works."""
    as_parquet(ROWS, tmp_path / "rows", 10)
    as_zarr(ROWS, tmp_path / "rows", 10)
    as_hdf5(ROWS, tmp_path / "rows", 10)
    code = f"""
import json, sys
sys.modules.update(dict.fromkeys(("pyarrow", "zarr", "h5py")))
from anchorview import open_rows
said = []
for name in ("rows", "rows.zarr", "rows.h5"):
    try:
        open_rows({str(tmp_path)!r} + "/" + name)
    except ModuleNotFoundError as error:
        said.append(str(error))
print(json.dumps(said))
"""
    said = json.loads(run([sys.executable, "-c", code]).stdout)
    for text, extra in zip(said, ("parquet", "zarr", "hdf5"), strict=True):
        assert f'pip install "anchorview[{extra}]"' in text and "rows" in text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB; only the administrator may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_ends_the_work_and_leaves_nothing_half_written(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fit(MADE.views)
    views = Views([np.tile(array, (200, 1)) for array in MADE.views.arrays])  # 12,000 rows
    for name in ("out.parquet", "out"):
        path = small_disk / name
        with pytest.raises(OSError, match=rf"{name}.* cannot be written: no space is left .* is unchanged"):
            predict_to(model, views, path, block_rows=2000)
        assert not path.exists()
        shutil.rmtree(small_disk / f"{name}.parts")
    y = np.where(np.arange(12_000) < 60, np.tile(MADE.target, 200), -1)
    large = fit(views, y)
    with pytest.raises(OSError, match=r"out cannot be written: no space is left on the disk"):
        save_results(large, small_disk / "out")
    assert os.listdir(small_disk) == []
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with pytest.raises(SourceError, match="Codes cannot be written to .*No space left.*TMPDIR"):
        fit(views, y, solver__memory_limit=0)
    assert os.listdir(small_disk) == []


def test_a_folder_that_cannot_be_written_to(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    model = fit(MADE.views)
    with pytest.raises(PermissionError, match="The folder .*disk cannot be written to; choose another path"):
        predict_to(model, MADE.views, small_disk / "out")
    with pytest.raises(PermissionError, match="The folder .*disk cannot be written to"):
        save_results(model, small_disk / "out")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is open to the administrator")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    as_npy(ROWS, tmp_path / "rows", 0)
    (tmp_path / "rows.npy").chmod(0)
    with pytest.raises(PermissionError, match="rows.npy"):
        open_rows(tmp_path / "rows.npy")
