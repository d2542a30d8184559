"""The tuner uses the given labels only, averages good settings, can be interrupted, and works on any views."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import AnchorViewClassifier, Views
from anchorview.data.labels import split_labels
from anchorview.datasets import hide_labels
from anchorview.fitting.ensemble import Ensemble
from anchorview.tuning.judging import Judgement, SearchData, judge
from anchorview.tuning.options import SearchOptions
from anchorview.tuning.search import choose_averaged, join_steady, steady_settings
from anchorview.tuning.settings import Setting
from support.searches import search_data


def quick(**parameters: Any) -> AnchorViewClassifier:
    return AnchorViewClassifier(
        **{"n_landmarks": 60, "n_repeats": 1, "scaling": ["minmax"], "random_state": 0} | parameters
    )


@pytest.fixture(scope="module")
def fitted(some_digits: Any) -> AnchorViewClassifier:
    """A search over all scalings."""
    return AnchorViewClassifier(n_landmarks=60, n_repeats=1, random_state=0).fit(some_digits.views, some_digits.y)


@pytest.fixture(scope="module")
def one_scaling(some_digits: Any) -> AnchorViewClassifier:
    """A search in one scaling."""
    return quick().fit(some_digits.views, some_digits.y)


def tried(model: AnchorViewClassifier, *names: str) -> set[Any]:
    """Return the values of some parameters that were tried together."""
    return {tuple(p[name] for name in names) for p in model.cv_results_["params"]}


# The result


def test_labels_and_probabilities(fitted: AnchorViewClassifier, some_digits: Any) -> None:
    X, y, truth, hidden = some_digits.views, some_digits.y, some_digits.target, some_digits.hidden
    assert (fitted.labels_[hidden] == truth[hidden]).mean() > 0.85
    np.testing.assert_array_equal(fitted.labels_[~hidden], y[~hidden])
    np.testing.assert_array_equal(fitted.predict(X)[hidden], fitted.labels_[hidden])
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(probabilities.max(axis=1)[hidden], fitted.confidence_[hidden], atol=1e-5)
    assert fitted.score(X, np.where(hidden, truth, -1)) == (fitted.labels_[hidden] == truth[hidden]).mean()


def test_a_row_is_predicted_alone_as_among_others(fitted: AnchorViewClassifier, some_digits: Any) -> None:
    X = some_digits.views
    np.testing.assert_allclose(fitted.predict_proba(X[7:9]), fitted.predict_proba(X)[7:9], atol=1e-6)


def test_the_table_of_the_search(fitted: AnchorViewClassifier) -> None:
    table = fitted.cv_results_
    n = len(table["params"])
    assert all(len(values) == n for values in table.values())
    assert {s["scaling"] for s in table["params"]} == {"minmax", "symmetric", "standard", "l2"}
    heads = {"nearest", "knn", "embedding", "codes", "features", "views", "spread", "poisson"}
    assert set(table["param_head"]) == heads
    assert len({tuple(sorted(p.items())) for p in table["params"]}) == n  # nothing is judged twice
    assert fitted.best_setting_ == table["params"][fitted.best_index_]
    assert fitted.averaged_[0] == {**fitted.best_setting_, "weight": fitted.averaged_[0]["weight"]}
    assert len(fitted.averaged_) >= 10
    assert len({(p["head"], p["scaling"]) for p in fitted.averaged_}) >= 10  # of different kinds
    assert sum(p["weight"] for p in fitted.averaged_) == pytest.approx(20)


def test_the_judgement_is_honest(one_scaling: AnchorViewClassifier, some_digits: Any) -> None:
    """Labels that mean nothing are not found again: no hidden label reaches the models that are judged by it."""
    shuffled, given = some_digits.y.copy(), ~some_digits.hidden
    shuffled[given] = np.random.RandomState(1).permutation(shuffled[given])
    scores = quick().fit(some_digits.views, shuffled).cv_results_["mean_test_score"]
    assert scores.max() < 0.45  # chance is 0.1, the best of 20 tries on 40 rows somewhat above
    assert one_scaling.cv_results_["mean_test_score"].max() > 0.85


def test_the_same_with_any_number_of_threads(some_digits: Any) -> None:
    one, two = (quick(n_jobs=n).fit(some_digits.views, some_digits.y) for n in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.confidence_, two.confidence_)


# Interrupts


class CtrlC(logging.Handler):
    """Interrupts when so many settings have been reported; counts them all."""

    def __init__(self, after: int | None = None, error: type[BaseException] = KeyboardInterrupt) -> None:
        super().__init__()
        self.after, self.n_settings, self.error = after, 0, error

    def emit(self, record: logging.LogRecord) -> None:
        if "log loss" in record.getMessage():
            self.n_settings += 1
            if self.n_settings == self.after:
                raise self.error from KeyboardInterrupt()

    def __enter__(self) -> CtrlC:
        logging.getLogger("anchorview").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("anchorview").removeHandler(self)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemError])  # the latter is what compiled code makes of it
def test_an_interrupted_search_is_used_and_resumed(
    one_scaling: AnchorViewClassifier, some_digits: Any, error: type[BaseException]
) -> None:
    X, y = some_digits.views, some_digits.y
    model = quick(warm_start=True, verbose=True)
    with CtrlC(5, error), pytest.warns(UserWarning, match="interrupted after 5 settings"):
        model.fit(X, y)
    assert model.interrupted_
    assert "interrupted" in model.status_
    assert len(model.cv_results_["params"]) == 5
    assert model.predict(X[:3]).shape == (3,)
    with CtrlC() as resumed:
        model.fit(X, y)
    assert not model.interrupted_
    assert resumed.n_settings == len(one_scaling.cv_results_["params"]) - 5
    np.testing.assert_array_equal(model.labels_, one_scaling.labels_)
    if error is SystemError:
        return
    with CtrlC() as again:  # other data start anew
        model.fit(X, np.where(np.arange(len(y)) == np.flatnonzero(y >= 0)[0], -1, y))
    assert again.n_settings == len(model.cv_results_["params"])


class Interrupting(tuple[float, ...]):
    """Strengths that are never tried: the user interrupts before."""

    def __iter__(self) -> Any:
        raise KeyboardInterrupt


def test_an_interrupt_before_anything_is_judged_is_passed_on(some_digits: Any) -> None:
    model = quick(search_options={"feature_strengths": Interrupting([1.0])})
    with pytest.raises(KeyboardInterrupt):
        model.fit(some_digits.views, some_digits.y)


# Labels and views of any kind


def test_two_labels_per_class_are_enough(some_digits: Any) -> None:
    truth = some_digits.target
    y = np.full(len(truth), -1)
    for number in range(10):
        y[np.flatnonzero(number == truth)[:2]] = number
    model = quick().fit(some_digits.views, y)
    assert (model.labels_ == truth).mean() > 0.5


def test_labels_that_cannot_be_hidden(some_digits: Any) -> None:
    y = np.full(len(some_digits.y), -1)
    y[[0, 30]] = 0, 1
    with pytest.raises(ValueError, match="at least two labels in one class"):
        quick().fit(some_digits.views, y)
    y[[1, 2]] = 0
    model = quick().fit(some_digits.views, y)
    assert set(model.labels_) <= {0, 1}  # class 1 is never hidden, and can still be predicted
    with pytest.raises(ValueError, match="at least two classes"):
        quick().fit(some_digits.views, np.where(some_digits.y == 0, 0, -1))


def test_missing_and_sparse_views(some_digits: Any) -> None:
    X, y, truth, hidden = some_digits.views, some_digits.y, some_digits.target, some_digits.hidden
    rng = np.random.RandomState(0)
    mask = rng.rand(len(X), 6) > 0.2
    mask[~mask.any(axis=1), 0] = True
    words = sparse.csr_array(np.eye(10)[truth] + (rng.rand(len(X), 10) < 0.1))
    views = Views([*X.arrays, words], mask=np.c_[mask, np.ones(len(X), dtype=bool)])
    model = quick(scaling=None).fit(views, y)
    assert (model.labels_[hidden] == truth[hidden]).mean() > 0.85
    text = quick(scaling=None).fit(Views([words]), y)
    assert tried(text, "scaling") == {("lsa",), ("tfidf",)}


def test_text_labels(one_scaling: AnchorViewClassifier, some_digits: Any) -> None:
    names = np.array([f"digit {number}" for number in range(10)], dtype=object)
    y = np.where(some_digits.hidden, None, names[some_digits.target])
    model = quick().fit(some_digits.views, y)
    np.testing.assert_array_equal(model.labels_, names[one_scaling.labels_])


# Parameters


@pytest.mark.parametrize("name", ["n_landmarks", "n_averaged", "n_splits", "n_repeats"])
def test_bad_numbers(name: str, some_digits: Any) -> None:
    with pytest.raises(ValueError, match=name):
        quick(**{name: 0}).fit(some_digits.views, some_digits.y)


@pytest.mark.parametrize("number", [[], [50, 0], 2.5, "many"])
def test_a_bad_number_of_landmarks_is_named(number: Any, some_digits: Any) -> None:
    with pytest.raises(ValueError, match="n_landmarks"):
        quick(n_landmarks=number).fit(some_digits.views, some_digits.y)


def test_several_numbers_of_landmarks(some_digits: Any) -> None:
    X, hidden = some_digits.views, some_digits.hidden
    model = quick(n_landmarks=[60, 40]).fit(X, some_digits.y)
    assert {number for number, _ in tried(model, "n_landmarks", "head")} == {60, 40}
    assert (40, "nearest") in tried(model, "n_landmarks", "head")
    assert (40, "spread") not in tried(model, "n_landmarks", "head")
    assert (model.labels_ == some_digits.target)[hidden].mean() > 0.85
    np.testing.assert_array_equal(model.predict(X)[hidden], model.labels_[hidden])


def test_limits_of_the_search(one_scaling: AnchorViewClassifier, some_digits: Any) -> None:
    """No graph above a number of rows; dense codes are not made denser."""
    limits = {"max_graph_rows": len(some_digits.y) - 1, "dense_codes": 1}
    model = quick(search_options=limits).fit(some_digits.views, some_digits.y)
    assert ("spread",) in tried(one_scaling, "head")
    assert ("spread",) not in tried(model, "head")
    assert tried(one_scaling, "ridge", "l1") > {(1.0, 0.1), (10.0, 0.1)}
    assert tried(model, "ridge", "l1") == {(3.0, 0.1), (1.0, 0.1)}


def ladder(model: AnchorViewClassifier, scaling: str) -> dict[float, float]:
    """Return the shrunk_loss of the best setting of each μ, λ_Z and λ_M by default."""
    table, result = model.cv_results_, {}
    for setting, shrunk_loss in zip(table["params"], table["shrunk_loss"], strict=True):
        usual = setting["must_link_weight"] == 3.0 and setting["l1"] == 0.1
        on_codes = setting["scaling"] == scaling and setting["head"] not in ("features", "spread", "poisson")
        if on_codes and usual:
            result[setting["ridge"]] = min(shrunk_loss, result.get(setting["ridge"], np.inf))
    return result


def test_a_larger_ridge_is_tried_where_the_largest_was_best() -> None:
    rng = np.random.default_rng(2)  # texts of which one scaling wants it and the other does not, both clearly
    common, own = rng.dirichlet(np.full(600, 0.3)), rng.dirichlet(np.full(600, 0.05), 6)
    topics = rng.integers(6, size=600)
    words = sparse.csr_array([rng.multinomial(25, 0.75 * common + 0.25 * own[topic]) for topic in topics], dtype=float)
    y = hide_labels(topics, 0.1, random_state=0)
    text = AnchorViewClassifier(100, n_repeats=1, random_state=0).fit([words], y)
    further = []
    for scaling in ("lsa", "tfidf"):
        found = ladder(text, scaling)
        assert {1.0, 3.0, 10.0} <= set(found) <= {1.0, 3.0, 10.0, 30.0, 100.0}
        best = min((ridge for ridge in found if ridge < 30), key=lambda ridge: found[ridge])
        assert 30.0 not in found or best == 10
        further.append(30.0 in found)
    assert any(further) and not all(further)  # there is something to see


def test_unknown_search_options_are_named(some_digits: Any) -> None:
    with pytest.raises(ValueError, match=r"search_options \['speed'\] are not known"):
        quick(search_options={"speed": 9}).fit(some_digits.views, some_digits.y)


# The second fit


def test_a_second_fit_needs_to_be_wanted(one_scaling: AnchorViewClassifier, some_digits: Any) -> None:
    once = quick(search_options={"second_fit": False}).fit(some_digits.views, some_digits.y)
    assert once.averaged_ == one_scaling.averaged_
    assert any(member.saw_guesses for member in one_scaling._model.members)
    assert not any(member.saw_guesses for member in once._model.members)


class NotedEnsemble(Ensemble):
    """Notes the labels that it is fitted with."""

    def __init__(self, data: SearchData) -> None:
        super().__init__(data)
        self.seen: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, chosen: Any, visible: Any, saw_guesses: bool = False) -> None:
        self.seen.append((visible.rows, visible.class_ids))
        super().add(chosen, visible, saw_guesses)


@pytest.mark.parametrize("max_sure", [5000, 60])
def test_sure_rows_are_fitted_too(some_digits: Any, max_sure: int) -> None:
    """Even a label that the others speak against is never changed."""
    rows = np.flatnonzero(~some_digits.hidden)
    class_ids = some_digits.y[rows]
    class_ids[3] = (class_ids[3] + 1) % 10
    data = SearchData(
        views=some_digits.views,
        present=None,
        weights=None,
        rows=rows,
        class_ids=class_ids,
        n_classes=10,
        n_landmarks=60,
        other_n_landmarks=[],
        default_scaling="minmax",
        folds=split_labels(class_ids, 3, np.random.RandomState(0)),
        seed=0,
        n_threads=1,
        options=SearchOptions(max_sure=max_sure),
        report=lambda judgement: None,
    )
    judge(data, [Setting("minmax", 60, head="features", strength=0.1), Setting("minmax", 60, head="codes")])
    chosen = [(judgement, 1.0) for judgement in data.judged.values()]
    ensemble = NotedEnsemble(data)
    ensemble.add(chosen, data.visible())
    ensemble.add_sure_rows(chosen)
    assert ensemble.votes()[0, rows[3]].argmax() != class_ids[3]
    (given, _), (sure, guessed) = ensemble.seen
    assert set(given) < set(sure)
    np.testing.assert_array_equal(guessed[np.isin(sure, given)], class_ids)
    assert (guessed == some_digits.target[sure]).mean() > 0.85
    if max_sure == 60:
        assert len(sure) <= 60 + len(given)
    else:
        assert len(sure) > 0.7 * len(some_digits.target)


def test_the_tuner_suggests_rows_without_label(one_scaling: AnchorViewClassifier, some_digits: Any) -> None:
    names = np.array([f"row{i}" for i in range(len(some_digits.y))])
    model = quick().fit(Views(some_digits.views.arrays, ids=names), some_digits.y)
    np.testing.assert_array_equal(model.suggest_labels(12), names[one_scaling.suggest_labels(12)])
    rows = one_scaling.suggest_labels(12)
    assert len(set(rows)) == 12
    assert some_digits.hidden[rows].all()
    doubt = 1 - one_scaling.confidence_
    assert doubt[rows].mean() > doubt[some_digits.hidden].mean()
    assert set(model.suggest_labels(2, among=names[:40])) <= set(names[:40])
    with pytest.raises(ValueError, match="n must be"):
        model.suggest_labels(0)


# With few labels


def test_steady_settings_share_the_average_by_how_few_labels_there_are(some_digits: Any) -> None:
    data = search_data(some_digits)
    tried = [Setting(scaling, 60, head=head) for scaling in ("minmax", "l2") for head in ("nearest", "poisson", "knn")]
    tried.append(Setting("minmax", 60, head="nearest", ridge=1.0))
    rng = np.random.default_rng(0)
    for setting in tried:
        held_out = rng.dirichlet(np.ones(10), len(data.judged_rows))
        data.judged[setting] = Judgement(setting, 1.0, 0.5, (0.5,), 1.0, 0.0, 1.0, held_out)
    judgements, n_judged = list(data.judged.values()), len(data.judged_rows)
    steady = steady_settings(data, judgements)
    assert {head: [setting.scaling for setting in group] for head, group in steady.items()} == {
        "nearest": ["minmax", "l2"],
        "poisson": ["minmax", "l2"],
    }
    weights = {j.setting: weight for j, weight in choose_averaged(data, judgements, 10)}
    assert sum(weights.values()) == pytest.approx(20)
    evidence = n_judged / (n_judged + 20)
    rows = {"nearest": 80 * evidence, "poisson": 40 * (1 - evidence)}
    for head in steady:
        least = 20 * rows[head] / (n_judged + sum(rows.values())) / len(steady[head])
        assert min(weights[setting] for setting in steady[head]) >= least - 1e-9
    alone = choose_averaged(data, judgements, 1)
    assert sum(weight for _, weight in alone) == 2  # a single setting was asked for


def test_steady_settings_give_way_where_labels_are_many(some_digits: Any) -> None:
    data = search_data(some_digits)
    data.options = SearchOptions(steady_rows={"nearest": 80.0, "poisson": 1.0, "views": 20.0})
    tried = [Setting("minmax", 60, head=head) for head in ("knn", "nearest", "poisson")]
    judgements = [Judgement(setting, 1.0, 0.5, (0.5,), 1.0, 0.0, 1.0, np.empty((0, 10))) for setting in tried]
    parts = join_steady(data, {tried[0]: 20.0}, judgements)
    assert set(parts) == set(tried[:2])  # less than one of 20 picks would be left for the third
    assert sum(parts.values()) == pytest.approx(20)


def test_settings_are_in_units_of_the_data(one_scaling: AnchorViewClassifier) -> None:
    assert tried(one_scaling, "units") == {("data",)}
    assert one_scaling.best_params_["solver"].units == "data"
