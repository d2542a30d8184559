"""Labels that keep coming: update, the audit, and rows one can rely on."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from anchorview import FSSMSC, ActiveSet, Constraints, ModelFileError, Views, datasets, load, save
from anchorview.label_loop import updating


@pytest.fixture(scope="module")
def made() -> Any:
    return datasets.make_multiview_subspaces(240, 4, (8, 6), random_state=0)


@pytest.fixture(scope="module")
def few(made: Any) -> Any:
    return datasets.hide_labels(made.target, 0.15, random_state=1)


@pytest.fixture(scope="module")
def more(made: Any, few: Any) -> Any:
    y = few.copy()
    y[::5] = made.target[::5]
    y[np.flatnonzero(few >= 0)[0]] = -1  # one label is taken back
    return y


def again(model: FSSMSC, **changed: Any) -> FSSMSC:
    """Return an estimator with the settings and landmarks that a fit has found."""
    chosen = {name: value for name, value in model.chosen_.items() if name != "n_neighbors" or value}
    return FSSMSC(**chosen, landmarks=model.landmarks_, random_state=0, **changed)


def assert_same(one: FSSMSC, other: FSSMSC, X: Any) -> None:
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.confidence_, other.confidence_, atol=1e-6)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(one.label_quality_, other.label_quality_, atol=1e-5)


@pytest.mark.parametrize("readers", ["nearest", "knn", ("nearest", "linear", "poisson"), "linear", "auto"])
def test_an_update_is_a_fit_with_the_same_settings_and_landmarks(made: Any, few: Any, more: Any, readers: Any) -> None:
    model = FSSMSC(n_landmarks=40, readers=readers, random_state=0).fit(made.views, few)
    fresh = again(model).fit(made.views, more)
    assert_same(model.update(more), fresh, made.views)


def test_a_row_that_nobody_could_label_is_not_a_label(made: Any, few: Any) -> None:
    skipped = np.flatnonzero(few < 0)[:3]
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few, label_source=dict.fromkeys(skipped, "skipped"))
    np.testing.assert_array_equal(model._labelled_rows(), np.flatnonzero(few >= 0))
    assert (model._given_class_ids()[skipped] == -1).all()


def test_an_update_keeps_the_rows_of_the_graph(monkeypatch: Any, made: Any, few: Any, more: Any) -> None:
    """Of many rows some are in the graph; with the same ones a fit from nothing gives the same answers."""
    from anchorview.fitting.pipeline import fit_labels
    from anchorview.readers import product_readers

    monkeypatch.setattr(product_readers, "READ_GRAPH", 90)
    monkeypatch.setattr(product_readers.draw_graph_rows, "__defaults__", (90,))
    model = FSSMSC(n_landmarks=40, readers=("nearest", "linear", "poisson"), random_state=0).fit(made.views, few)
    drawn = model._prepared.members
    assert len(drawn.rows) == 90
    for y in (more, few, label(more, np.arange(30), made)):
        before = model._prepared
        model.update(y)
        assert np.isin(np.flatnonzero(y >= 0), model._prepared.members.rows).all()
        assert np.isin(drawn.rows, model._prepared.members.rows).all()
        fresh = fit_labels(before.without_codes(), model._prepared.given, model._make_run())
        np.testing.assert_allclose(fresh.top.confidence[y < 0], model.confidence_[y < 0], atol=1e-6)
        np.testing.assert_array_equal(fresh.given.known.classes[fresh.top.class_ids][y < 0], model.labels_[y < 0])


def test_an_update_with_the_labels_of_the_fit_changes_nothing(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    before = model.predict_proba(made.views)
    assert model.update(few).changed_ == 0.0
    np.testing.assert_array_equal(model.predict_proba(made.views), before)


def test_new_classes_fewer_classes_and_back(made: Any, few: Any) -> None:
    names = np.array(["a", "b", "c", "d"], dtype=object)
    y = np.where(few >= 0, names[few], None)
    known = np.where((few >= 0) & (few < 2), names[few], None)
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, known)
    first = model.predict_proba(made.views)
    assert model.classes_.tolist() == ["a", "b"]
    assert_same(model.update(y), again(model).fit(made.views, y), made.views)
    assert model.classes_.tolist() == ["a", "b", "c", "d"] and model.embedding_.shape[1] == 4
    assert model.changed_ > 0.3
    np.testing.assert_allclose(model.update(known).predict_proba(made.views), first, atol=1e-6)


def test_updates_of_coupled_codes_weights_pairs_and_missing_views(made: Any, few: Any, more: Any) -> None:
    mask = np.random.RandomState(0).rand(240, 2) > 0.2
    mask[:, 0] |= ~mask.any(axis=1)
    views = Views(made.data, mask=mask)
    weights = np.random.RandomState(1).rand(240) + 0.5
    solver = ActiveSet(units="paper", max_iter=300)
    model = FSSMSC(n_landmarks=40, solver=solver, coupling=1e-2, readers="nearest", random_state=0)
    model.fit(views, few, sample_weight=weights)
    pairs = Constraints.from_pairs(must=[(0, 4)], cannot=[(0, 1)], n_rows=240)
    fresh = again(model, solver=solver).fit(views, more, sample_weight=weights, constraints=pairs)
    assert_same(model.update(more, constraints=pairs), fresh, views)
    fresh = again(model, solver=solver).fit(views, more, sample_weight=2 * weights)
    assert_same(model.update(more, sample_weight=2 * weights), fresh, views)


def test_updates_of_codes_in_files_and_of_stored_rows(tmp_path: Any, made: Any, few: Any, more: Any) -> None:
    from anchorview import open_rows

    paths = []
    for number, view in enumerate(made.data):
        paths.append(tmp_path / f"view{number}.npy")
        np.save(paths[-1], view)
    model = FSSMSC(n_landmarks=40, random_state=0, solver=ActiveSet(memory_limit=1)).fit(
        [open_rows(path) for path in paths], few
    )
    assert "Codes are kept in files" in model.status_
    inside = FSSMSC(n_landmarks=40, random_state=0).fit(made.data, few).update(more)
    assert_same(model.update(more), inside, made.views)
    np.testing.assert_allclose(model.novelty_, inside.novelty_, atol=1e-5)


def test_single_rows_unlike_all_others_are_novel_here_and_after_loading(tmp_path: Any, more: Any) -> None:
    """Each of their numbers is taken from some other row; all classes have labels."""
    odd, rng = np.flatnonzero(more < 0)[:12], np.random.default_rng(0)
    wide = datasets.make_multiview_subspaces(240, 4, (30, 20), random_state=0).data  # some fifteen ways to vary
    views = [view.copy() for view in wide]
    for view, before in zip(views, wide, strict=True):
        view[odd] = np.column_stack([rng.choice(column, len(odd)) for column in before.T])
    model = FSSMSC(n_landmarks=40, random_state=0).fit(views, more)
    others = np.setdiff1d(np.flatnonzero(more < 0), odd)
    novelty = model.novelty_
    assert np.median(novelty[odd]) > np.quantile(novelty[others], 0.95)
    assert np.median(model.novelty([view[odd] for view in views])) > np.quantile(novelty[others], 0.95)
    save(model, tmp_path / "model", rows=True)
    back = load(tmp_path / "model")
    np.testing.assert_array_equal(back.novelty_, novelty)
    np.testing.assert_array_equal(back.novelty(views), model.novelty(views))


def test_updates_on_dask(made: Any, few: Any, more: Any) -> None:
    da = pytest.importorskip("dask.array")
    settings = {"scaling": "minmax", "ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest", "random_state": 0}
    on_dask = [da.from_array(view, chunks=(60, -1)) for view in made.data]
    model = FSSMSC(n_landmarks=40, **settings).fit(on_dask, few)
    inside = FSSMSC(landmarks=model.landmarks_, **settings).fit(made.data, more)
    model.update(more)
    np.testing.assert_array_equal(model.labels_, inside.labels_)
    np.testing.assert_allclose(model.confidence_, inside.confidence_, atol=1e-6)
    assert not hasattr(model.codes_, "indptr")  # they stayed where they are
    assert model.novelty_.shape == (240,)  # by codes alone: products are not fetched


@pytest.mark.parametrize("readers", ["nearest", ("nearest", "linear", "poisson")])
def test_updates_of_a_saved_model(tmp_path: Any, made: Any, few: Any, more: Any, readers: Any) -> None:
    """The features are not in the file: rows of E are, whose rounding a regression may enlarge."""
    names = np.array(["a", "b", "c", "d"], dtype=object)
    y, later = (np.where(each >= 0, names[each], None) for each in (few, more))
    views = Views(made.data, ids=[f"row{number}" for number in range(240)])
    model = FSSMSC(n_landmarks=40, readers=readers, random_state=0).fit(views, y)
    save(model, tmp_path / "plain", rows=True)
    with pytest.raises(ModelFileError, match="holds no rows for other labels.*--keep-rows"):
        load(tmp_path / "plain", rows=True)
    save(model, tmp_path / "model", updates=True)
    assert "_kept" not in vars(model)
    back = load(tmp_path / "model", rows=True)
    before = back.labels_.copy()
    assert back.expected_accuracy_ == model.expected_accuracy_
    model.update(later)
    back.update({f"row{row}": name for row, name in enumerate(later) if name is not None})
    np.testing.assert_array_equal(back.labels_, model.labels_)
    np.testing.assert_allclose(back.confidence_, model.confidence_, atol=1e-6 if readers == "nearest" else 1e-3)
    np.testing.assert_allclose(back.predict_proba(views), model.predict_proba(views), atol=1e-3)
    np.testing.assert_array_equal(back.audit_rows(5), model.audit_rows(5))
    save(back, tmp_path / "again", updates=True)
    again = load(tmp_path / "again", rows=True).update(y)
    assert (again.labels_ == before).mean() > 0.99


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (lambda y: y[:-1], "239"),
        (lambda y: np.where(y == 0, 0, -1), "Only one class is labelled"),
        (lambda y: {500: 1, 3: 0}, "the rows have no ids"),
    ],
)
def test_bad_labels_leave_the_model(made: Any, few: Any, labels: Any, words: str) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    before = model.labels_.copy()
    with pytest.raises(ValueError, match=words):
        model.update(labels(few))
    np.testing.assert_array_equal(model.labels_, before)
    assert not hasattr(model, "changed_")


def test_labels_of_an_update_are_judged_when_that_is_asked_for(
    monkeypatch: Any, tmp_path: Any, made: Any, few: Any, more: Any
) -> None:
    calls, judge = [], updating.review_labels
    monkeypatch.setattr(updating, "review_labels", lambda *given: calls.append(1) or judge(*given))
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few).update(more)
    assert not calls
    copy = pickle.loads(pickle.dumps(model))
    save(model, tmp_path / "model", rows=True)
    for each in (copy, load(tmp_path / "model"), model):
        np.testing.assert_array_equal(np.isnan(each.label_quality_), more < 0)
        np.testing.assert_array_equal(each._likely_class_ids, model._likely_class_ids)
    assert len(calls) == 1


def test_labels_of_rows_that_are_not_there_and_a_class_named_like_the_mark(made: Any, few: Any) -> None:
    names = np.array(["a", "b", "c", "d"], dtype=object)
    y = np.where(few >= 0, names[few], None)
    views = Views(made.data, ids=[f"row{number}" for number in range(240)])
    model = FSSMSC(n_landmarks=40, unlabelled="unknown", random_state=0).fit(views, y)
    given = {f"row{row}": name for row, name in enumerate(y) if name is not None}
    with pytest.raises(ValueError, match="nobody"):
        model.update({**given, "nobody": "a"})
    with pytest.raises(ValueError, match="label_source names rows that are not there: 'nobody'"):
        model.update(given, label_source={"nobody": "random"})
    free = next(row for row in range(240) if y[row] is None)
    model.update({**given, f"row{free}": "unknown"})  # the mark is no class
    assert model.classes_.tolist() == ["a", "b", "c", "d"] and model.label_source_[free] == ""


def test_an_interrupted_update_leaves_the_model(monkeypatch: Any, made: Any, few: Any, more: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    before = model.predict_proba(made.views)

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("anchorview.fitting.pipeline.label_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.update(more)
    np.testing.assert_array_equal(model.predict_proba(made.views), before)


def test_copies_without_the_rows_say_so(made: Any, few: Any, more: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(made.views), model.predict(made.views))
    with pytest.raises(ValueError, match="without the rows of its fit.*fit again"):
        copy.update(more)


def label(y: npt.NDArray[Any], rows: npt.NDArray[Any], made: Any) -> npt.NDArray[Any]:
    y = y.copy()
    y[rows] = made.target[rows]
    return y


def test_the_audit_goes_on_where_it_stopped(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    first = model.audit_rows(10)
    assert (few[first] == -1).all() and len(set(first)) == 10
    np.testing.assert_array_equal(model.audit_rows(5), first[:5])
    model.update(label(few, first[:5], made), label_source={int(row): "random" for row in first[:5]})
    np.testing.assert_array_equal(model.audit_rows(5), first[5:])
    assert model.label_source_[first[0]] == "random" and (model.label_source_ == "unknown").sum() == (few >= 0).sum()


def test_expected_accuracy_rests_on_the_audit_once_there_is_one(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    hidden = model.expected_accuracy_
    assert hidden.rests_on == "hidden labels" and "drawn at random" in hidden.describe()
    rows = model.audit_rows(30)
    y = label(few, rows, made)
    model.update(y, label_source={int(row): "random" for row in rows})
    audit = model.expected_accuracy_
    assert audit.rests_on == "audit" and audit.n_judged >= 30
    assert audit.low <= audit.value <= audit.high
    # Each row of the audit was judged without its label: of made-up labels next to none is found.
    wrong = y.copy()
    wrong[rows] = (made.target[rows] + 1 + np.arange(len(rows)) % 3) % 4
    model.update(wrong, label_source={int(row): "random" for row in rows})
    assert model.expected_accuracy_.value < audit.value - 0.3


def test_trusted_rows_need_enough_audited_labels(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    none = model.trusted_rows()
    assert len(none) == 0 and none.n_more >= 59
    rows = model.audit_rows(80)
    model.update(label(few, rows, made), label_source={int(row): "random" for row in rows})
    trusted = model.trusted_rows(0.8, 0.9)
    assert len(trusted) > 20 and trusted.bound >= 0.8
    assert model._can_be_labelled[trusted.rows].all()
    with pytest.raises(ValueError, match="accuracy"):
        model.trusted_rows(1.5)


def test_suggestions_have_reasons_and_every_fifth_is_of_the_audit(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    found = model.suggest_labels(20, explain=True)
    assert [each.source for each in found].count("random") == 4
    drawn = [each.row for each in found if each.source == "random"]
    np.testing.assert_array_equal(drawn, model.audit_rows(4))
    np.testing.assert_array_equal([each.row for each in found], model.suggest_labels(20))
    assert len({each.row for each in found}) == 20 and all(each.reason and each.size >= 1 for each in found)


def test_a_class_without_a_label_is_looked_for_first(made: Any, few: Any) -> None:
    known = np.where(few == 3, -1, few)
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, known)
    found = model.suggest_labels(8, audit=0.0, explain=True)
    assert "without a label" in found[0].reason
    assert made.target[found[0].row] == 3


def test_novelty_tells_rows_of_a_class_without_a_label_and_labels_stay(made: Any, few: Any) -> None:
    known = np.where(few == 3, -1, few)
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, known)
    before, is_new = model.labels_.copy(), made.target == 3
    novelty = model.novelty_
    assert ((novelty >= 0) & (novelty <= 1)).all() and (novelty[known >= 0] == 0).all()
    assert novelty[is_new].mean() > 2 * novelty[~is_new].mean()
    again = model.novelty(made.views)[known < 0]  # as new rows, which are told apart from those of the fit
    assert np.quantile(np.abs(again - novelty[known < 0]), 0.99) < 0.2
    group = model.novel_groups_[0]
    assert (made.target[group.central] == 3).mean() > 0.5 and group.size == len(group.rows)
    assert group.features and group.features[0][0] in model.view_names_
    np.testing.assert_array_equal(model.labels_, before)


def test_abstaining(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    sure = model.predict_proba(made.views).max(axis=1)
    found = model.predict(made.views, min_confidence=0.9)
    np.testing.assert_array_equal(found == -1, sure < 0.9)
    np.testing.assert_array_equal(found[sure >= 0.9], model.predict(made.views)[sure >= 0.9])
    with pytest.raises(ValueError, match="min_confidence"):
        model.predict(made.views, min_confidence=2)


def test_labels_needed(made: Any, few: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=0).fit(made.views, few)
    assert model.labels_needed(0.3).more == 0
    found = model.labels_needed(0.9999)
    assert found.more is None and "cannot be estimated" in found.describe()
    with pytest.raises(ValueError, match="target"):
        model.labels_needed(1.0)


def test_a_random_state_of_other_bits_can_be_updated(made: Any, few: Any, more: Any) -> None:
    model = FSSMSC(n_landmarks=40, random_state=np.random.default_rng(0)).fit(made.views, few)
    assert model.update(more).update(few).changed_ < 0.5
