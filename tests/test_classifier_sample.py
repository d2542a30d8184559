"""`AnchorViewClassifier` on more rows than the search looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import AnchorViewClassifier, Constraints, Views, datasets

OPTIONS: dict[str, Any] = dict.fromkeys(("ridges", "l1s", "must_link_weights", "heavy_ridges"), ())
OPTIONS |= {"feature_strengths": (1.0,), "graph_strengths": (0.8,)}
OPTIONS |= {"max_search_rows": 300, "n_sampled": 200}


@pytest.fixture(scope="module")
def data() -> tuple[Views, np.ndarray, np.ndarray]:
    made = datasets.make_multiview_subspaces(700, 4, (12, 8), noise=0.2, random_state=0)
    views = Views({"a": made.views.arrays[0], "b": made.views.arrays[1]}, ids=[f"r{row}" for row in range(700)])
    return views, made.target, datasets.hide_labels(made.target, 0.08, random_state=0)


def make(**parameters: Any) -> AnchorViewClassifier:
    options = {**OPTIONS, **parameters.pop("search_options", {})}
    settings = {"n_landmarks": 40, "n_repeats": 1, "scaling": ["minmax", "l2"], "random_state": 0, **parameters}
    return AnchorViewClassifier(search_options=options, **settings)


@pytest.fixture(scope="module")
def model(data: Any) -> AnchorViewClassifier:
    views, _, y = data
    return make().fit(views, y)


def test_every_row_gets_its_label_codes_and_embedding(model: AnchorViewClassifier, data: Any) -> None:
    _, target, y = data
    hidden = y == -1
    assert model.labels_.shape == model.confidence_.shape == (700,)
    assert model.codes_.shape == (700, 40)
    assert (model.labels_[~hidden] == target[~hidden]).all()
    assert (model.labels_ == target)[hidden].mean() > 0.9
    assert f"{200 + np.count_nonzero(~hidden)} of 700 rows" in model.status_


def test_labels_are_what_predict_gives(model: AnchorViewClassifier, data: Any) -> None:
    views, _, y = data
    hidden = np.flatnonzero(y == -1)
    assert np.array_equal(model.predict(views[hidden]), model.labels_[hidden])
    np.testing.assert_allclose(model.predict_proba(views[hidden]).max(axis=1), model.confidence_[hidden], atol=1e-5)
    np.testing.assert_allclose(model.transform(views), model.embedding_, atol=1e-5)


def test_few_scalings_and_few_codes_are_averaged(data: Any) -> None:
    views, _, y = data
    model = make(search_options={"max_sources": 1, "max_encoders": 1, "ridges": (0.3, 3.0)}).fit(views, y)
    averaged = model.averaged_
    assert len({setting["scaling"] for setting in averaged}) == 1
    on_codes = [s for s in averaged if s["head"] in ("nearest", "knn", "embedding", "codes")]
    assert len({(s["l1"], s["ridge"]) for s in on_codes}) <= 1


def test_a_sample_that_holds_all_rows_changes_nothing(data: Any) -> None:
    views, _, y = data
    n_unlabelled = int(np.count_nonzero(y == -1))
    whole = make(search_options={"max_search_rows": n_unlabelled}).fit(views, y)
    usual = make(search_options={"max_search_rows": 20_000}).fit(views, y)
    assert np.array_equal(whole.confidence_, usual.confidence_)
    assert "max_search_rows" not in whole.status_


def test_threads_do_not_matter(model: AnchorViewClassifier, data: Any) -> None:
    views, _, y = data
    assert np.array_equal(make(n_jobs=2).fit(views, y).confidence_, model.confidence_)


def test_bad_rows_outside_the_sample_are_named_before_the_search(model: AnchorViewClassifier, data: Any) -> None:
    views, _, y = data
    outside = int(np.setdiff1d(np.flatnonzero(y == -1), model._search.sampled)[0])
    spoiled = views.arrays[1].copy()
    spoiled[outside, 3] = np.inf
    refused = make()
    with pytest.raises(ValueError, match=f"'b'.*{outside}"):
        refused.fit(Views({"a": views.arrays[0], "b": spoiled}), y)
    assert refused._search is None  # nothing was judged before it


def test_pairs_and_weights_of_all_rows_count(data: Any) -> None:
    views, target, y = data
    hidden = np.flatnonzero(y == -1)
    first, second = hidden[:-1:2], hidden[1::2]
    must = [(f"r{i}", f"r{j}") for i, j in zip(first, second, strict=False) if target[i] == target[j]]
    weights = np.ones(700)
    weights[hidden[-5:]] = 0.0
    model = make().fit(views, y, constraints=Constraints.from_pairs(must=must), sample_weight=weights)
    assert model.constraint_violations_ is not None
    assert model.constraint_violations_.must == (0, len(must))


def test_a_search_that_goes_on_keeps_its_sample(data: Any) -> None:
    views, _, y = data
    model = make(warm_start=True, random_state=None).fit(views, y)
    before, labels = dict(model._search.judged), model.labels_
    model.fit(views, y)
    assert model._search.judged.keys() == before.keys()
    assert np.array_equal(model.labels_, labels)
    assert all(model._search.judged[setting] is judgement for setting, judgement in before.items())


def test_labels_that_came_since_are_heeded_by_a_search_that_goes_on(data: Any) -> None:
    views, target, y = data
    model = make(warm_start=True).fit(views, y)
    more, outside = y.copy(), np.setdiff1d(np.flatnonzero(y == -1), model._search.sampled)[:5]
    more[outside] = (target[outside] + 1) % 4  # wrong on purpose: kept as given, if they are heard of
    model.fit(views, more)
    assert np.isin(outside, model._search.sampled).all()
    assert np.array_equal(model.labels_[outside], more[outside])


def test_rows_that_lack_views_or_have_none(data: Any) -> None:
    views, target, y = data
    mask = np.ones((700, 2), dtype=bool)
    mask[::3, 0] = False
    empty = np.flatnonzero(y == -1)[:4]
    mask[empty] = False
    lacking = Views({"a": views.arrays[0], "b": views.arrays[1]}, mask=mask)
    model = make(on_empty="drop").fit(lacking, y)
    assert (model.labels_[empty] == -1).all()
    others = np.setdiff1d(np.flatnonzero(y == -1), empty)
    assert (model.labels_ == target)[others].mean() > 0.8


# Many labels


@pytest.fixture(scope="module")
def few_judge(data: Any) -> AnchorViewClassifier:
    views, _, y = data
    return make(search_options={"max_search_labels": 24}, warm_start=True).fit(views, y)


def test_settings_are_judged_by_some_of_many_labels(few_judge: AnchorViewClassifier, data: Any) -> None:
    _, target, y = data
    held_out, hidden = few_judge.held_out_, y == -1
    assert 16 <= len(held_out.rows) <= 24
    assert np.array_equal(few_judge.classes_[held_out.class_ids], y[held_out.rows])
    assert set(held_out.class_ids) == {0, 1, 2, 3}
    assert "of 56 labels (max_search_labels)" in few_judge.status_
    assert (few_judge.labels_[~hidden] == y[~hidden]).all()
    assert (few_judge.labels_ == target)[hidden].mean() > 0.9


@pytest.mark.parametrize("most", [300, 5000])
def test_labels_that_judge_nothing_are_heard_in_the_fits(few_judge: AnchorViewClassifier, data: Any, most: int) -> None:
    """Whether the search looks at some rows or at all."""
    views, _, y = data
    options = {"max_search_labels": 24, "max_search_rows": most}
    model = make(search_options=options).fit(views, y)
    judging = np.intersect1d(few_judge.held_out_.rows, model.held_out_.rows)
    others = np.setdiff1d(np.flatnonzero(y != -1), judging)
    wrong = y.copy()
    wrong[others] = (y[others] + 1) % 4
    assert (make(search_options=options).fit(views, wrong).predict_proba(views) != model.predict_proba(views)).any()
    readers = [member.reader for member in model._model.members if not member.saw_guesses]
    sizes = {len(reader.labelled.reference) for reader in readers if hasattr(reader, "labelled")}
    assert sizes <= {56}


def test_a_search_by_some_labels_goes_on_where_it_was(few_judge: AnchorViewClassifier, data: Any) -> None:
    views, _, y = data
    before, labels = dict(few_judge._search.judged), few_judge.labels_
    few_judge.fit(views, y)
    assert all(few_judge._search.judged[setting] is judgement for setting, judgement in before.items())
    assert np.array_equal(few_judge.labels_, labels)
