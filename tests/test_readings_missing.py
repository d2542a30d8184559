"""Readings of the products with the landmarks, of rows that lack views: from fit to predict, and from file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anchorview
from anchorview import FSSMSC, AnchorViewClassifier, Views, open_rows
from support.settled import CHOSEN


def build(readers: Any, **options: Any) -> FSSMSC:
    return FSSMSC(**CHOSEN).set_params(n_landmarks=150, random_state=0, readers=readers, **options)


@pytest.fixture(scope="module")
def half(digits: Any) -> np.ndarray:
    """Which cells there are: half of them, and one of each row at least."""
    rng = np.random.default_rng(0)
    present = rng.random((2000, 6)) >= 0.6
    present[np.arange(2000), rng.integers(6, size=2000)] = True
    return present


def accuracy(model: Any, digits: Any, y: np.ndarray) -> float:
    return float((model.labels_ == digits.target)[y < 0].mean())


@pytest.mark.parametrize(
    ("readers", "least"), [("linear", 0.86), ("poisson", 0.89), (("nearest", "linear", "poisson"), 0.9)]
)
def test_half_of_the_views_are_enough(
    digits: Any, digits_y: np.ndarray, half: np.ndarray, readers: Any, least: float
) -> None:
    """Where what rows lack was not filled in, this gave 0.75, 0.59 and 0.88."""
    views = Views(digits.data, mask=half)
    model = build(readers).fit(views, digits_y)
    assert accuracy(model, digits, digits_y) > least
    hidden = digits_y < 0
    np.testing.assert_array_equal(model.predict(views)[hidden], model.labels_[hidden])
    np.testing.assert_allclose(model.predict_proba(views)[hidden].max(axis=1), model.confidence_[hidden], atol=1e-9)


def test_a_model_of_complete_rows_reads_rows_that_lack_views(
    digits: Any, digits_y: np.ndarray, half: np.ndarray
) -> None:
    model = build(("linear", "poisson")).fit(digits.views, digits_y)
    assert (model.predict(Views(digits.data, mask=half)) == digits.target).mean() > 0.88
    complete = Views(digits.data, mask=np.ones((2000, 6), dtype=bool))
    np.testing.assert_array_equal(model.predict_proba(complete), model.predict_proba(digits.views))


@pytest.mark.parametrize("readers", ["poisson", ("nearest", "linear")])
def test_from_memory_from_files_and_from_a_saved_model(
    digits: Any, digits_y: np.ndarray, half: np.ndarray, readers: Any, tmp_path: Path
) -> None:
    views = Views(digits.data, mask=half)
    model = build(readers).fit(views, digits_y)
    expected = model.predict_proba(views)
    for number, array in enumerate(digits.data):
        np.save(tmp_path / f"{number}.npy", array)
    stored = Views([open_rows(tmp_path / f"{number}.npy") for number in range(6)], mask=half)
    in_files = build(readers, solver__memory_limit=0).fit(stored, digits_y)
    assert "Codes are kept in files" in in_files.status_
    np.testing.assert_array_equal(in_files.labels_, model.labels_)
    np.testing.assert_array_equal(in_files.predict_proba(stored), expected)
    anchorview.save(model, tmp_path / "m.anchorview")
    for other in (anchorview.load(tmp_path / "m.anchorview"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(views), expected)
    np.testing.assert_array_equal(build(readers, n_jobs=2).fit(views, digits_y).labels_, model.labels_)


def test_the_average_of_many_settings_is_the_same_from_fit_and_file(
    digits: Any, digits_y: np.ndarray, half: np.ndarray, tmp_path: Path
) -> None:
    rows = np.arange(0, 2000, 4)
    views, y = Views(digits.data, mask=half)[rows], digits.target[rows].copy()
    y[np.arange(len(rows)) % 5 > 0] = -1
    options = {"heavy_ridges": (), "ridges": (), "dense_scalings": ("minmax",)}
    model = AnchorViewClassifier(
        n_landmarks=60, n_averaged=8, n_splits=3, n_repeats=1, random_state=0, search_options=options
    )
    model.fit(views, y)
    assert "graph" in {member.reader.reads for member in model._model.members}  # or this tests nothing
    hidden = y < 0
    np.testing.assert_array_equal(model.predict(views)[hidden], model.labels_[hidden])
    expected = model.predict_proba(views)
    anchorview.save(model, tmp_path / "m.anchorview")
    for other in (anchorview.load(tmp_path / "m.anchorview"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(views), expected)
