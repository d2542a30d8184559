"""Views that count: weights chosen on hidden labels, from fit to predict, wherever the rows are."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask.array as da
import numpy as np
import pytest

from anchorview import FSSMSC, ActiveSet, AnchorViewClassifier, Views, datasets, load, open_rows, save
from anchorview.app.model_checks import check_model
from anchorview.fitting import preparing
from anchorview.tuning.auto import choose
from anchorview.tuning.options import SearchOptions
from anchorview.tuning.view_weights import is_clearly_better
from anchorview.view_importance import measure_views

SHORT: dict[str, Any] = {
    "feature_strengths": (10.0,),
    "graph_strengths": (0.8,),
    **dict.fromkeys(("ridges", "l1s", "must_link_weights", "heavy_ridges"), ()),
}


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(n_landmarks=40, scaling="minmax", random_state=0, n_jobs=1).set_params(**parameters)


def search(**parameters: Any) -> AnchorViewClassifier:
    usual: dict[str, Any] = {"n_landmarks": 40, "scaling": "minmax", "n_averaged": 3, "search_options": SHORT}
    return AnchorViewClassifier(**{**usual, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    """Two views that tell three classes apart, and two wide ones of noise."""
    made = datasets.make_multiview_subspaces(360, 3, (8, 6), noise=1.5, random_state=1)
    rng = np.random.default_rng(0)
    arrays = [*made.data, rng.normal(size=(360, 30)), rng.normal(size=(360, 20))]
    names = ["image", "text", "hum", "hiss"]
    y = datasets.hide_labels(made.target, 0.35, stratified=True, random_state=0)
    views = Views(dict(zip(names, arrays, strict=True)))
    return SimpleNamespace(
        views=views, arrays=arrays, names=names, y=y, target=made.target, model=build().fit(views, y)
    )


def accuracy(model: Any, data: Any) -> float:
    hidden = data.y == -1
    return float((model.labels_ == data.target)[hidden].mean())


def test_noise_counts_less_and_costs_less(data: Any) -> None:
    weights = np.array(data.model.chosen_["view_weights"])
    assert weights.mean() == pytest.approx(1) and weights[:2].min() > 3 * weights[2:].max()
    assert accuracy(data.model, data) > accuracy(build(view_weights=None).fit(data.views, data.y), data) + 0.015
    assert "view_weights (image: " in data.model.status_


def test_the_tuned_estimator_chooses_them_too(data: Any) -> None:
    tuned = search().fit(data.views, data.y)
    weights = np.array(tuned.chosen_["view_weights"])
    assert weights[:2].min() > 3 * weights[2:].max() and "views count by image: " in tuned.status_
    assert tuned.best_params_["view_weights"] == tuned.chosen_["view_weights"]
    assert accuracy(tuned, data) > accuracy(search(view_weights=None).fit(data.views, data.y), data) + 0.01
    again = FSSMSC(**tuned.best_params_, random_state=0).fit(data.views, data.y)
    assert again.chosen_["view_weights"] == tuned.chosen_["view_weights"]


def test_what_was_chosen_gives_the_same_fit_again(data: Any) -> None:
    chosen = data.model.chosen_
    again = build(**chosen).fit(data.views, data.y)
    by_name = build(**chosen | {"view_weights": dict(zip(data.names, chosen["view_weights"], strict=True))})
    np.testing.assert_array_equal(again.codes_.toarray(), by_name.fit(data.views, data.y).codes_.toarray())
    assert again.chosen_ == chosen
    np.testing.assert_array_equal(again.predict(data.views), again.predict(Views(data.arrays, names=data.names)))


def test_labels_of_the_fit_are_those_of_predict(data: Any) -> None:
    hidden = data.y == -1
    for model in (data.model, search().fit(data.views, data.y)):
        np.testing.assert_array_equal(model.predict(data.views)[hidden], model.labels_[hidden])


def test_equal_weights_are_as_if_there_were_none(data: Any) -> None:
    none, ones = (build(view_weights=w).fit(data.views, data.y) for w in (None, [2, 2, 2, 2]))
    np.testing.assert_array_equal(none.embedding_, ones.embedding_)
    assert none.chosen_ == ones.chosen_ and none.chosen_["view_weights"] is None
    without = [FSSMSC(3, n_landmarks=30, random_state=0, view_weights=w).fit(data.views) for w in (None, "auto")]
    np.testing.assert_array_equal(without[0].codes_.toarray(), without[1].codes_.toarray())
    paper = build(solver=ActiveSet(units="paper")).fit(data.views, data.y)
    given = build(landmarks=np.abs(np.random.default_rng(0).normal(size=(20, 64)))).fit(data.views, data.y)
    assert paper.chosen_["view_weights"] is None and given.chosen_["view_weights"] is None


def test_one_view_has_nothing_to_weigh(data: Any) -> None:
    first = data.views.select(["image"])
    models = [build(view_weights=w).fit(first, data.y) for w in (None, "auto")]
    np.testing.assert_array_equal(models[0].embedding_, models[1].embedding_)
    assert models[0].chosen_ == models[1].chosen_


def test_a_view_given_twice_counts_once(data: Any) -> None:
    image, text = data.arrays[:2]
    settled: dict[str, Any] = {"ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest"}
    once = FSSMSC(3, n_landmarks=30, random_state=0, scaling="minmax", **settled).fit([image, text])
    twice = FSSMSC(3, n_landmarks=30, random_state=0, scaling="minmax", **settled).fit([image, text, 5 * image])
    assert twice.chosen_["view_weights"] == pytest.approx([0.75, 1.5, 0.75])
    gram = once.landmarks_ @ once.landmarks_.T
    ratio = twice.landmarks_ @ twice.landmarks_.T / gram  # three views in place of two: 1.5 times the squares
    np.testing.assert_allclose(ratio, 1.5, rtol=1e-4)
    labelled = build().fit([image, image, text], data.y)
    assert labelled.chosen_["view_weights"][0] == pytest.approx(labelled.chosen_["view_weights"][1])


def test_rows_that_lack_views(data: Any) -> None:
    present = np.random.default_rng(3).random((360, 4)) < 0.8
    present[~present[:, :2].any(axis=1), 0] = True
    filled = [np.where(present[:, number, None], array, np.nan) for number, array in enumerate(data.arrays)]
    for make in (build, search):
        model = make().fit(Views(dict(zip(data.names, filled, strict=True))), data.y)
        weights = np.array(model.chosen_["view_weights"])
        assert weights[:2].min() > 3 * weights[2:].max()
        equal = make(view_weights=None).fit(Views(filled, names=data.names), data.y)
        assert accuracy(model, data) > accuracy(equal, data)
        alone = model.predict({"image": data.arrays[0], "text": data.arrays[1]})
        assert (alone == data.target)[data.y == -1].mean() > 0.8  # without the views that say nothing


def test_stores_and_dask_choose_what_memory_does(data: Any, tmp_path: Path) -> None:
    stored = {}
    for name, array in zip(data.names, data.arrays, strict=True):
        np.save(tmp_path / f"{name}.npy", array)
        stored[name] = open_rows(tmp_path / f"{name}.npy")
    on_disk = build().fit(stored, data.y)
    assert on_disk.chosen_ == data.model.chosen_
    np.testing.assert_array_equal(on_disk.labels_, data.model.labels_)
    blocks = {name: da.from_array(array, chunks=(90, -1)) for name, array in zip(data.names, data.arrays, strict=True)}
    read: dict[str, Any] = {"readers": "nearest"}
    here, there = build(**read).fit(data.views, data.y), build(**read).fit(blocks, data.y)
    assert there.chosen_ == here.chosen_ and there.chosen_["view_weights"] is not None
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(blocks), here.predict(data.views))


def test_model_files_keep_them(data: Any, tmp_path: Path) -> None:
    for model in (data.model, search().fit(data.views, data.y)):
        save(model, tmp_path / "model.anchorview", overwrite=True)
        loaded = load(tmp_path / "model.anchorview")
        assert loaded.chosen_ == model.chosen_
        np.testing.assert_array_equal(loaded.predict_proba(data.views), model.predict_proba(data.views))
        np.testing.assert_array_equal(loaded.predict({"text": data.arrays[1]}), model.predict({"text": data.arrays[1]}))


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, -1.0, 2.0, 2.0), (1.0, np.inf, 1.0, 1.0), "heavy"])
def test_files_with_forged_weights_are_refused(data: Any, weights: Any) -> None:
    forged = copy.copy(data.model)
    embedder = data.model._model.embedder
    scaler = replace(embedder.scaler, view_weights=weights)
    forged._model = replace(data.model._model, embedder=replace(embedder, scaler=scaler))
    with pytest.raises(ValueError, match="view_weights"):
        check_model(forged)


def test_features_that_are_left_as_they_are_keep_their_lengths(data: Any) -> None:
    assert build(scaling="none").fit(data.views, data.y).chosen_["view_weights"] is None
    assert search(scaling="none").fit(data.views, data.y).chosen_["view_weights"] is None


def test_other_labels_keep_the_weights_of_the_fit(data: Any) -> None:
    model = build().fit(data.views, data.y)
    weights = model.chosen_["view_weights"]
    more, rows = data.y.copy(), np.flatnonzero(data.y == -1)[:5]
    more[rows] = data.target[rows]
    model.update(more)
    assert model.chosen_["view_weights"] == weights


def test_importance_tells_the_weights(data: Any) -> None:
    measured = measure_views(data.model, data.views)
    assert measured.weights is not None
    np.testing.assert_allclose(measured.weights, data.model.chosen_["view_weights"])
    assert measured.share[:2].sum() > 0.8 and "weight" in str(measured).splitlines()[0]


def test_a_gain_within_its_error_changes_nothing() -> None:
    def labels(n_judged: int) -> Any:
        return SimpleNamespace(judged_weights=None, n_judged=n_judged, options=SearchOptions())

    gains = np.tile([0.5, -0.3], 50)  # mean 0.1, error 0.04
    assert is_clearly_better(labels(100), gains, np.zeros(100))
    assert not is_clearly_better(labels(100), gains - 0.05, np.zeros(100))
    assert not is_clearly_better(labels(10), gains[:10], np.zeros(10))
    assert not is_clearly_better(labels(100), np.zeros(100), np.zeros(100))


def test_a_search_weighs_views_by_the_same_folds_as_the_plain_model(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the seed: with few labels other folds chose other weights, and the two estimators disagreed."""
    seeds = []

    def spy(*args: Any, **options: Any) -> Any:
        seeds.append(args[3])
        return choose(*args, **options)

    monkeypatch.setattr(preparing, "choose", spy)
    build().fit(data.views, data.y)
    for random_state in (0, 7):
        search(random_state=random_state).fit(data.views, data.y)
    assert len(seeds) == 3 and len(set(seeds)) == 1
