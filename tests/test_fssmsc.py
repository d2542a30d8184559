"""The estimator as a user meets it."""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from anchorview import ADMM, FSSMSC, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from support.settled import CHOSEN, settle

OMITTED = ["l1", "must_link", "cannot_link", "smoothness", "coupling"]


@pytest.fixture(scope="module")
def data() -> Any:
    """Three overlapping clusters in two views, a sixth of the rows labelled."""
    made = make_multiview_subspaces(120, 3, (8, 6), noise=0.6, random_state=1)
    made.y = hide_labels(made.target, 0.16, stratified=True, random_state=0)
    made.model = build().fit(made.views, made.y)
    return made


@pytest.fixture(scope="module")
def easy() -> Any:
    """Four well separated clusters in three views."""
    return make_multiview_subspaces(240, 4, (50, 40, 30), subspace_dim=2, noise=0.1, random_state=0)


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 30, "random_state": 0, "n_jobs": 1, **parameters})


# What is learned is good


def test_handwritten_digits_from_five_percent_of_the_labels(
    digits: Any, digits_y: np.ndarray, digits_model: FSSMSC
) -> None:
    hidden = digits_y == -1
    assert hidden.sum() == 1900
    assert (digits_model.labels_[hidden] == digits.target[hidden]).mean() > 0.95


def test_handwritten_digits_not_in_the_fit(digits: Any, digits_y: np.ndarray) -> None:
    train = np.arange(2000) % 2 == 0
    model = FSSMSC(n_landmarks=200, random_state=0).fit(digits.views[train], digits_y[train])
    assert model.score(digits.views[~train], digits.target[~train]) > 0.9


def test_without_labels_separate_subspaces_are_found(easy: Any) -> None:
    model = build(n_clusters=4).fit(easy.views)
    assert adjusted_rand_score(easy.target, model.labels_) > 0.95
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    np.testing.assert_array_equal(model.predict(easy.views), model.labels_)
    assert "no labels were given" in model.status_


def test_labels_all_hidden_are_no_labels(easy: Any) -> None:
    model = build(n_clusters=4)
    first = model.fit_predict(easy.views)
    np.testing.assert_array_equal(model.fit_predict(easy.views, np.full(240, -1)), first)


def test_labels_and_clusters_both_find_the_digits(digits: Any, digits_y: np.ndarray, digits_model: FSSMSC) -> None:
    """Without labels the digits come out about as well; labels name the clusters."""
    alone = FSSMSC(10, n_landmarks=300, random_state=0).fit(digits.views)
    assert adjusted_rand_score(digits.target, alone.labels_) > 0.6
    hidden = digits_y == -1
    with_labels, without = (
        adjusted_rand_score(digits.target[hidden], model.labels_[hidden]) for model in (digits_model, alone)
    )
    assert with_labels > max(0.9, without - 0.03)


# fit, predict and transform agree


@pytest.mark.parametrize("solver", ["active_set", "admm"])
@pytest.mark.parametrize("readers", ["nearest", "euclidean", "knn"])
def test_predict_gives_labels_and_transform_the_embedding(data: Any, solver: str, readers: str) -> None:
    model = build(solver=solver, readers=readers).fit(data.views, data.y)
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)
    np.testing.assert_allclose(model.transform(data.views), model.embedding_, atol=1e-6)
    probabilities = model.predict_proba(data.views)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.labels_)
    hidden = data.y == -1
    # The products of a fit are in single precision, those of predict in double.
    np.testing.assert_allclose(probabilities.max(axis=1)[hidden], model.confidence_[hidden], atol=1e-5)


def test_the_same_on_all_handwritten_digits(digits: Any, digits_model: FSSMSC) -> None:
    np.testing.assert_array_equal(digits_model.predict(digits.views), digits_model.labels_)
    np.testing.assert_allclose(digits_model.transform(digits.views), digits_model.embedding_, atol=1e-12)


def forms(data: Any) -> dict[str, tuple[Any, Any]]:
    """Return every way to hand over the same two views, with the parameter `views` it needs."""
    side_by_side = np.hstack(data.data)
    names = [f"c{i}" for i in range(14)]
    return {
        "views": (data.views, None),
        "list": (list(data.data), None),
        "tuple": (tuple(data.data), None),
        "dict": (dict(zip(("image", "text"), data.data, strict=True)), None),
        "sizes": (side_by_side, [8, 6]),
        "slices": (side_by_side, [slice(0, 8), slice(8, 14)]),
        "numbers": (side_by_side, {"image": list(range(8)), "text": list(range(8, 14))}),
        "frame": (pd.DataFrame(side_by_side, columns=names), {"image": names[:8], "text": names[8:]}),
        "frames": ([pd.DataFrame(array) for array in data.data], None),
        "fortran": (np.asfortranarray(side_by_side), [8, 6]),
    }


@pytest.mark.parametrize("form", forms(make_multiview_subspaces(9, 3, (8, 6), random_state=0)))
def test_every_form_of_input_gives_the_same(data: Any, form: str) -> None:
    X, groups = forms(data)[form]
    reference = data.model
    model = build(views=groups).fit(X, data.y)
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_allclose(model.embedding_, reference.embedding_, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)
    assert model.n_features_in_ == 14 and model.view_sizes_ == [8, 6]


def test_nested_lists_are_tables_or_views(data: Any) -> None:
    one = build().fit(data.data[0].tolist(), data.y)
    assert one.view_sizes_ == [8]
    np.testing.assert_array_equal(one.predict(data.data[0].tolist()), one.labels_)
    two = build().fit([array.tolist() for array in data.data], data.y)
    assert two.view_sizes_ == [8, 6]


def test_views_of_a_dict_may_come_in_any_order(data: Any) -> None:
    square = {"left": data.data[0][:, :6], "right": data.data[1]}  # sizes alone would not tell them apart
    model = build().fit(square, data.y)
    assert model.view_names_ == ["left", "right"]
    turned = {"right": square["right"], "left": square["left"]}
    np.testing.assert_array_equal(model.predict(turned), model.labels_)
    np.testing.assert_array_equal(model.predict(Views(turned)), model.labels_)
    np.testing.assert_array_equal(model.predict(list(square.values())), model.labels_)
    with pytest.raises(ValueError, match=r"views that were not in the fit: \['sound'\]"):
        model.predict({"left": square["left"], "sound": square["right"]})


def test_each_row_depends_on_itself_only(data: Any) -> None:
    model = build().fit(data.views[:90], data.y[:90])
    whole, embedded = model.predict(data.views), model.transform(data.views)
    shuffled = np.random.default_rng(0).permutation(120)
    np.testing.assert_array_equal(model.predict(data.views[shuffled]), whole[shuffled])
    for row in (0, 3, 110, 119):
        assert model.predict(data.views[row]) == whole[row]
        np.testing.assert_allclose(model.transform(data.views[row])[0], embedded[row], atol=1e-5)
    np.testing.assert_array_equal(model.predict(data.views[:0:-7]), whole[:0:-7])


def test_rows_of_several_blocks(digits: Any, digits_model: FSSMSC) -> None:
    """2,000 rows are two blocks; some rows of the second must come out as they do alone."""
    rows = np.array([1999, 3, 1200, 1024, 1023])
    np.testing.assert_allclose(digits_model.transform(digits.views[rows]), digits_model.embedding_[rows], atol=1e-9)
    np.testing.assert_array_equal(digits_model.predict(digits.views[rows]), digits_model.labels_[rows])


def test_shapes_of_what_is_learned(data: Any) -> None:
    model = data.model
    assert model.codes_.shape == (120, 30)
    assert model.codes_.min() >= 0 and model.codes_.max() <= 1
    assert model.landmarks_.shape == (30, 14)
    assert model.landmark_embedding_.shape == (3, 30)
    np.testing.assert_allclose(model.landmark_embedding_ @ model.landmark_embedding_.T, np.eye(3), atol=1e-9)
    assert model.embedding_.shape == (120, 3)
    assert model.confidence_.shape == model.labels_.shape == (120,)
    assert ((model.confidence_ > 0) & (model.confidence_ <= 1)).all()
    assert len(model.objective_history_) == len(model.residual_history_) == model.n_iter_


# Labels


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labelled_rows_keep_their_labels(data: Any) -> None:
    wrong = data.y.copy()
    labelled = np.flatnonzero(wrong >= 0)
    wrong[labelled[:4]] = (wrong[labelled[:4]] + 1) % 3  # also those that contradict the features
    for readers in ("nearest", "knn"):
        model = build(readers=readers).fit(data.views, wrong)
        np.testing.assert_array_equal(model.labels_[labelled], wrong[labelled])
        assert (model.confidence_[labelled] == 1).all()


def test_identical_rows_keep_contradicting_labels(data: Any) -> None:
    twice = np.append(np.arange(120), np.flatnonzero(data.y >= 0))
    y = np.append(data.y, (data.y[data.y >= 0] + 1) % 3)
    np.testing.assert_array_equal(build(solver__tol=1).fit(data.views[twice], y).labels_[y >= 0], y[y >= 0])


def names_of(y: np.ndarray, blank: Any) -> np.ndarray:
    result = np.array(["ash", "birch", "cedar", blank], dtype=object)[y]
    return result


@pytest.mark.parametrize(
    "convert",
    [
        lambda y: names_of(y, None),
        lambda y: names_of(y, ""),
        lambda y: names_of(y, np.nan),
        lambda y: names_of(y, -1),
        lambda y: names_of(y, "").astype(str),
        lambda y: names_of(y, None).tolist(),
        lambda y: names_of(y, -1).tolist(),
        lambda y: pd.Series(names_of(y, None)),
        lambda y: pd.Series(names_of(y, None), dtype="string"),
        lambda y: pd.Series(names_of(y, None), dtype="category"),
    ],
)
def test_names_as_labels(data: Any, convert: Any) -> None:
    reference = data.model
    model = build().fit(data.views, convert(data.y))
    assert model.classes_.tolist() == ["ash", "birch", "cedar"]
    assert model.labels_.dtype.kind == "U"
    np.testing.assert_array_equal(model.labels_, model.classes_[reference.labels_])
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)
    assert model.score(data.views, names_of(data.target, None)) == reference.score(data.views, data.target)


@pytest.mark.parametrize(
    "convert",
    [
        lambda y: y.astype(float),
        lambda y: y.astype(np.int8),
        lambda y: y.tolist(),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
        lambda y: pd.Series(y).where(y >= 0),  # NaN for unlabelled
        lambda y: pd.Series(y).where(y >= 0).astype("Int64"),
        lambda y: np.where(y >= 0, y, None),
    ],
)
def test_whole_numbers_as_labels(data: Any, convert: Any) -> None:
    reference = data.model
    model = build().fit(data.views, convert(data.y))
    assert model.labels_.dtype.kind == "i"
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_array_equal(model.labels_, reference.labels_)


def test_labels_need_not_start_at_zero_nor_be_next_to_each_other(data: Any) -> None:
    codes = np.array([-7, 100, 3, -1])
    model = build().fit(data.views, codes[data.y])
    np.testing.assert_array_equal(model.classes_, [-7, 3, 100])
    assert (model.labels_ == codes[data.target]).mean() > 0.8
    assert set(np.unique(model.predict(data.views))) <= {-7, 3, 100}
    assert model.predict_proba(data.views).shape == (120, 3)


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series])
def test_minus_one_and_one_are_two_classes(data: Any, kind: Any) -> None:
    y = np.where(data.target == 0, 1, -1)
    with pytest.warns(UserWarning, match="read as two classes"):
        model = build().fit(data.views, kind(y))
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.score(data.views, kind(y)) == 1.0
        wrong = np.where(np.arange(120) % 4 == 0, -1, y)
        assert model.score(data.views, kind(wrong)) == (wrong == y).mean() < 1


def test_truth_values_are_two_classes(data: Any) -> None:
    model = build().fit(data.views, data.target > 0)
    assert model.classes_.tolist() == [False, True]


def test_the_users_data_are_not_changed(data: Any) -> None:
    before, y = [array.copy() for array in data.data], data.y.copy()
    build(scaling="standard").fit(data.views, data.y).predict(data.views)
    build(scaling="none").fit(np.hstack(data.data), data.y)
    np.testing.assert_array_equal(data.y, y)
    for array, copy in zip(data.data, before, strict=True):
        np.testing.assert_array_equal(array, copy)


# Score


def test_score_leaves_unlabelled_rows_out(data: Any) -> None:
    model = data.model
    predicted = model.predict(data.views)
    truth = data.target.copy()
    truth[::2] = -1
    assert model.score(data.views, truth) == (predicted == data.target)[1::2].mean()
    weights = np.linspace(0, 1, 120)
    expected = np.average((predicted == data.target)[1::2], weights=weights[1::2])
    assert model.score(data.views, truth, sample_weight=weights) == pytest.approx(expected)
    one_class = np.where(data.target == 1, 1, -1)  # -1 and 1 only, yet -1 is no class of this fit
    assert model.score(data.views, one_class) == (predicted == 1)[data.target == 1].mean()


def test_score_without_labels_is_an_error(data: Any) -> None:
    with pytest.raises(ValueError, match="nothing to score against"):
        data.model.score(data.views, np.full(120, -1))


# The same seed


@pytest.mark.parametrize("landmarks", ["kmeans", "random"])
def test_threads_do_not_change_a_bit(landmarks: str) -> None:
    made = make_multiview_subspaces(2500, 3, (8, 6), noise=0.6, random_state=1)
    y = hide_labels(made.target, 0.02, stratified=True, random_state=0)
    one, two = (build(landmarks=landmarks, n_jobs=n_jobs).fit(made.views, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.landmarks_, two.landmarks_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.objective_history_, two.objective_history_)
    np.testing.assert_array_equal(one.predict_proba(made.views), two.predict_proba(made.views))


def test_clusters_do_not_depend_on_threads_either(easy: Any) -> None:
    one, two = (build(n_clusters=4, n_jobs=n_jobs).fit(easy.views) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_seeds(data: Any) -> None:
    first, again = data.model, build().fit(data.views, data.y)
    other = build(random_state=1).fit(data.views, data.y)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    assert (first.landmarks_ != other.landmarks_).any()
    build(random_state=np.random.RandomState(0)).fit(data.views, data.y)


def test_a_second_fit_forgets_the_first(data: Any, easy: Any) -> None:
    model = build().fit(easy.views, easy.target)
    model.fit(data.views, data.y)
    fresh = data.model
    np.testing.assert_array_equal(model.embedding_, fresh.embedding_)
    np.testing.assert_array_equal(model.predict(data.views), fresh.labels_)
    assert model.view_sizes_ == [8, 6] and model.n_features_in_ == 14


# scikit-learn's conventions


def test_clone_and_parameters(data: Any) -> None:
    model = build(scaling=["l2", "minmax"], l1=0.1, solver__omit=("coupling",), views=None)
    copy = clone(model.fit(data.views, data.y))
    theirs, ours = copy.get_params(), model.get_params()
    assert theirs.pop("solver") is not ours.pop("solver")  # a copy with the same parameters, which are listed too
    assert theirs == ours and theirs["solver__omit"] == ("coupling",)
    assert copy.get_params()["l1"] == 0.1
    assert not hasattr(copy, "labels_")
    assert copy.set_params(l1=0.3).l1 == 0.3
    assert "l1=0.1" in repr(model)


@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_pickling_keeps_the_predictions(data: Any, solver: str) -> None:
    model = build(solver=solver).fit(data.views, data.y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(data.views), model.predict_proba(data.views))
    assert back.status_ == model.status_


def test_data_frames_and_names_of_the_output(data: Any) -> None:
    names = [f"c{i}" for i in range(14)]
    table = pd.DataFrame(np.hstack(data.data), columns=names, index=np.arange(120) + 7)
    model = build(views={"image": names[:8], "text": names[8:]}).fit(table, data.y)
    assert model.feature_names_in_.tolist() == names
    assert model.view_names_ == ["image", "text"]
    assert model.get_feature_names_out().tolist() == ["fssmsc0", "fssmsc1", "fssmsc2"]
    np.testing.assert_array_equal(model.predict(table[names[::-1]]), model.predict(table))  # views go by name
    model.set_output(transform="pandas")
    embedded = model.transform(table)
    assert embedded.columns.tolist() == ["fssmsc0", "fssmsc1", "fssmsc2"]
    assert embedded.index.tolist() == table.index.tolist()
    np.testing.assert_allclose(embedded.to_numpy(), model.embedding_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    assert model.predict_proba(table).shape == (120, 3)


@pytest.mark.parametrize("form", ["views", "list", "dict"])
def test_pandas_output_for_several_views(data: Any, form: str) -> None:
    X, _ = forms(data)[form]
    embedded = build().set_output(transform="pandas").fit(X, data.y).transform(X)
    assert isinstance(embedded, pd.DataFrame) and embedded.shape == (120, 3)


def test_fit_predict_and_fit_transform(data: Any) -> None:
    model = data.model
    np.testing.assert_array_equal(build().fit_predict(data.views, data.y), model.labels_)
    np.testing.assert_allclose(build().fit_transform(data.views, data.y), model.embedding_, atol=1e-6)


def test_precision_follows_the_data(data: Any) -> None:
    for dtype in (np.float32, np.float64):
        views = [array.astype(dtype) for array in data.data]
        model = build().fit(views, data.y)
        assert model.embedding_.dtype == model.transform(views).dtype == dtype
        assert (model.labels_ == data.target).mean() > 0.8


# Parts of the model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_part_can_be_left_out_and_matters(data: Any) -> None:
    whole = build(coupling=1e-2).fit(data.views, data.y)
    for name in OMITTED:
        part = build(coupling=1e-2, solver__omit=(name,)).fit(data.views, data.y)
        assert part.status_
        assert np.abs(part.codes_ - whole.codes_).max() > 1e-6, name
        assert np.abs(part.landmark_embedding_ - whole.landmark_embedding_).max() > 1e-6, name


@pytest.mark.parametrize(
    ("omitted", "parameter"), [("l1", "l1"), ("coupling", "coupling"), ("must_link", "must_link_weight")]
)
def test_leaving_a_part_out_is_giving_it_no_weight(data: Any, omitted: str, parameter: str) -> None:
    without = build(solver__omit=[omitted]).fit(data.views, data.y)
    weightless = build(**{parameter: 0}).fit(data.views, data.y)
    np.testing.assert_allclose(without.embedding_, weightless.embedding_, atol=1e-6)


def test_leaving_out_smoothness_needs_labels(data: Any) -> None:
    with pytest.raises(ValueError, match="nothing to learn from when there are no labels"):
        build(n_clusters=3, solver__omit=("smoothness",)).fit(data.views)


def test_larger_l1_gives_sparser_codes(data: Any) -> None:
    counts = [build(l1=l1).fit(data.views, data.y).codes_.nnz for l1 in (0.0, 0.2, 0.6)]
    assert counts[0] > counts[1] > counts[2] > 0


@pytest.mark.parametrize("solver", ["active_set", "admm"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_papers_rule_takes_the_codes_of_the_joint_problem(data: Any, solver: str) -> None:
    """Nearest labelled row by plain distance between A z, with the z that the labels have moved."""
    model = build(readers="paper", solver=solver, coupling=1e-2).fit(data.views, data.y)
    rows = model.codes_ @ model.landmark_embedding_.T
    labelled = np.flatnonzero(np.asarray(data.y) != -1)
    distances = ((rows[:, None] - rows[None, labelled]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.labels_, np.asarray(data.y)[labelled][distances.argmin(axis=1)])
    other = build(readers="euclidean", solver=solver, coupling=1e-2).fit(data.views, data.y)
    assert np.abs(other.embedding_ - model.embedding_)[labelled].max() > 1e-6


# How the fit went


@pytest.mark.parametrize("coupling", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_never_rises(data: Any, coupling: float, ridge: float) -> None:
    model = build(coupling=coupling, ridge=ridge, solver__tol=0, solver__max_iter=15).fit(data.views, data.y)
    history = model.objective_history_
    assert len(history) == 15 and (history > 0).all()
    assert (np.diff(history) <= 1e-10 * history[0]).all()


def test_status_when_converged(data: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = build(solver__max_iter=200).fit(data.views, data.y)
    assert model.status_ == "converged: the optimality residual fell below tol."
    assert model.residual_history_[-1] <= 1e-4 < model.residual_history_[:-1].min()
    assert model.n_iter_ < 200


def test_status_and_warning_at_max_iter(data: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter.*raise max_iter or tol"):
        model = build(solver__max_iter=1, solver__tol=0).fit(data.views, data.y)
    assert "stopped at max_iter" in model.status_ and "converged" not in model.status_
    assert model.n_iter_ == 1


def test_status_with_more_clusters_than_labelled_classes(data: Any) -> None:
    with pytest.warns(UserWarning, match="fewer classes are labelled than clusters"):
        model = build(n_clusters=5).fit(data.views, data.y)
    assert "fewer classes are labelled than clusters were asked for" in model.status_
    assert model.embedding_.shape == (120, 5) and model.predict_proba(data.views).shape == (120, 3)
    with pytest.warns(UserWarning, match="more classes are labelled than n_clusters"):
        model = build(n_clusters=2).fit(data.views, data.y)
    assert model.embedding_.shape == (120, 3)


def test_status_when_landmarks_are_capped(data: Any) -> None:
    note = "n_landmarks was lowered: there are fewer than three rows per landmark."
    model = build(n_landmarks=500).fit(data.views, data.y)
    assert note in model.status_ and len(model.landmarks_) == 40
    assert note not in build(n_landmarks=40).fit(data.views, data.y).status_
    few = build(n_landmarks=6).fit(data.views[:12], data.target[:12])  # twice the classes are always allowed
    assert note not in few.status_ and len(few.landmarks_) == 6


def test_admm_says_how_it_ended_without_a_warning(data: Any) -> None:
    """The paper stops after 30 rounds on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = build(solver=ADMM(mode="released")).fit(data.views, data.y)
    assert model.status_ and model.n_iter_ <= 30
    assert (model.labels_ == data.target).mean() > 0.8


# Progress


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """Return our logger as the interpreter starts with it."""
    found = logging.getLogger("anchorview")
    level, handlers = found.level, found.handlers[:]
    found.setLevel(logging.NOTSET)
    found.handlers.clear()
    yield found
    found.setLevel(level)
    found.handlers[:] = handlers


def test_verbose_logs_stages_and_rounds(data: Any, logger: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    """The root logger has a handler here and stands at WARNING, as in many programs: the lines come all the same."""
    model = build(verbose=True).fit(data.views, data.y)
    text = caplog.text
    assert "Views(120 rows; view0: 8, view1: 6), 19 labelled in 3 classes" in text
    assert "choosing 30 landmarks" in text
    rounds = [record.getMessage() for record in caplog.records if "round " in record.getMessage()]
    assert len(rounds) == model.n_iter_
    assert f"objective {model.objective_history_[-1]:.8g}" in rounds[-1]
    assert model.status_ in text


def test_a_configured_logger_is_left_alone(data: Any, logger: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    logger.setLevel(logging.ERROR)
    build(verbose=True).fit(data.views, data.y)
    assert logger.level == logging.ERROR and not caplog.records


def test_silent_by_default(
    data: Any, logger: logging.Logger, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    logger.setLevel(logging.DEBUG)
    build().fit(data.views, data.y)
    assert not caplog.records
    assert capsys.readouterr() == ("", "")


class Recorder:
    """A scikit-learn callback that writes down what it is told, and may ask to stop."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.begun: list[tuple[str, int]] = []
        self.ended: list[tuple[str, int]] = []
        self.torn_down = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.begun, self.ended = [], []

    def teardown(self, estimator: Any, context: Any) -> None:
        self.torn_down += 1

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.ended.append((context.task_name, context.task_id))
        return context.task_name == "round" and context.task_id + 1 == self.stop_after


@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_a_callback_hears_of_every_round(data: Any, solver: str) -> None:
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    model = build(solver=solver).set_callbacks(recorder).fit(data.views, data.y)
    rounds = [("round", number) for number in range(model.n_iter_)]
    assert recorder.begun == [("fit", 0), *rounds]
    assert recorder.ended == [*rounds, ("fit", 0)]
    assert recorder.torn_down == 1
    np.testing.assert_array_equal(model.labels_, build(solver=solver).fit(data.views, data.y).labels_)


@pytest.mark.parametrize("solver", ["active_set", "admm"])
def test_a_callback_may_stop_the_fit(data: Any, solver: str) -> None:
    pytest.importorskip("sklearn.callback")
    recorder = Recorder(stop_after=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = build(solver=solver).set_callbacks(recorder).fit(data.views, data.y)
    assert model.n_iter_ == len(model.objective_history_) == 2
    assert "stopped by a callback." in model.status_
    assert recorder.ended == [("round", 0), ("round", 1), ("fit", 0)]
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)


def test_a_callback_is_torn_down_after_an_error(data: Any) -> None:
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    broken = [data.data[0], np.c_[np.full(120, np.nan), np.ones(120)]]
    with pytest.raises(ValueError, match="contains NaN"):
        build().set_callbacks(recorder).fit(broken, data.y)
    assert recorder.torn_down == 1


def test_the_progress_bar_of_scikit_learn(data: Any) -> None:
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    model = build().set_callbacks(callback.ProgressBar()).fit(data.views, data.y)
    np.testing.assert_array_equal(model.labels_, data.model.labels_)


def test_single_precision_admm_gives_the_same_labels(digits: Any, digits_y: np.ndarray) -> None:
    labels = []
    for dtype in ("float32", "float64"):
        options = {**CHOSEN, "ridge": 0.0, "solver": ADMM(dtype=dtype, units="data")}
        model = FSSMSC(n_landmarks=200, random_state=0, **options)
        labels.append(model.fit(digits.views, digits_y).labels_)
    assert np.mean(labels[0] == labels[1]) >= 0.999
