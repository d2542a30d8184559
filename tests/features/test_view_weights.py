"""Weights of views: how they are read, what the scaled rows carry, and views that are copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.core.checks import ViewWeightsRule
from anchorview.features.products import ViewCrossProducts
from anchorview.features.scaling import fit_scaling
from anchorview.features.view_weights import normalise, read_view_weights, weigh_copies
from anchorview.solver.grams import PatternGrams

NAMES = ["image", "text"]


def draw(n_rows: int = 60, *sizes: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n_rows, size)) for size in sizes]


@pytest.mark.parametrize("value", ["equal", 3.0, [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], {"text": "much"}, [True, 1.0]])
def test_what_is_no_weight_is_an_error_that_names_it(value: Any) -> None:
    for estimator in (FSSMSC, AnchorViewClassifier):
        with pytest.raises(ValueError, match="view_weights"):
            estimator(view_weights=value).fit(draw(20, 3, 2), np.arange(20) % 2)


def test_weights_must_fit_the_views() -> None:
    with pytest.raises(ValueError, match=r"lists 3 weights for 2 views"):
        read_view_weights(NAMES, [1, 1, 2])
    with pytest.raises(ValueError, match=r"not there: \['sound'\]; the views are \['image', 'text'\]"):
        read_view_weights(NAMES, {"sound": 2})


def test_only_ratios_matter_and_weights_of_mean_one_stay_to_the_bit() -> None:
    ViewWeightsRule().check("view_weights", np.array([2.0, 6.0]))
    once = read_view_weights(NAMES, np.array([0.2, 0.6]))
    assert once == pytest.approx((0.5, 1.5)) and read_view_weights(NAMES, list(once or ())) == once
    assert normalise([0.1, 0.1, 0.1]) is None


@pytest.mark.parametrize("scaling", ["minmax", "l2", "none"])
def test_a_view_of_weight_w_has_w_times_its_part_in_every_product(scaling: str) -> None:
    dense, counts = np.abs(draw(40, 5)[0]), sparse.random_array((40, 7), density=0.4, rng=1, format="csr")
    views, weights = Views([dense, counts]), (1.6, 0.4)
    plain, weighted = (fit_scaling(views, scaling, view_weights=each) for each in (None, weights))
    for first, second in (((plain, weighted)), (plain.of_view(1), weighted.of_view(1))):
        part = views if len(first.sizes) == 2 else views.select(["view1"])
        rows, scaled = first.read(part, slice(0, 40)).dense(), second.read(part, slice(0, 40)).dense()
        factors = np.repeat(np.sqrt(weights[-len(first.sizes) :]), first.sizes)
        np.testing.assert_allclose(scaled, rows * factors, rtol=1e-6)


def test_a_row_that_lacks_views_counts_those_it_has_by_their_weights() -> None:
    views, present = Views(draw(30, 4, 3, 2)), np.ones((30, 3), dtype=bool)
    present[:10, 1] = False
    scaler = fit_scaling(views, "minmax", present=present, view_weights=(1.5, 1.2, 0.3))
    rows = scaler.read(views, slice(0, 30), present).dense()
    landmarks = rows[10:16]
    cross = ViewCrossProducts(views, scaler, landmarks, present=present)
    np.testing.assert_allclose(cross.read(cross.blocks[0])[:10], rows[:10] @ landmarks.T * 3 / 1.8, rtol=1e-6)
    grams = PatternGrams(landmarks, scaler.sizes, landmarks @ landmarks.T, scaler.view_weights)
    own = landmarks[:, [0, 1, 2, 3, 7, 8]]
    np.testing.assert_allclose(grams.of(present[0]), own @ own.T * 3 / 1.8)


def test_copies_are_told_from_views_of_the_same_rows(digits: Any) -> None:
    first, second = draw(300, 6, 6)
    texts = sparse.random_array((300, 50), density=0.1, rng=2, format="csr")
    copy = first[:, ::-1] * np.arange(1, 7)
    assert weigh_copies(Views([first, second, copy])) == pytest.approx((0.75, 1.5, 0.75))
    assert weigh_copies(Views([texts, 3 * texts, texts.toarray()])) is None  # all are one view: equal weights
    assert weigh_copies(Views([texts, 3 * texts, first])) == pytest.approx((0.75, 0.75, 1.5))
    wide = [array[:, :6] for array in digits.views.arrays]  # views of the same digits, of as many features
    assert weigh_copies(Views(wide)) is None
    noisy = first + 0.5 * second
    assert weigh_copies(Views([first, noisy])) is None and weigh_copies(Views([first, second])) is None


def test_copies_are_found_on_the_rows_that_have_both() -> None:
    first, second = draw(100, 6, 6)
    present = np.random.default_rng(1).random((100, 3)) < 0.6
    present[~present.any(axis=1)] = True
    filled = [np.where(present[:, number, None], each, np.nan) for number, each in enumerate((first, first, second))]
    assert weigh_copies(Views(filled), present) == pytest.approx((0.75, 0.75, 1.5))


def test_wide_noise_is_no_copy_of_other_noise() -> None:
    assert weigh_copies(Views(draw(100, 5000, 5000))) is None
