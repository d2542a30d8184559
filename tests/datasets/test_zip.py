"""npz files that say they hold more than they should."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from scipy import sparse

from anchorview.datasets import _npz, _zip, load_npz

Y = np.arange(6) % 2


def write(path: Path, **entries: np.ndarray) -> None:
    """Write a compressed npz file; an entry "bomb" of zeros is some MB, written without holding it in memory."""
    np.savez_compressed(path, **{key: value for key, value in entries.items() if value.nbytes < 1_000_000})
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        for key, value in entries.items():
            if value.nbytes >= 1_000_000:
                head = io.BytesIO()
                np.save(head, value)
                archive.writestr(f"{key}.npy", head.getvalue())


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 MB stand for 2 GB, so that the test is fast; the rule is the same."""
    monkeypatch.setattr(_zip, "_LARGE", 3_000_000)


def test_what_is_not_needed_stays_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.npz", y=Y, v0=np.ones((6, 2)), junk=np.zeros(500_000))
    read: list[str] = []
    original = np.lib.npyio.NpzFile.__getitem__
    monkeypatch.setattr(
        np.lib.npyio.NpzFile, "__getitem__", lambda self, key: (read.append(key), original(self, key))[1]
    )
    assert load_npz(tmp_path / "a.npz").data[0].shape == (6, 2)
    assert sorted(read) == ["v0", "y"]


def test_a_bomb_is_refused_before_it_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.npz", y=Y, v0=np.zeros((6, 90_000)))
    monkeypatch.setattr(np.lib.format, "read_array", lambda *args, **options: pytest.fail("it was expanded"))
    with pytest.raises(ValueError, match=r"a\.npz: 0\.0 MB unpack to 0\.0 GB \(most of it 'v0\.npy'\).*zip bomb"):
        load_npz(tmp_path / "a.npz")


def test_what_packs_as_data_does_is_read(tmp_path: Path) -> None:
    view = np.random.default_rng(0).normal(size=(6, 70_000))
    write(tmp_path / "a.npz", y=Y, v0=view)
    np.testing.assert_array_equal(load_npz(tmp_path / "a.npz").data[0], view)


def test_more_than_there_is_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", y=Y, v0=np.ones((6, 1000)))
    monkeypatch.setattr(_zip, "available_memory", lambda: 40_000)
    with pytest.raises(ValueError, match="more than the 0.0 GB of memory that are free"):
        load_npz(tmp_path / "a.npz")


def test_sparse_views_beside_the_file_are_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", y=Y, view_names=["words"])
    empty = sparse.csr_matrix((np.zeros(400_000), np.zeros(400_000, np.int32), [0] + [400_000] * 6), (6, 3))
    sparse.save_npz(tmp_path / "a_v0.npz", empty)
    with pytest.raises(ValueError, match=r"a_v0\.npz.*zip bomb"):
        load_npz(tmp_path / "a.npz")
    assert _npz.check_sizes is _zip.check_sizes
