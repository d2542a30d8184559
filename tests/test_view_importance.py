"""Which view mattered, as measured on a fitted model."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from scipy import sparse

from anchorview import ADMM, FSSMSC, Views
from anchorview.data.validation import find_present
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.features.products import ViewCrossProducts
from anchorview.plotting import plot_view_importance
from anchorview.view_importance import ViewImportance, measure_unlabelled, measure_views
from support.settled import CHOSEN


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 40, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    """A good view, a fair one, and one of pure noise."""
    made = make_multiview_subspaces(400, 3, (12, 5), view_noise=(0.1, 0.8), random_state=0)
    noise = np.random.default_rng(1).normal(size=(400, 30)).astype(np.float32)
    made.parts = {"good": made.data[0], "fair": made.data[1], "noise": noise}
    made.y = hide_labels(made.target, 0.1, stratified=True, random_state=0)
    made.truth = np.where(made.y < 0, made.target, -1)
    made.model = build().fit(made.parts, made.y)
    return made


def test_the_informative_view_matters_and_noise_does_not(data: Any) -> None:
    found = measure_views(data.model, data.parts, data.truth)
    assert found.names == ["good", "fair", "noise"] and found.n_rows == 400
    good, _, noise = range(3)
    assert found.changed[good] > 0.15 and found.accuracy_drop[good] > 0.15
    assert found.changed[noise] < 0.03 and abs(found.accuracy_drop[noise]) < 0.03
    assert found.share.sum() == pytest.approx(1)
    assert found.reconstruction[good] > found.reconstruction[noise]
    assert str(found).splitlines()[1].split()[0] == "good"


def test_reconstruction_is_its_formula(data: Any) -> None:
    """With rows that lack views, and a sparse view beside the dense ones."""
    parts = {**data.parts, "counts": sparse.csr_array(np.abs(data.parts["fair"]).round())}
    mask = np.random.default_rng(0).random((400, 4)) > 0.2
    mask[:, 0] |= ~mask.any(axis=1)
    views = Views(parts, mask=mask)
    model = build(scaling={"counts": "l2"}).fit(views, data.y)
    found = measure_views(model, views)
    scaled = model._model.embedder.scaler.read(views, slice(0, 400), mask).dense().astype(np.float64)
    codes = _codes_of_new_rows(model, views)
    ends = np.cumsum(model._model.embedder.scaler.sizes)
    total = []
    for number, (start, stop) in enumerate(zip(np.append(0, ends), ends, strict=False)):
        has = mask[:, number]
        part = scaled[has, start:stop]
        error = ((part - (codes @ model.landmarks_[:, start:stop])[has]) ** 2).sum()
        assert found.reconstruction[number] == pytest.approx(1 - error / (part**2).sum(), abs=1e-5)
        total.append((part**2).sum() - error)
    np.testing.assert_allclose(found.share, np.array(total) / sum(total), atol=1e-5)


def _codes_of_new_rows(model: FSSMSC, views: Views) -> Any:
    """What `transform` embeds, before the embedding."""
    present = find_present(views)
    cross = ViewCrossProducts(
        views, model._model.embedder.scaler, model.landmarks_, present=present, for_prediction=True
    )
    return model._model.embedder.encoder.encode(cross.take(np.arange(len(views))), present)


def test_labels_that_change_are_those_of_rows_that_lack_the_view(data: Any) -> None:
    found = measure_views(data.model, data.parts, data.truth)
    before = data.model.predict(data.parts)
    for number, name in enumerate(data.parts):
        without = data.model.predict(Views(data.parts, mask={name: np.zeros(400, dtype=bool)}))
        assert found.changed[number] == (without != before).mean()
        hidden = data.truth >= 0
        lost = (before == data.truth)[hidden].mean() - (without == data.truth)[hidden].mean()
        assert found.accuracy_drop[number] == pytest.approx(lost)


def test_a_constant_view_does_nothing(data: Any) -> None:
    parts = {"good": data.parts["good"], "constant": np.full((400, 4), 3.0)}
    found = measure_views(build().fit(parts, data.y), parts, data.truth)
    assert found.reconstruction[1] == found.share[1] == 0
    assert found.changed[1] <= 0.01 and abs(found.accuracy_drop[1]) <= 0.01
    assert found.share[0] == 1 and found.changed[0] > 0.5  # without it nothing is left to go by


def test_a_rows_only_view_is_not_taken_from_it(data: Any) -> None:
    parts = {name: data.parts[name] for name in ("good", "fair")}
    model = build().fit(parts, data.y)
    mask = np.ones((400, 2), dtype=bool)
    mask[100:, 1] = False  # the other rows have the good view only
    found = measure_views(model, Views(parts, mask=mask), data.truth)
    few = {name: array[:100] for name, array in parts.items()}
    assert found.changed[0] == measure_views(model, few).changed[0]
    mask[:, 1] = False
    alone = measure_views(model, Views(parts, mask=mask), data.truth)
    assert np.isnan(alone.changed).all() and np.isnan(alone.accuracy_drop).all()
    assert alone.reconstruction[0] > 0.5 and alone.reconstruction[1] == 0


def test_without_labels_there_is_no_accuracy(data: Any) -> None:
    found = measure_views(data.model, data.parts)
    assert np.isnan(found.accuracy_drop).all() and not np.isnan(found.changed).any()
    clusters = build(n_clusters=3).fit(data.parts)
    assert not np.isnan(measure_views(clusters, data.parts).changed).any()


def test_a_sample_of_the_rows_is_close_and_the_seed_decides(data: Any) -> None:
    whole = measure_views(data.model, data.parts)
    some, again, other = (measure_views(data.model, data.parts, max_rows=150, random_state=s) for s in (0, 0, 1))
    assert some.n_rows == 150
    np.testing.assert_array_equal(some.changed, again.changed)
    assert (some.reconstruction != other.reconstruction).any()
    np.testing.assert_allclose(some.changed, whole.changed, atol=0.1)
    labelled = measure_views(data.model, data.parts, data.truth, max_rows=150)
    np.testing.assert_array_equal(labelled.changed, some.changed)  # labels do not change which rows are counted


def test_rows_without_any_view_are_left_out(data: Any) -> None:
    mask = np.ones((400, 3), dtype=bool)
    mask[::4] = False
    views = Views(data.parts, mask=mask)
    model = build(on_empty="drop").fit(views, data.y)
    kept = np.flatnonzero(mask.all(axis=1))
    np.testing.assert_array_equal(
        measure_views(model, views).changed, measure_views(model, {k: v[kept] for k, v in data.parts.items()}).changed
    )
    assert measure_unlabelled(model, views, data.y >= 0).n_rows == ((data.y < 0) & mask.all(axis=1)).sum()
    with pytest.raises(ValueError, match="No row of X has a view"):
        measure_views(model, Views(data.parts, mask=np.zeros((400, 3), dtype=bool)))


def test_measured_on_rows_without_a_label(data: Any) -> None:
    hidden = {name: array[data.y < 0] for name, array in data.parts.items()}
    found = measure_unlabelled(data.model, data.parts, data.y >= 0)
    np.testing.assert_array_equal(found.changed, measure_views(data.model, hidden).changed)
    assert measure_unlabelled(data.model, data.parts, data.y >= 0, max_rows=50).n_rows == 50
    with pytest.raises(ValueError, match="X has 360 rows, and the fit has 400"):
        measure_unlabelled(data.model, hidden, data.y >= 0)


def test_every_row_labelled(data: Any) -> None:
    assert measure_unlabelled(data.model, data.parts, np.ones(400, dtype=bool)).n_rows == 400


def test_what_cannot_be_measured_says_so(data: Any) -> None:
    with pytest.raises(ValueError, match="solver='admm' does not support .*no view can be left out to measure it; use"):
        measure_views(build(solver=ADMM(units="data")).fit(data.parts, data.y), data.parts)
    with pytest.raises(ValueError, match="max_rows must be an integer"):
        measure_views(data.model, data.parts, max_rows=0)
    broken = {**data.parts, "fair": np.where(np.arange(400)[:, None] == 7, [1, 2, np.inf, 4, 5], data.parts["fair"])}
    with pytest.raises(ValueError, match="View 'fair' contains infinity"):
        measure_views(data.model, broken)


def test_the_picture() -> None:
    nan = np.nan
    values = [np.array(v) for v in ([0.9, 0.5, 0.1], [0.6, 0.3, 0.1], [0.02, 0.3, nan], [nan, nan, nan])]
    axes = plot_view_importance(ViewImportance(["a", "b", "c"], *values, n_rows=10))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["c", "a", "b"]  # from the bottom
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "part of what is rebuilt",
        "labels that change without it",
    ]
    assert [bar.get_width() for bar in axes.containers[0]] == pytest.approx([10, 60, 30])
    given = matplotlib.figure.Figure().gca()
    assert plot_view_importance(ViewImportance(["a", "b", "c"], *values, n_rows=10), ax=given) is given
    axes.figure.canvas.draw()
