"""Figures of data sets and methods with any name."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

from anchorview.report.figures import draw_convergence, draw_curves, draw_heat_maps, draw_times

NASTY = [r"$\frac{$", r"\$a$_b$^{", "long " * 40]


def test_any_name_can_be_drawn(tmp_path: Path) -> None:
    draw_heat_maps({name: np.array([[1.0, np.nan]]) for name in NASTY}, [1.0], [0.1, 0.2], tmp_path / "maps")
    curves = {name: {name: [1.0, None]} for name in NASTY}
    draw_curves(curves, [1.0, 2.0], tmp_path / "curves", xlabel="x", ylabel="y")
    history = {"residual": [1.0, 0.1], "objective": [2.0, 1.0]}
    draw_convergence({name: {"admm": history} for name in NASTY}, tmp_path / "convergence")
    draw_times({name: {name: [(100, 1.0, 0.5), (200, 2.0, 1.0)]} for name in NASTY}, tmp_path / "times")
    names = {f"{what}.{kind}" for what in ("maps", "curves", "convergence", "times") for kind in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_name_is_drawn_as_it_is(tmp_path: Path) -> None:
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw_curves({r"$\frac{$ x": {"a": [1.0]}}, [1.0], tmp_path / "f", xlabel="x", ylabel="y")
    assert r"$\frac{$ x" in (tmp_path / "f.svg").read_text()


def test_nothing_to_draw_is_an_empty_figure(tmp_path: Path) -> None:
    """As when every run has failed."""
    draw_heat_maps({"a": np.full((2, 2), np.nan)}, [1.0, 2.0], [0.1, 0.2], tmp_path / "maps")
    draw_curves({"a": {"FSSMSC": [None, None]}}, [1.0, 2.0], tmp_path / "curves", xlabel="x", ylabel="y")
    draw_convergence({}, tmp_path / "convergence")
    draw_times({"a": {"FSSMSC": []}}, tmp_path / "times")
    assert len(list(tmp_path.iterdir())) == 8
