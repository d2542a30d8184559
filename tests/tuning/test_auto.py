"""What "auto" chooses: by hidden labels where there are enough, by the nature of the features where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

from anchorview import FSSMSC, Constraints, Views
from anchorview.datasets import hide_labels
from anchorview.supervision.given import FitInput, read_known
from anchorview.tuning.auto import SAMPLE_LANDMARKS, SAMPLE_ROWS, AutoRequest, _sample, _scalings, choose


def blobs(n_rows: int = 400, n_classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    target = rng.integers(n_classes, size=n_rows)
    return rng.normal(size=(n_rows, 6)) + 4 * rng.normal(size=(n_classes, 6))[target], target


@pytest.fixture(scope="module")
def units() -> Any:
    """A useless feature in a unit that makes it a thousand times larger than those that tell classes apart."""
    rows, target = blobs()
    loud = 1e3 * np.random.default_rng(1).normal(size=(400, 2))
    return Bunch(views=Views([np.hstack([rows, loud])]), target=target, y=hide_labels(target, 0.15, random_state=0))


def asked(**changes: Any) -> AutoRequest:
    usual: dict[str, Any] = {"scaling": ["auto"], "l1": 0.1, "ridge": None, "must_link_weight": None}
    return AutoRequest(**{**usual, "readers": None, "n_votes": None, "units": "data", **changes})


def rows_of(data: Any, sample_weight: Any = None) -> FitInput:
    return read_known(data.views, None, None, data.y, sample_weight, None, None)


def test_labels_overrule_a_scaling_that_hides_the_classes(units: Any) -> None:
    """Rows of unit length are all noise here; the other scalings give every feature the same say."""
    choice = choose(asked(), "l2", rows_of(units), 0, 1)
    assert choice.scaling != "l2" and choice.n_judged > 30
    model = FSSMSC(n_landmarks=80, random_state=0).fit(units.views, units.y)
    hidden = units.y == -1
    assert (model.labels_ == units.target)[hidden].mean() > 0.9
    poor = FSSMSC(n_landmarks=80, scaling="l2", random_state=0).fit(units.views, units.y)
    assert (poor.labels_ == units.target)[hidden].mean() < 0.7


def test_the_attribute_and_the_status_say_what_was_chosen(units: Any) -> None:
    model = FSSMSC(n_landmarks=80, random_state=0).fit(units.views, units.y)
    chosen = model.chosen_
    weights = {"view_weights", "l1", "ridge", "must_link_weight", "coupling"}
    assert set(chosen) == {"scaling", *weights, "readers", "n_neighbors"}
    assert f"chosen on {np.count_nonzero(units.y >= 0)} hidden labels" in model.status_
    assert f"ridge ({chosen['ridge']:g})" in model.status_ and f"scaling ({chosen['scaling'][0]})" in model.status_
    assert chosen["ridge"] in (1, 3, 10) and chosen["must_link_weight"] in (0.3, 3, 30)


@pytest.mark.parametrize("n_labels", [0, 1])
def test_without_labels_to_hide_the_features_decide(units: Any, n_labels: int) -> None:
    y = np.full(400, -1)
    for number in range(4):
        y[np.flatnonzero(units.target == number)[:n_labels]] = number
    model = FSSMSC(n_clusters=4, n_landmarks=80, random_state=0).fit(units.views, y)
    assert model.chosen_["scaling"] == ["minmax"] and model.chosen_["ridge"] == 3.0
    assert "chosen by the kind of features, since no labels could be held out: scaling (minmax)" in model.status_


def test_nothing_is_chosen_where_everything_is_given(units: Any) -> None:
    given: dict[str, Any] = {"scaling": "minmax", "ridge": 2.0, "must_link_weight": 5.0, "readers": ("knn",)}
    model = FSSMSC(n_landmarks=80, random_state=0, **given).fit(units.views, units.y)
    assert {**given, "scaling": ["minmax"]}.items() <= model.chosen_.items()
    assert "chosen" not in model.status_ and model.stage_seconds_["choice"] < 0.05
    rng = np.random.RandomState(0)
    FSSMSC(n_landmarks=80, landmarks="random", random_state=rng, **given).fit(units.views, units.y)
    other = np.random.RandomState(0)
    other.choice(400, 80, replace=False)
    assert rng.randint(10**6) == other.randint(10**6)  # the choice has drawn no number


@pytest.mark.parametrize("name", ["scaling", "ridge", "must_link_weight", "readers"])
def test_what_is_given_is_kept(units: Any, name: str) -> None:
    value: Any = {"scaling": "l2", "ridge": 0.7, "must_link_weight": 11.0, "readers": ("euclidean",)}[name]
    model = FSSMSC(n_landmarks=80, random_state=0, **{name: value}).fit(units.views, units.y)
    assert model.chosen_[name] == ([value] if name == "scaling" else value)
    assert f"{name} (" not in model.status_


def test_views_keep_the_scaling_that_was_asked_for_them(units: Any) -> None:
    rows = units.views.arrays[0]
    views = {"a": rows, "b": np.abs(rows)}
    model = FSSMSC(n_landmarks=80, scaling={"b": "l2"}, random_state=0).fit(views, units.y)
    assert model.chosen_["scaling"][1] == "l2"
    data = _sample(rows_of(Bunch(views=Views(views), y=units.y)), ("minmax", "none"), 0, 1)
    assert data is not None
    tried = _scalings(data, ("minmax", "none"), ["auto", "none"])
    assert len(tried) > 2 and {kinds[1] for kinds in tried} == {"none"}


def test_the_same_seed_chooses_the_same(units: Any) -> None:
    found = [FSSMSC(n_landmarks=80, random_state=3, n_jobs=n).fit(units.views, units.y) for n in (1, 2)]
    assert found[0].chosen_ == found[1].chosen_
    np.testing.assert_array_equal(found[0].embedding_, found[1].embedding_)


def test_any_seed_chooses_the_same(units: Any) -> None:
    found = [FSSMSC(n_landmarks=20, random_state=seed).fit(units.views, units.y) for seed in (0, 1)]
    assert found[0].chosen_ == found[1].chosen_
    given = {name: value for name, value in found[1].chosen_.items() if name != "coupling"}
    again = FSSMSC(n_landmarks=20, random_state=1, **given).fit(units.views, units.y)
    np.testing.assert_array_equal(again.labels_, found[1].labels_)  # the choice takes nothing from the seed


def test_the_sample_is_small_and_has_labelled_rows_first() -> None:
    rows, target = blobs(5000)
    y = hide_labels(target, 0.04, random_state=0)
    data = _sample(rows_of(Bunch(views=Views([rows]), y=y)), "minmax", 0, 1)
    assert data is not None
    assert len(data.views) == SAMPLE_ROWS and data.n_landmarks == SAMPLE_LANDMARKS
    assert len(data.rows) == np.count_nonzero(y >= 0)
    many = _sample(rows_of(Bunch(views=Views([rows]), y=target)), "minmax", 0, 1)
    assert many is not None and len(many.rows) == len(many.views) == 750  # nothing else is unlabelled


def test_rows_of_weight_zero_are_not_in_the_sample(units: Any) -> None:
    weights = np.where(np.arange(400) < 100, 0.0, 1.0)
    given = rows_of(units, weights)
    data = _sample(given, "minmax", 0, 1)
    assert data is not None and len(data.views) == 300
    np.testing.assert_array_equal(given.known.classes[data.class_ids], units.y[100:][units.y[100:] >= 0])


def test_pairs_weights_and_missing_views_go_along(units: Any) -> None:
    rng = np.random.default_rng(0)
    rows = units.views.arrays[0]
    mask = rng.random((400, 2)) > 0.2
    mask[:, 0] |= ~mask.any(axis=1)
    views = Views([rows, rows[:, :4]], mask=mask)
    pairs = Constraints.from_pairs(must=[(0, int(np.flatnonzero(units.target == units.target[0])[1]))], n_rows=400)
    weights = rng.integers(1, 3, size=400)
    model = FSSMSC(n_landmarks=80, random_state=0).fit(views, units.y, sample_weight=weights, constraints=pairs)
    assert "hidden labels" in model.status_ and (model.labels_ == units.target).mean() > 0.8


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_error_names_the_row_of_the_data(value: float) -> None:
    rows, target = blobs(4000)
    rows[3777, 2] = value
    for y in (hide_labels(target, 0.02, random_state=seed) for seed in range(4)):
        with pytest.raises(ValueError, match="row.? 3777"):
            FSSMSC(n_landmarks=50, random_state=0).fit([rows], y)


def test_classes_without_a_clear_answer_take_a_vote() -> None:
    """Classes that overlap: five neighbours know more than one, and the labels can tell."""
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=1200)
    rows = rng.normal(size=(1200, 5)) + 1.2 * (2 * target[:, None] - 1) * np.array([1, 0.5, 0, 0, 0])
    y = hide_labels(target, 0.3, random_state=0)
    model = FSSMSC(n_landmarks=100, random_state=0).fit([rows], y)
    assert model.chosen_["readers"][0] == "knn" and f"knn of {model.chosen_['n_neighbors']}" in model.status_
    few = FSSMSC(n_landmarks=100, n_neighbors=3, random_state=0).fit([rows], y)
    assert few.chosen_["n_neighbors"] == 3 and few._model.members[-1].reader.n_neighbors == 3


def test_labels_on_both_sides_of_a_plane_ask_for_a_linear_reading() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=600)
    rows = rng.normal(size=(600, 20))
    rows[:, 0] += 2.5 * target
    y = hide_labels(target, 0.2, random_state=0)
    choice = choose(asked(), "standard", rows_of(Bunch(views=Views([rows]), y=y)), 0, 1)
    assert "linear" in choice.readers
    given = choose(asked(readers=("linear",)), "standard", rows_of(Bunch(views=Views([rows]), y=y)), 0, 1)
    assert given.readers == ("linear",) and (given.ridge, given.must_link_weight) == (3.0, 3.0)


def test_few_labels_keep_the_reading_of_the_embedding_in() -> None:
    """Its readings may be joined, but nothing takes its place by the word of a few labels."""
    rows, target = blobs(200)
    choice = choose(
        asked(), "minmax", rows_of(Bunch(views=Views([rows]), y=hide_labels(target, 0.05, random_state=1))), 0, 1
    )
    assert choice.readers[0] in ("nearest", "knn")


def test_given_landmarks_are_in_the_space_that_the_features_suggest(units: Any) -> None:
    """Labels that chose another scaling would make nonsense of them."""
    landmarks = FSSMSC(n_landmarks=60, scaling="minmax", random_state=0).fit(units.views, units.y).landmarks_
    model = FSSMSC(landmarks=landmarks, random_state=0).fit(units.views, units.y)
    assert model.chosen_["scaling"] == ["minmax"] and "scaling (" not in model.status_ and "ridge (" in model.status_


@pytest.mark.parametrize(("n_labels", "n_folds", "most_hidden"), [(30, 20, 3), (60, 3, 20)])
def test_few_labels_are_hidden_a_tenth_at_a_time(n_labels: int, n_folds: int, most_hidden: int) -> None:
    """A third of two labels a class would leave one; every label is judged, twice where there are few."""
    rows, target = blobs()
    y = np.where(np.arange(400) < n_labels, target, -1)
    data = _sample(rows_of(Bunch(views=Views([rows]), y=y)), "minmax", 0, 1)
    assert data is not None and len(data.folds) == n_folds
    assert max(map(len, data.folds)) <= most_hidden
    assert (np.bincount(np.concatenate(data.folds)) == (2 if n_labels < 50 else 1)).all()
