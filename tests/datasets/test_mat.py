"""The field's .mat files, v5 and v7.3, as they are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview.datasets._mat import load_mat
from support.mat_files import write_v5, write_v73

N = 12
RNG = np.random.default_rng(0)
VIEWS = [RNG.normal(size=(N, 3)), RNG.normal(size=(N, 20)), RNG.normal(size=(N, N))]  # narrow, wide, square
CLASSES = np.repeat([4, 7, 9], 4)


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
