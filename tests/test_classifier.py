"""The tuner has what FSSMSC has: constraints, weights, an embedding, a status; and its best parameters fit into it."""

from __future__ import annotations

import logging
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata
from sklearn.utils import Bunch

from anchorview import FSSMSC, AnchorViewClassifier, Constraints, Views, datasets, plotting
from anchorview.export import results_frame
from anchorview.view_importance import measure_views

SHORT: dict[str, Any] = dict.fromkeys(("ridges", "l1s", "must_link_weights", "heavy_ridges"), ())
SHORT |= {"feature_strengths": (1.0,), "graph_strengths": (0.8,)}


def build(**parameters: Any) -> AnchorViewClassifier:
    fixed = {"n_landmarks": 40, "scaling": "minmax", "n_repeats": 1, "random_state": 0, "n_jobs": 1}
    return AnchorViewClassifier(**{**fixed, "search_options": SHORT, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    """Four clusters that twelve labels leave in doubt."""
    made = datasets.make_multiview_subspaces(400, 4, (6, 5), noise=0.5, subspace_dim=3, random_state=4)
    y = datasets.hide_labels(made.target, n_labels=12, stratified=True, random_state=0)
    pairs = np.random.default_rng(0).choice(400, size=(300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = made.target[pairs[:, 0]] == made.target[pairs[:, 1]]
    return Bunch(
        data=made.data,
        views=made.views,
        target=made.target,
        y=y,
        hidden=y < 0,
        must=pairs[same].tolist(),
        cannot=pairs[~same].tolist(),
    )


@pytest.fixture(scope="module")
def plain(data: Any) -> AnchorViewClassifier:
    return build(search_options=None).fit(data.views, data.y)


def right(model: AnchorViewClassifier, data: Any) -> float:
    return float((model.labels_ == data.target)[data.hidden].mean())


# What FSSMSC has


def test_it_has_what_fssmsc_has(plain: AnchorViewClassifier, data: Any) -> None:
    def public(model: Any) -> set[str]:
        return {name for name in dir(model) if not name.startswith("_")} - set(model.get_params())

    of_one_solve = {"n_iter_", "objective_history_", "residual_history_", "relabelled_"}
    of_one_solve |= {"paper_weights_", "nonzeros_"}
    assert public(FSSMSC(n_landmarks=40).fit(data.views, data.y)) - public(plain) == of_one_solve


def test_transform_of_the_training_rows_is_the_embedding(plain: AnchorViewClassifier, data: Any) -> None:
    assert plain.embedding_.shape == (400, 4)
    np.testing.assert_allclose(plain.transform(data.views), plain.embedding_, atol=1e-6)
    np.testing.assert_allclose(plain.transform(data.views[7:9]), plain.embedding_[7:9], atol=1e-6)
    np.testing.assert_allclose(plain.codes_ @ plain.landmark_embedding_.T, plain.embedding_, atol=1e-6)
    assert plain.get_feature_names_out().tolist() == [f"anchorviewclassifier{number}" for number in range(4)]
    assert plain.landmarks_.shape == (40, 11)


def test_rows_on_dask_are_predicted_where_they_are(plain: AnchorViewClassifier, data: Any) -> None:
    import dask.array as da

    on_dask = {name: da.from_array(array, chunks=(40, -1)) for name, array in data.views.items()}
    np.testing.assert_array_equal(plain.predict(on_dask), plain.predict(data.views))
    np.testing.assert_allclose(plain.predict_proba(on_dask), plain.predict_proba(data.views), atol=1e-5)


def test_the_embedding_tells_the_classes_apart(plain: AnchorViewClassifier, data: Any) -> None:
    rows = plain.embedding_ / np.linalg.norm(plain.embedding_, axis=1, keepdims=True)
    labelled = ~data.hidden
    nearest = (rows @ rows[labelled].T).argmax(axis=1)
    assert (data.target[labelled][nearest] == data.target)[data.hidden].mean() > 0.75


def test_pictures_and_tables_of_it(plain: AnchorViewClassifier, data: Any) -> None:
    part = slice(0, 400, 5)
    small = build(n_landmarks=20).fit(data.views[part], np.where(np.arange(80) % 3, data.target[part], -1))
    figure = plotting.plot_summary(small, data.target[part], np.arange(80) % 3 > 0, "tuned")
    assert len(figure.axes) >= 2
    assert [c for c in results_frame(plain).columns if c.startswith("embedding")] == [f"embedding{i}" for i in range(4)]


def test_views_are_measured(data: Any) -> None:
    noise = np.random.default_rng(0).normal(size=(400, 4))
    model = build().fit([*data.data, noise], data.y)
    found = measure_views(model, Views([*data.data, noise]), np.where(data.hidden, data.target, -1))
    assert found.names == ["view0", "view1", "view2"]
    assert found.accuracy_drop[:2].max() > found.accuracy_drop[2]


def test_the_status_says_what_was_done(plain: AnchorViewClassifier, data: Any) -> None:
    n = len(plain.cv_results_["params"])
    assert isinstance(plain.status_, str)
    assert (
        f"judged {n} settings on 12 hidden labels, 3 folds in all, and averaged {len(plain.averaged_)}" in plain.status_
    )
    assert re.search(r"all \d+ logistic regressions converged", plain.status_)
    limits = {**SHORT, "max_graph_rows": 10}
    assert "the graph was left out" in build(search_options=limits).fit(data.views, data.y).status_
    assert "n_landmarks was lowered" in build(n_landmarks=300).fit(data.views, data.y).status_


class StopAfter:
    """A callback that asks to stop after some settings."""

    def __init__(self, n_settings: int) -> None:
        self.left = n_settings

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.left -= 1
        return self.left == 0


def test_a_callback_can_end_the_search(data: Any) -> None:
    pytest.importorskip("sklearn.callback")
    model = build().set_callbacks(StopAfter(3)).fit(data.views, data.y)
    assert len(model.cv_results_["params"]) == 3
    assert "stopped by a callback" in model.status_
    assert len(model.labels_) == 400


# The best setting, and ranks


@pytest.mark.parametrize("scaling", ["minmax", ["minmax", "l2"], [["minmax", "standard"]]])
def test_the_best_parameters_fit_into_fssmsc(data: Any, scaling: Any) -> None:
    model = build(scaling=scaling).fit(data.views, data.y)
    assert set(model.best_params_) <= set(FSSMSC().get_params())
    assert model.best_params_["readers"] in (("nearest",), ("knn",))
    again = FSSMSC(**model.best_params_, random_state=0).fit(data.views, data.y)
    assert (again.labels_ == data.target)[data.hidden].mean() > 0.7
    if scaling == [["minmax", "standard"]]:
        assert model.best_params_["scaling"] == ["minmax", "standard"]


def test_the_best_of_all_and_the_best_for_fssmsc(plain: AnchorViewClassifier) -> None:
    table = plain.cv_results_
    assert plain.best_setting_ == table["params"][plain.best_index_]
    assert plain.best_index_ == table["shrunk_loss"].argmin()
    ours = np.flatnonzero(np.isin(table["param_head"], ["nearest", "knn"]))[0]
    assert plain.best_params_score_ == table["mean_test_score"][ours]
    assert plain.best_params_["ridge"] == table["params"][ours]["ridge"]


def test_ranks_follow_what_they_rank(plain: AnchorViewClassifier) -> None:
    table = plain.cv_results_
    assert len(set(table["mean_test_score"])) < len(table["mean_test_score"])  # there are ties
    np.testing.assert_array_equal(table["rank_test_score"], rankdata(-table["mean_test_score"], method="min"))
    np.testing.assert_array_equal(table["rank_test_loss"], rankdata(table["mean_test_loss"], method="min"))
    assert table["mean_test_score"][table["rank_test_score"] == 1].min() == table["mean_test_score"].max()


# Constraints


def test_pairs_improve_the_labels_and_are_heeded() -> None:
    """On average over two draws: none 0.959, must 0.976, cannot 0.973, both 0.989 when this was written."""
    found = []
    for seed in range(2):
        made = datasets.make_multiview_subspaces(400, 4, (6, 5), noise=0.5, subspace_dim=3, random_state=seed)
        y = datasets.hide_labels(made.target, n_labels=16, stratified=True, random_state=seed)
        pairs = np.random.default_rng(seed).choice(400, size=(1000, 2))
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        same = made.target[pairs[:, 0]] == made.target[pairs[:, 1]]
        must, cannot = pairs[same].tolist(), pairs[~same].tolist()
        models = [
            build().fit(made.views, y, constraints=Constraints.from_pairs(n_rows=400, **given))
            for given in ({}, {"must": must}, {"cannot": cannot}, {"must": must, "cannot": cannot})
        ]
        found.append([(model.labels_ == made.target)[y < 0].mean() for model in models])
        broken = models[3].constraint_violations_
        assert broken.must[0] == 0
        assert broken.cannot[0] <= 0.02 * broken.cannot[1]
        for model in models[1:]:  # pairs are learned from, not only obeyed
            assert np.abs(model.landmark_embedding_ - models[0].landmark_embedding_).max() > 1e-3
    none, must_only, cannot_only, both = np.mean(found, axis=0)
    assert min(must_only, cannot_only) > none + 0.005
    assert both > none + 0.02


def test_no_pairs_are_no_constraints(plain: AnchorViewClassifier, data: Any) -> None:
    nothing = build(search_options=None).fit(data.views, data.y, constraints=Constraints.from_pairs(n_rows=400))
    np.testing.assert_array_equal(nothing.labels_, plain.labels_)
    np.testing.assert_allclose(nothing.confidence_, plain.confidence_, atol=1e-9)


def test_groups_and_ids(data: Any) -> None:
    ids = np.array([f"s{row}" for row in range(400)])
    groups = np.where(np.arange(400) < 120, data.target, -1)
    constraints = Constraints.from_groups(must=groups) + Constraints.from_pairs(
        cannot=[(ids[a], ids[b]) for a, b in data.cannot]
    )
    model = build().fit(Views(data.views, ids=ids), data.y, constraints=constraints)
    assert right(model, data) > 0.93
    assert model.constraint_violations_.must[0] == 0
    assert model.constraint_conflicts_ == []


def test_pairs_of_hidden_rows_tell_nothing(data: Any) -> None:
    """Labels without meaning, each linked with rows of its own label: found again only if pairs were shown."""
    y = data.y.copy()
    given = np.flatnonzero(~data.hidden)
    y[given] = np.random.default_rng(1).permutation(y[given])
    must = [(int(a), int(b)) for a in given for b in given if a < b and y[a] == y[b]]
    chain = [(int(a), int(data.hidden.nonzero()[0][y[a]])) for a in given]  # through a row that has no label
    cannot = [(int(a), int(b)) for a in given for b in given if a < b and y[a] != y[b]]
    constraints = Constraints.from_pairs(must=must + chain, cannot=cannot, n_rows=400)
    groups = Constraints.from_groups(must=np.where(data.hidden, -1, y))
    for known in (constraints, groups):
        scores = build().fit(data.views, y, constraints=known).cv_results_["mean_test_score"]
        assert scores.max() < 0.67  # chance is 0.25, the best of six tries on twelve rows above it


def test_contradictions_are_named_and_not_fatal(data: Any) -> None:
    a, b = (int(np.flatnonzero(data.y == number)[0]) for number in (0, 1))
    with pytest.warns(UserWarning, match="have different labels, but must-links"):
        model = build().fit(data.views, data.y, constraints=Constraints.from_pairs(must=[(a, b)], n_rows=400))
    assert (model.labels_[a], model.labels_[b]) == (0, 1)
    assert len(model.constraint_conflicts_) == 1
    with pytest.raises(TypeError, match="must be a Constraints object"):
        build().fit(data.views, data.y, constraints=[(0, 1)])


def changed(array: Any, row: int = 203, column: int = 2) -> Any:
    """Return a copy with one cell changed, in a row that no sample of rows is likely to hold."""
    copy = array.copy()
    copy[row, column] += 1e-6
    return copy


def other_data(data: Any) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return fits that differ from one another in one thing only, each from the one before it."""
    (first, second), mask = data.data, np.ones((400, 2), dtype=bool)
    mask[::7, 1] = False
    masked = mask.copy()
    masked[204, 1] = False
    weights = 1.0 + np.arange(400) % 2
    pairs = Constraints.from_pairs(must=data.must, n_rows=400)
    heavier = Constraints.from_pairs(must=[(*pair, 1.0 + (pair == data.must[5])) for pair in data.must], n_rows=400)
    return {
        "data": ([first, second], {}),
        "one cell": ([changed(first), second], {}),
        "a mask": (Views([first, second], mask=mask), {}),
        "one entry of the mask": (Views([first, second], mask=masked), {}),
        "weights": ([first, second], {"sample_weight": weights}),
        "one weight": ([first, second], {"sample_weight": weights + 1e-9 * (np.arange(400) == 301)}),
        "pairs": ([first, second], {"constraints": pairs}),
        "the weight of a pair": ([first, second], {"constraints": heavier}),
    }


def test_judgements_of_other_data_are_not_used(data: Any) -> None:
    """Whatever differs starts the search anew, however little; what is the same goes on."""
    model = build(warm_start=True, search_options={**SHORT, "second_fit": False})
    for what, (views, options) in other_data(data).items():
        before = None if model._search is None else model._search.judged
        model.fit(views, data.y, **options)
        judged = model._search.judged
        assert judged is not before, what
        copies = Views([np.asfortranarray(part) for part in getattr(views, "arrays", views)])
        copies = Views(copies, mask=views.present) if isinstance(views, Views) else copies
        model.fit(copies, data.y, **options)
        assert model._search.judged is judged, f"{what}, once more"


def test_judgements_of_other_sparse_data_are_not_used(data: Any) -> None:
    counts = sparse.csr_array(np.random.default_rng(0).poisson(0.3, (400, 30)).astype(float))
    model = build(warm_start=True, scaling="lsa").fit([counts], data.y)
    judged = model._search.judged
    model.fit([counts.copy()], data.y)
    assert model._search.judged is judged
    other = counts.copy()
    other.data[len(other.data) // 2] += 1
    model.fit([other], data.y)
    assert model._search.judged is not judged


# Weights


def test_wrong_labels_of_small_weight_do_little_harm(data: Any) -> None:
    rng = np.random.default_rng(0)
    y = data.y.copy()
    wrong = rng.choice(np.flatnonzero(data.hidden), 30, replace=False)
    y[wrong] = (data.target[wrong] + 1 + rng.integers(3, size=30)) % 4
    weights = np.where(np.isin(np.arange(400), wrong), 1e-3, 1.0)
    left = data.hidden.copy()
    left[wrong] = False
    fits = [build().fit(data.views, y), build().fit(data.views, y, sample_weight=weights)]
    equal, light = ((model.predict(data.views) == data.target)[left].mean() for model in fits)
    assert light > equal + 0.05
    assert fits[1].best_score_ > fits[0].best_score_ + 0.1  # wrong labels count as little in the judgement


def test_rows_of_weight_zero_keep_their_label_and_say_nothing(data: Any) -> None:
    y = data.y.copy()
    wrong = np.flatnonzero(data.hidden)[:40]
    y[wrong] = (data.target[wrong] + 1) % 4
    weights = np.where(np.isin(np.arange(400), wrong), 0.0, 1.0)
    model = build().fit(data.views, y, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_[wrong], y[wrong])
    assert (model.predict(data.views)[wrong] == data.target[wrong]).mean() > 0.7
    only = np.where(data.y == 1, 0.0, 1.0)
    assert build().fit(data.views, data.y, sample_weight=only).predict_proba(data.views).shape == (400, 4)
    with pytest.raises(ValueError, match=r"at least two classes; got 1 class\(es\) of positive weight"):
        build().fit(data.views, data.y, sample_weight=np.where(data.y == 1, 1.0, 0.0) + 0.5 * data.hidden)


# Lines


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.mark.parametrize("parameters", [{}, {"scaling": None}, {"n_landmarks": [40, 30, 30]}])
def test_lines_count_settings_and_tell_the_time_left(data: Any, parameters: dict[str, Any]) -> None:
    handler = Lines()
    logging.getLogger("anchorview").addHandler(handler)
    try:
        model = build(verbose=True, **parameters).fit(data.views, data.y)
    finally:
        logging.getLogger("anchorview").removeHandler(handler)
    pattern = r"\[ *(\d+)/(\d+)\] scaling=\S+ .*: accuracy [\d.]+, log loss [\d.]+ \(about [\d.]+ (s|min) left\)"
    found = [match for match in (re.search(pattern, line) for line in handler.lines) if match]
    n = len(model.cv_results_["params"])
    assert [int(match[1]) for match in found] == list(range(1, n + 1))
    totals = [int(match[2]) for match in found]
    assert totals[-1] == n
    assert all(after <= before for before, after in pairwise(totals))  # it may turn out to be less, never more


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scaling": []}, "scaling must be a name, a sequence of names"),
        ({"scaling": 3}, "scaling=3 is not known"),
        ({"scaling": "minmx"}, "scaling='minmx'"),
        ({"scaling": ["minmax", "l3"]}, "scaling='l3'"),
        ({"n_averaged": 2.5}, "n_averaged"),
        ({"n_splits": 1}, "n_splits"),
        ({"warm_start": "no"}, "warm_start"),
        ({"on_empty": "dorp"}, "on_empty"),
        ({"n_jobs": "two"}, "n_jobs"),
        ({"search_options": [1]}, "search_options must be a dict"),
        ({"search_options": {"n_finalists": 0}}, r"search_options\['n_finalists'\]"),
        ({"search_options": {"ridges": 3.0}}, r"search_options\['ridges'\] must be a list or a tuple"),
        ({"search_options": {"graph_strengths": (1.0,)}}, r"search_options\['graph_strengths'\] must be below 1"),
        ({"search_options": {"sure_share": 1.5}}, r"search_options\['sure_share'\] must be at most 1"),
        ({"search_options": {"dense_scalings": ("l3",)}}, r"search_options\['dense_scalings'\]='l3' is not known"),
        ({"search_options": {"prior_losses": {"nearest": 1.0}}}, r"search_options\['prior_losses'\] must be a dict"),
        ({"search_options": {"second_fit": "maybe"}}, r"search_options\['second_fit'\]"),
    ],
)
def test_parameters_that_make_no_sense_are_named(data: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**parameters).fit(data.views, data.y)
