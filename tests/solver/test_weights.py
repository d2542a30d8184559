"""Weights in units of the data mean the same for any number of views and any features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from anchorview import ADMM, FSSMSC, ActiveSet, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.features.representation import represent
from anchorview.features.scaling import fit_scaling
from anchorview.solver.weights import DEFAULTS, for_codes, for_labels, measure_codes, measure_units, to_paper_weights

CHOSEN: dict[str, Any] = {"scaling": "none", "ridge": 2.0, "must_link_weight": 3.0, "coupling": 0.0}
CHOSEN["readers"] = "nearest"


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(200, 3, (8, 6), noise=0.3, dtype="float64", random_state=0)
    return Bunch(**made, y=hide_labels(made.target, 0.2, stratified=True, random_state=0))


def fit(views: Any, y: Any, **parameters: Any) -> FSSMSC:
    return FSSMSC(**{"n_landmarks": 40, "random_state": 0, "n_jobs": 1, **CHOSEN, **parameters}).fit(views, y)


def test_units_are_means_of_rows_and_landmarks() -> None:
    rng = np.random.default_rng(0)
    landmarks, rows = rng.normal(size=(7, 4)) + 3, rng.normal(size=(20, 4)) + 3
    gram, cross, weights = landmarks @ landmarks.T, rows @ landmarks.T, rng.uniform(size=20)
    units = measure_units(gram, cross, weights)
    assert units.correlation == pytest.approx(np.average(cross.max(axis=1), weights=weights))
    assert units.distance == pytest.approx(((landmarks - landmarks.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert for_codes(0.1, 2.0, units) == (0.1 * units.correlation, 2 * units.distance)


def test_what_labels_weigh_goes_by_the_length_of_codes() -> None:
    codes = sparse.csr_array(np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 0.1]]))
    sizes = measure_codes(codes)
    assert sizes.nonzeros == 1.5 and sizes.squares == pytest.approx((0.5 + 0.01) / 2)
    assert measure_codes(codes, np.array([0.0, 2.0])).squares == pytest.approx(0.01)
    must, coupling = for_labels(3.0, 0.1, 3, sizes.squares)
    assert must == pytest.approx(9 / 0.255) and must * coupling == pytest.approx(0.1)
    assert for_labels(3.0, 0.1, 3, 0.0) == (9.0, pytest.approx(0.1 / 9))  # codes that are all zero have no length


def test_units_where_nothing_differs() -> None:
    units = measure_units(np.ones((3, 3)), np.full((2, 3), -1.0))
    assert (units.correlation, units.distance) == (0.0, 0.0)
    assert measure_units(np.eye(3), np.empty((0, 3))).correlation == 0.0


def test_a_view_given_twice_changes_nothing(data: Any) -> None:
    """With the weights of the paper it would: the data term is twice as large."""
    once, twice = fit(data.data, data.y), fit([*data.data, *data.data], data.y)
    np.testing.assert_allclose(once.codes_.toarray(), twice.codes_.toarray(), atol=1e-4)
    np.testing.assert_array_equal(once.labels_, twice.labels_)
    paper = [
        fit(views, data.y, solver=ActiveSet(units="paper"), ridge=2.0)
        for views in (data.data, [*data.data, *data.data])
    ]
    assert np.abs(paper[0].codes_ - paper[1].codes_).max() > 0.01


@pytest.mark.parametrize("factor", [1e-3, 30.0])
def test_nor_does_the_unit_of_the_features(data: Any, factor: float) -> None:
    plain, scaled = fit(data.data, data.y), fit([factor * array for array in data.data], data.y)
    np.testing.assert_allclose(plain.codes_.toarray(), scaled.codes_.toarray(), atol=1e-4)
    np.testing.assert_array_equal(plain.labels_, scaled.labels_)


@pytest.mark.parametrize("solver", [ActiveSet, ADMM])
def test_the_papers_weights_give_the_same_fit_again(data: Any, solver: Any) -> None:
    model = FSSMSC(n_landmarks=40, solver=solver(units="data"), random_state=0).fit(data.views, data.y)
    chosen = model.chosen_
    same = {
        "landmarks": model.landmarks_,
        "scaling": chosen["scaling"],
        "readers": chosen["readers"],
        "random_state": 0,
    }
    paper = FSSMSC(solver=solver(units="paper"), **model.paper_weights_, **same).fit(data.views, data.y)
    np.testing.assert_allclose(paper.codes_.toarray(), model.codes_.toarray(), atol=1e-7)
    np.testing.assert_array_equal(paper.labels_, model.labels_)
    again = FSSMSC(**{**chosen, **same}, solver=solver(units="data")).fit(data.views, data.y)
    np.testing.assert_allclose(again.codes_.toarray(), model.codes_.toarray(), atol=1e-7)


def test_auto_in_the_papers_units_is_a_constant(data: Any) -> None:
    auto = {"ridge": "auto", "must_link_weight": "auto", "coupling": "auto"}
    model = fit(data.data, data.y, solver=ActiveSet(units="paper"), **auto)
    assert model.paper_weights_ == {"l1": 0.2, "ridge": 1.0, "must_link_weight": 1e4, "coupling": 1e-4}
    assert vars(DEFAULTS["paper"]) == model.paper_weights_
    assert "ridge (" not in model.status_


KINDS = {
    "signed": lambda rng, rows: rows,
    "non-negative": lambda rng, rows: np.abs(rows),
    "far from zero": lambda rng, rows: rows + 5,
    "counts": lambda rng, rows: rng.poisson(np.exp(0.5 * rows)),
    "one in ten": lambda rng, rows: np.where(rng.random(rows.shape) < 0.1, np.abs(rows), 0),
    "heavy tails": lambda rng, rows: rows**3,
}


@pytest.mark.parametrize("n_features", [4, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_codes_have_some_tens_of_non_zeros_whatever_the_features(kind: str, n_features: int) -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, n_features))
    target = rng.integers(6, size=900)
    views = Views([KINDS[kind](rng, rng.normal(size=(900, n_features)) + centres[target]) for _ in range(2)])
    for scaling in ("minmax", "symmetric", "standard", "l2"):
        source = represent(views, fit_scaling(views, scaling), "kmeans", 300, np.random.RandomState(0))
        settled = to_paper_weights(source.cross, source.grams.complete, DEFAULTS["data"], "data", is_free=True)
        assert 5 <= settled.nonzeros <= 120, scaling
    model = FSSMSC(n_landmarks=100, readers="nearest", random_state=0)
    model.fit(views, hide_labels(target, 0.1, random_state=0))
    assert 5 <= model.nonzeros_ <= 100
