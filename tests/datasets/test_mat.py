"""The field's .mat files, v5 and v7.3, as they are published; and the registry of the paper's data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from scipy import sparse
from typer.testing import CliRunner

from anchorview.app.cli import app
from anchorview.bench.registry import REGISTRY, differences, find_entry, match
from anchorview.bench.sources import find_sources
from anchorview.datasets._mat import load_mat

N = 12
RNG = np.random.default_rng(0)
VIEWS = [RNG.normal(size=(N, 3)), RNG.normal(size=(N, 20)), RNG.normal(size=(N, N))]  # narrow, wide, square
CLASSES = np.repeat([4, 7, 9], 4)


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


WRITERS = [write_v5, write_v73]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("views_key", ["X", "fea"])
@pytest.mark.parametrize("labels_key", ["Y", "y", "gt", "truth"])
@pytest.mark.parametrize("in_rows", [True, False])
def test_names_versions_and_orientations(
    tmp_path: Path, write: Any, views_key: str, labels_key: str, in_rows: bool
) -> None:
    path = tmp_path / "a.mat"
    views = [view if in_rows else view.T for view in VIEWS[:2]]
    write(path, {views_key: views, labels_key: CLASSES[:, None] if in_rows else CLASSES[None, :]})
    data = load_mat(path)
    for found, view in zip(data.data, VIEWS, strict=False):
        np.testing.assert_array_equal(found, view)
    np.testing.assert_array_equal(data.target, np.repeat([0, 1, 2], 4))
    assert data.target_names == ["4", "7", "9"]
    assert len(data.views) == N


@pytest.mark.parametrize("write", WRITERS)
def test_sparse_views_one_hot_labels_and_nested_cells(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "a.mat"
    words = sparse.random(N, 30, 0.2, random_state=0, format="csc")
    one_hot = np.eye(3)[np.repeat([0, 1, 2], 4)]
    write(path, {"X": [[words.T, VIEWS[2]]], "Y": one_hot, "name": np.array([[1.0]])})
    data = load_mat(path)
    assert sparse.issparse(data.data[0])
    np.testing.assert_array_equal(data.data[0].toarray(), words.toarray())
    np.testing.assert_array_equal(data.data[1], VIEWS[2])  # square: taken as it is
    np.testing.assert_array_equal(data.target, np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize("write", WRITERS)
def test_labels_repeated_for_each_view(tmp_path: Path, write: Any) -> None:
    write(tmp_path / "a.mat", {"X": VIEWS[:2], "Y": [CLASSES[:, None], CLASSES[:, None]]})
    assert len(load_mat(tmp_path / "a.mat").target) == N


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"X": VIEWS[:2], "Y": CLASSES[:-1, None]}, "View 0 .* 12×3 but there are 11 labels"),
        ({"X": VIEWS[:2]}, "no labels named Y, y, gt, truth; it holds X"),
        ({"Y": CLASSES[:, None], "Z": VIEWS[0]}, "no cell array of views named X or x or fea; it holds Y, Z"),
        ({"X": VIEWS[:2], "Y": np.full((N, 3), 2.0)}, "one label per sample, or one-hot rows"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_told(tmp_path: Path, write: Any, entries: Any, message: str) -> None:
    write(tmp_path / "a.mat", entries)
    with pytest.raises(ValueError, match=message):
        load_mat(tmp_path / "a.mat")


@pytest.mark.parametrize("write", WRITERS)
def test_cut_off_files_are_told_from_whole_ones(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "a.mat"
    write(path, {"X": [RNG.normal(size=(N, 500)) for _ in range(4)], "Y": CLASSES[:, None]})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file.*Download it again"):
        load_mat(path)


def test_files_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_text("a,b\n1,2\n" * 100)
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
        load_mat(tmp_path / "a.mat")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_mat(tmp_path / "b.mat")


def test_registry_has_the_papers_sizes() -> None:
    sizes = {entry.name: (entry.n_rows, entry.n_features) for entry in REGISTRY}
    assert sizes["Caltech101"] == (9144, 3766)
    assert sizes["NUS"] == (30000, 639)
    assert sizes["Youtube"] == (101499, 2125)
    assert sizes["HW"] == (2000, 649)
    assert sizes["Caltech7"] == (1474, 3766)
    assert len(REGISTRY) == 7
    for entry in REGISTRY:
        assert differences(entry, entry.n_rows, entry.view_sizes[::-1], entry.n_classes) == []
        assert all(find_entry(file) is entry for file in entry.files)


def test_registry_says_what_differs() -> None:
    nus = find_entry("nuswideobj")
    assert nus is not None
    assert differences(nus, 30000, (64, 225, 144, 73, 128), 31) == []  # the other published copy
    found = differences(nus, 26315, (64, 225, 144, 73, 129), 30)
    assert found == [
        "26,315 rows instead of 30,000",
        "view sizes 64, 225, 144, 73, 129 instead of 65, 226, 145, 74, 129",
        "30 classes instead of 31",
    ]
    assert match("whatever", 2000, (6, 47, 64, 76, 216, 240), 10)[0] is find_entry("hw")
    assert match("hw", 2000, (6, 47, 64, 76, 216, 240), 9) == (None, False)


def test_folders_of_files(tmp_path: Path) -> None:
    write_v5(tmp_path / "a.mat", {"X": VIEWS[:2], "Y": CLASSES[:, None]})
    np.savez(tmp_path / "news.npz", y=CLASSES, view_names=["words"])
    sparse.save_npz(tmp_path / "news_v0.npz", sparse.random(N, 30, 0.2, format="csr"))
    assert [source.name for source in find_sources([tmp_path])] == ["a", "news"]
    assert [source.name for source in find_sources([tmp_path], ["news"])] == ["news"]
    assert find_sources([tmp_path / "news.npz"])[0].describe().is_sparse
    with pytest.raises(ValueError, match="no data set 'b'; there are a, news"):
        find_sources([tmp_path], ["b"])
    with pytest.raises(ValueError, match="two data sets named 'a'"):
        find_sources([tmp_path, tmp_path / "a.mat"])


def test_fingerprints_tell_data_of_one_size_apart(tmp_path: Path) -> None:
    for name, shift in (("a", 0.0), ("b", 1e-3)):
        write_v5(tmp_path / f"{name}.mat", {"X": [view + shift for view in VIEWS[:2]], "Y": CLASSES[:, None]})
    first, second = (source.describe() for source in find_sources([tmp_path]))
    assert first.fingerprint != second.fingerprint


def test_data_commands(tmp_path: Path) -> None:
    run = CliRunner().invoke
    listed = run(app, ["data", "list"])
    assert listed.exit_code == 0
    assert all(entry.name in listed.output for entry in REGISTRY)

    write_v5(tmp_path / "Caltech101-7.mat", {"X": VIEWS[:2], "Y": CLASSES[:, None]})
    write_v73(tmp_path / "mine.mat", {"X": VIEWS[:2], "Y": CLASSES[:, None]})
    sizes = find_entry("hw").view_sizes  # type: ignore[union-attr]
    hw = {"X": [np.ones((2000, size), dtype=np.float32) for size in sizes], "gt": np.repeat(range(10), 200)[:, None]}
    write_v5(tmp_path / "handwritten.mat", hw)
    (tmp_path / "broken.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(128, b"\1") + b"\7" * 40)
    here = run(app, ["data", "list", str(tmp_path)])
    assert here.exit_code == 0
    assert "handwritten: 2,000 rows" in here.output
    assert "the paper's HW" in here.output
    checked = run(app, ["data", "check", str(tmp_path)])
    assert checked.exit_code == 1
    assert "NOT the paper's Caltech7: 12 rows instead of 1,474; 2 views" in checked.output
    assert "handwritten.mat: OK, the paper's HW" in checked.output
    assert "mine.mat: OK, readable; not one of the paper's" in checked.output
    assert "broken.mat: NOT readable" in checked.output
    assert run(app, ["data", "check", str(tmp_path / "mine.mat")]).exit_code == 0
    missing = run(app, ["data", "check", str(tmp_path / "nowhere")])
    assert missing.exit_code == 2
    assert "does not exist" in missing.output
