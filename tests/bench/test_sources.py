"""Data sets found in folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from anchorview.bench.sources import find_sources
from support.mat_files import write_v5

N = 12
RNG = np.random.default_rng(0)
VIEWS = [RNG.normal(size=(N, 3)), RNG.normal(size=(N, 20)), RNG.normal(size=(N, N))]  # narrow, wide, square
CLASSES = np.repeat([4, 7, 9], 4)


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
