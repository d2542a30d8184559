"""What runs in a child process: which rows are scored, and the choice by hidden labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anchorview.bench.jobs import choose_setting, fit_once
from anchorview.bench.methods import METHODS
from anchorview.datasets import hide_labels, load_npz, make_multiview_subspaces
from anchorview.metrics import clustering_report


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Data that no method labels without mistakes."""
    made = make_multiview_subspaces(150, 3, (6, 5), noise=1.0, random_state=0)
    path = tmp_path / "made.npz"
    np.savez(path, v0=made.data[0], v1=made.data[1], y=made.target, view_names=["a", "b"])
    return str(path)


def report(target: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {name: 100 * value for name, value in clustering_report(target, labels).items()}


def test_only_rows_whose_label_was_hidden_are_scored(place: str) -> None:
    data = load_npz(place)
    y = hide_labels(data.target, 0.4, random_state=3)
    labels = METHODS["Logistic"].make({"C": 1.0}, 3, 3).fit(data.views, y).labels_
    found = fit_once(place, "Logistic", {"C": 1.0}, seed=3, fraction=0.4)
    expected = report(data.target[y == -1], labels[y == -1])
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["acc"] < report(data.target, labels)["acc"] - 3


def test_methods_without_labels_are_scored_on_all_rows_there_too(place: str) -> None:
    data = load_npz(place)
    labels = METHODS["k-means"].make({}, 3, 3).fit(data.views).labels_
    found = fit_once(place, "k-means", {}, seed=3, fraction=0.4)
    expected = report(data.target, labels)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_hidden_labels_choose_the_setting_that_guesses_most(place: str) -> None:
    """A regression that may not learn says one class of all rows."""
    settings = [{"C": 1e-9}, {"C": 1.0}]
    found = choose_setting(place, "Logistic", settings, seed=0, fraction=0.4)
    shares = [choose_setting(place, "Logistic", [s, s], seed=0, fraction=0.4)["hidden_acc"] for s in settings]
    assert shares[0] < shares[1] - 5
    assert found["parameters"] == settings[1] and found["hidden_acc"] == shares[1]
