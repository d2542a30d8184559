"""`anchorview data`: what the paper's data sets are, and whether a file is one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from anchorview.app.cli import app
from anchorview.bench.registry import REGISTRY, find_entry
from support.mat_files import write_v5, write_v73

N = 12
RNG = np.random.default_rng(0)
VIEWS = [RNG.normal(size=(N, 3)), RNG.normal(size=(N, 20)), RNG.normal(size=(N, N))]  # narrow, wide, square
CLASSES = np.repeat([4, 7, 9], 4)


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


def test_no_file_ends_in_a_traceback(tmp_path: Path) -> None:
    """Files that cannot be read are named with the reason, one line each; the others are read."""
    views, rows = {"v0": np.ones((6, 2)), "v1": np.ones((6, 3))}, np.arange(6) % 2
    np.savez(tmp_path / "good.npz", y=rows, **views)
    np.savez(tmp_path / "objects.npz", y=np.array([None] * 6, dtype=object), **views)
    np.savez(tmp_path / "none.npz", y=np.zeros(0, dtype=int), v0=np.ones((0, 2)))
    np.savez(tmp_path / "table.npz", y=rows[:, None], **views)
    np.savez(tmp_path / "flat.npz", y=rows, v0=np.ones(6))
    np.savez(tmp_path / "[bold]words.npz", y=rows, v0=np.array([["a"]] * 6))
    whole = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "flipped.npz").write_bytes(whole[:150] + bytes(8) + whole[158:])
    (tmp_path / "empty.mat").write_bytes(b"")
    checked = CliRunner().invoke(app, ["data", "check", str(tmp_path)])
    assert checked.exit_code == 1
    said = checked.output.splitlines()
    assert len(said) == 9
    assert sum("NOT readable. " in line for line in said) == 8
    assert all(str(tmp_path) in line for line in said)
    assert "good.npz: OK, readable" in checked.output
    listed = CliRunner().invoke(app, ["data", "list", str(tmp_path / "cut.npz")])
    assert listed.exit_code == 1
    assert listed.output.startswith("cut: ")
    odd = CliRunner().invoke(app, ["data", "check", str(tmp_path / "good.npz" / "x")])
    assert odd.exit_code == 2
    assert "does not exist" in odd.output
