"""Must-link and cannot-link pairs in the estimator."""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.utils import Bunch

from anchorview import FSSMSC, Constraints, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.supervision.conflicts import Contradiction
from support.settled import settle


def build(**parameters: Any) -> FSSMSC:
    return settle(**{"n_landmarks": 30, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def data() -> Any:
    """Three overlapping clusters in two views, with ids, a tenth of the rows labelled."""
    made = make_multiview_subspaces(150, 3, (8, 6), noise=0.6, random_state=1)
    ids = np.array([f"s{row}" for row in range(150)])
    y = hide_labels(made.target, 0.1, stratified=True, random_state=0)
    return Bunch(views=Views(made.views, ids=ids), plain=made.views, ids=ids, target=made.target, y=y)


def implied(y: np.ndarray, ids: np.ndarray | None = None) -> dict[str, list[tuple[Any, Any]]]:
    """All pairs that labels imply, a row with itself included."""
    rows = np.flatnonzero(y >= 0)
    names = np.arange(len(y)) if ids is None else ids
    must, cannot = [], []
    for a, b in combinations_with_replacement(rows.tolist(), 2):
        (must if y[a] == y[b] else cannot).append((names[a].item(), names[b].item()))
    return {"must": must, "cannot": cannot}


def as_matrix(y: np.ndarray) -> Any:
    same = np.where(y[:, None] == y, 1.0, -1.0)
    return sparse.csr_array(same * (y[:, None] >= 0) * (y >= 0))


FORMS: dict[str, Any] = {
    "pairs of ids": lambda data: Constraints.from_pairs(**implied(data.y, data.ids)),
    "pairs of rows": lambda data: Constraints.from_pairs(**implied(data.y), n_rows=150),
    "matrix": lambda data: Constraints.from_matrix(as_matrix(data.y)),
    "groups and pairs": lambda data: (
        Constraints.from_groups(must=data.y) + Constraints.from_pairs(cannot=implied(data.y)["cannot"], n_rows=150)
    ),
    "rows and ids": lambda data: (
        Constraints.from_groups(must=data.y) + Constraints.from_pairs(cannot=implied(data.y, data.ids)["cannot"])
    ),
}


# Labels are a special case


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("coupling", [0.0, 1e-4])
def test_labels_are_the_pairs_they_imply(data: Any, form: str, coupling: float) -> None:
    by_label = build(n_clusters=3, coupling=coupling).fit(data.views, data.y)
    by_pair = build(n_clusters=3, coupling=coupling).fit(data.views, constraints=FORMS[form](data))
    # With coupling, how long a step may be is found by iteration for pairs, to a percent, and known for labels.
    atol = 2e-4 if coupling else 1e-7
    np.testing.assert_allclose(by_pair.landmark_embedding_, by_label.landmark_embedding_, atol=atol)
    np.testing.assert_allclose(by_pair.embedding_, by_label.embedding_, atol=atol)
    assert by_pair.objective_history_[-1] == pytest.approx(by_label.objective_history_[-1], rel=1e-8)


def test_weights_of_pairs_count(data: Any) -> None:
    """A pair given twice is a pair of weight 2; a pair of weight 0 is none."""
    pairs = implied(data.y)
    twice, heavy, other = (
        build(n_clusters=3).fit(data.views, constraints=Constraints.from_pairs(**given, n_rows=150))
        for given in (
            {"must": pairs["must"] + pairs["must"][:20], "cannot": pairs["cannot"]},
            {"must": [(*p, 2.0 if i < 20 else 1.0) for i, p in enumerate(pairs["must"])], "cannot": pairs["cannot"]},
            {"must": [(*p, 0.0 if i < 20 else 1.0) for i, p in enumerate(pairs["must"])], "cannot": pairs["cannot"]},
        )
    )
    np.testing.assert_allclose(twice.landmark_embedding_, heavy.landmark_embedding_, atol=1e-7)
    assert np.abs(other.landmark_embedding_ - heavy.landmark_embedding_).max() > 1e-5
    fewer = Constraints.from_pairs(must=pairs["must"][20:], cannot=pairs["cannot"], n_rows=150)
    left_out = build(n_clusters=3).fit(data.views, constraints=fewer)
    np.testing.assert_allclose(other.landmark_embedding_, left_out.landmark_embedding_, atol=1e-7)


# Without any label


def test_pairs_alone_give_clusters(data: Any) -> None:
    constraints = Constraints.from_pairs(**implied(data.y), n_rows=150)
    model = build(n_clusters=3).fit(data.views, constraints=constraints)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert set(model.labels_) == {0, 1, 2}
    assert "clusters come from k-means" in model.status_
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)
    assert model.constraint_conflicts_ == []
    (must_broken, n_must), (cannot_broken, n_cannot) = (
        model.constraint_violations_.must,
        model.constraint_violations_.cannot,
    )
    pairs = implied(data.y)
    split = sum(model.labels_[a] != model.labels_[b] for a, b in pairs["must"])
    joined = sum(model.labels_[a] == model.labels_[b] for a, b in pairs["cannot"])
    assert (must_broken, cannot_broken) == (split, joined)
    assert n_must == sum(a != b for a, b in pairs["must"]) and n_cannot == len(pairs["cannot"])


@pytest.mark.filterwarnings("ignore:1 constraint contradicts")
def test_violations_of_groups_are_counted(data: Any) -> None:
    groups = np.where(np.arange(150) < 40, data.target, -1)
    groups[0] = (groups[0] + 1) % 3  # one that the features speak against
    model = build().fit(data.views, data.target, constraints=Constraints.from_groups(must=groups))
    broken, stated = model.constraint_violations_.must
    sizes = np.bincount(groups[:40])
    assert stated == (sizes * (sizes - 1) // 2).sum()
    assert broken == sizes[groups[0]] - 1  # labels_ are the labels given, which contradict that row's group
    assert model.constraint_violations_.cannot == (0, 0)


def test_without_constraints_there_is_nothing_to_violate(data: Any) -> None:
    model = build().fit(data.views, data.y)
    assert model.constraint_violations_ is None and model.constraint_conflicts_ == []


def test_pairs_alone_need_the_number_of_clusters(data: Any) -> None:
    with pytest.raises(ValueError, match='pass n_clusters, a number or "auto", or labels in y'):
        build().fit(data.views, constraints=Constraints.from_pairs(must=[(0, 1)], n_rows=150))


@pytest.mark.parametrize("kind", ["must", "cannot"])
def test_one_kind_of_pairs_is_enough(data: Any, kind: str) -> None:
    constraints = Constraints.from_pairs(**{kind: implied(data.y)[kind]}, n_rows=150)
    model = build(n_clusters=3).fit(data.views, constraints=constraints)
    assert np.isfinite(model.embedding_).all() and set(model.labels_) <= {0, 1, 2}
    alone = build(n_clusters=3, solver__omit=("smoothness",)).fit(data.views, constraints=constraints)
    assert np.isfinite(alone.embedding_).all()


def test_no_pairs_are_no_constraints(data: Any) -> None:
    nothing, alone = (
        build(n_clusters=3).fit(data.views, constraints=constraints)
        for constraints in (Constraints.from_pairs(n_rows=150), None)
    )
    np.testing.assert_array_equal(nothing.embedding_, alone.embedding_)
    assert nothing.constraint_violations_.must == nothing.constraint_violations_.cannot == (0, 0)


def test_the_paper_s_solver_takes_pairs_too(data: Any) -> None:
    constraints = Constraints.from_pairs(**implied(data.y), n_rows=150)
    by_pair = build(solver="admm", n_clusters=3).fit(data.views, constraints=constraints)
    by_label = build(solver="admm", n_clusters=3).fit(data.views, data.y)
    np.testing.assert_allclose(by_pair.landmark_embedding_, by_label.landmark_embedding_, atol=1e-4)


# They help


def hard() -> Any:
    """Clusters of unequal quality that k-means alone confuses."""
    return make_multiview_subspaces(400, 4, (6, 5), noise=0.5, subspace_dim=3, random_state=4)


def draw_pairs(target: np.ndarray, n_pairs: int) -> dict[str, list[tuple[int, int]]]:
    rng = np.random.default_rng(0)
    pairs = rng.choice(len(target), size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = target[pairs[:, 0]] == target[pairs[:, 1]]
    return {"must": pairs[same].tolist(), "cannot": pairs[~same].tolist()}


def test_pairs_improve_the_clusters() -> None:
    made = hard()
    constraints = Constraints.from_pairs(**draw_pairs(made.target, 600), n_rows=400)
    without = build(n_clusters=4, n_landmarks=60).fit(made.views)
    with_ = build(n_clusters=4, n_landmarks=60).fit(made.views, constraints=constraints)
    scores = [adjusted_rand_score(made.target, model.labels_) for model in (without, with_)]
    assert scores[1] > scores[0] + 0.15  # 0.50 and 0.84 when this was written


def test_pairs_add_to_labels() -> None:
    made = hard()
    y = hide_labels(made.target, n_labels=8, stratified=True, random_state=0)
    constraints = Constraints.from_pairs(**draw_pairs(made.target, 800), n_rows=400)
    alone = build(n_landmarks=60).fit(made.views, y)
    both = build(n_landmarks=60).fit(made.views, y, constraints=constraints)
    hidden = y < 0
    scores = [(model.labels_ == made.target)[hidden].mean() for model in (alone, both)]
    assert scores[1] > scores[0] + 0.02  # 0.83 and 0.88 when this was written
    np.testing.assert_array_equal(both.classes_, np.arange(4))


# Contradictions


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_contradictions_are_named_listed_and_not_fatal(data: Any) -> None:
    constraints = Constraints.from_pairs(must=[("s3", "s4"), ("s4", "s5")], cannot=[("s3", "s5"), ("s3", "s4")])
    with pytest.warns(UserWarning, match="2 constraints contradict others: 's3' and 's4' must link and must not link"):
        model = build(n_clusters=3).fit(data.views, constraints=constraints)
    found = [(c.first, c.second, c.kind) for c in model.constraint_conflicts_]
    assert found == [(3, 4, Contradiction.BOTH), (3, 5, Contradiction.CHAIN)]
    assert len(model.labels_) == 150
    broken = model.constraint_violations_
    assert broken.must[0] + broken.cannot[0] >= 1 and (broken.must[1], broken.cannot[1]) == (2, 2)


def test_contradictions_with_labels(data: Any) -> None:
    a, b = (int(np.flatnonzero(data.y == number)[0]) for number in (0, 1))
    with pytest.warns(UserWarning, match=f"rows {min(a, b)} and {max(a, b)} have different labels, but must-links"):
        model = build().fit(data.plain, data.y, constraints=Constraints.from_pairs(must=[(a, b)], n_rows=150))
    assert model.labels_[a] == 0 and model.labels_[b] == 1
    assert model.constraint_violations_.must == (1, 1)


def test_constraints_that_agree_do_not_warn(data: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build().fit(data.views, data.y, constraints=Constraints.from_pairs(**implied(data.y, data.ids)))


# Ids, and cross-validation


def test_ids_follow_the_rows(data: Any) -> None:
    constraints = Constraints.from_pairs(**implied(data.y, data.ids))
    order = np.random.default_rng(0).permutation(150)
    landmarks = build(n_clusters=3).fit(data.views, constraints=constraints).landmarks_
    first, second = (
        build(n_clusters=3, landmarks=landmarks).fit(X, constraints=constraints)
        for X in (data.views, data.views[order])
    )
    np.testing.assert_allclose(first.landmark_embedding_, second.landmark_embedding_, atol=1e-5)
    np.testing.assert_allclose(first.embedding_[order], second.embedding_, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_cross_validation(data: Any, form: str) -> None:
    constraints = FORMS[form](data)
    found = cross_validate(
        build(),
        data.views,
        data.target,
        cv=3,
        params={"constraints": constraints},
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    assert found["test_score"].min() > 0.7
    for model, rows in zip(found["estimator"], found["indices"]["train"], strict=True):
        labels, y = data.target[rows], data.y[rows]
        assert model.constraint_violations_.must[0] == model.constraint_violations_.cannot[0] == 0
        assert model.constraint_conflicts_ == []
        counts = np.bincount(labels[y >= 0])
        assert model.constraint_violations_.must[1] == (counts * (counts - 1) // 2).sum()  # both ends in the fold
        n_known = counts.sum()
        assert model.constraint_violations_.cannot[1] == (n_known**2 - (counts**2).sum()) // 2


def test_grid_search_without_labels_in_the_constraints(data: Any) -> None:
    search = GridSearchCV(build(), {"must_link_weight": [1.0, 1e4]}, cv=2, error_score="raise")
    search.fit(data.views, data.target, constraints=Constraints.from_pairs(**implied(data.y, data.ids)))
    assert search.best_estimator_.constraint_violations_.must[1] > 0


def test_row_constraints_of_other_rows_are_refused(data: Any) -> None:
    constraints = Constraints.from_pairs(must=[(0, 149)], n_rows=150)
    with pytest.raises(ValueError, match="made for 150 rows but X has 100"):
        build().fit(data.views[:100], data.y[:100], constraints=constraints)
    build().fit(data.views[:100], data.y[:100], constraints=constraints[:100])


def test_unknown_ids(data: Any) -> None:
    wrong = Constraints.from_pairs(must=[("s1", "x9"), ("s2", "x10")])
    with pytest.raises(ValueError, match="name 2 ids that no row has: 'x9', 'x10'"):
        build().fit(data.views, data.y, constraints=wrong)
    outside = Constraints.from_pairs(must=[("s1", "s149")])
    build().fit(data.views[:100], data.y[:100], constraints=outside)  # known, but not among these rows
    with pytest.raises(ValueError, match="the rows have no ids"):
        build().fit(data.plain, data.y, constraints=outside)


@pytest.mark.parametrize("wrong", [[(0, 1)], np.zeros((150, 150)), {"must": [(0, 1)]}, "s1"])
def test_other_objects_are_refused(data: Any, wrong: Any) -> None:
    with pytest.raises(TypeError, match="constraints must be a Constraints object; got .*from_pairs"):
        build().fit(data.views, data.y, constraints=wrong)


def test_pairs_with_rows_that_have_no_view_are_left_out(data: Any) -> None:
    mask = np.ones((150, 2), dtype=bool)
    mask[[0, 1]] = False
    views = Views(data.views, mask=mask)
    groups = np.where(np.arange(150) < 30, data.target, -1)
    constraints = Constraints.from_groups(must=groups, cannot=np.where(np.arange(150) < 2, 0, -1))
    together = np.flatnonzero(data.target == 0)[-2:].tolist()
    constraints = constraints + Constraints.from_pairs(must=[(0, 5), together], cannot=[(1, 8)], n_rows=150)
    model = build(on_empty="drop").fit(views, data.target, constraints=constraints)
    sizes = np.bincount(groups[2:30])
    assert model.constraint_violations_.must[1] == (sizes * (sizes - 1) // 2).sum() + 1
    assert model.constraint_violations_.cannot == (0, 0)


def test_one_label_per_class_without_smoothness(data: Any) -> None:
    """No distance within classes and none between neighbours: nothing to make small, which must do no harm."""
    y = np.full(150, -1)
    y[[int(np.flatnonzero(data.target == number)[0]) for number in range(3)]] = [0, 1, 2]
    model = build(solver__omit=("smoothness",)).fit(data.views, y)
    assert np.isfinite(model.embedding_).all() and set(model.labels_) <= {0, 1, 2}
