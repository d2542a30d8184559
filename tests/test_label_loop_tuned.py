"""Labels that keep coming, for the tuned model: two speeds, versions, and what it says of its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import AnchorViewClassifier, Constraints, datasets, load, save


def build(**parameters: Any) -> AnchorViewClassifier:
    options = {"n_landmarks": 20, "n_averaged": 1, "n_repeats": 1, "scaling": "minmax", "random_state": 0}
    return AnchorViewClassifier(**{**options, **parameters})


@pytest.fixture(scope="module")
def made() -> Any:
    made = datasets.make_multiview_subspaces(150, 3, (8, 6), noise=0.3, random_state=0)
    made.y = datasets.hide_labels(made.target, 0.16, random_state=1)
    made.more = np.where(np.arange(150) % 5 == 0, made.target, made.y)
    return made


@pytest.fixture
def model(made: Any) -> AnchorViewClassifier:
    return build().fit(made.views, made.y)


def test_an_update_answers_with_the_plain_model_and_versions_can_be_gone_back_to(made: Any, model: Any) -> None:
    first, labels = model.predict_proba(made.views), model.labels_.copy()
    model.update(made.more)
    rows = np.flatnonzero(made.more >= 0)
    np.testing.assert_array_equal(model.labels_[rows], made.target[rows])
    unlabelled = made.more < 0
    np.testing.assert_array_equal(model.predict(made.views)[unlabelled], model.labels_[unlabelled])
    np.testing.assert_allclose(model.transform(made.views), model.embedding_, atol=1e-5)
    assert not np.allclose(model.predict_proba(made.views), first)
    assert model.refit_is_due_ and [version.kind for version in model.versions_] == ["tuned", "plain"]
    second = model.predict_proba(made.views)
    model.use_version(0)
    np.testing.assert_array_equal(model.predict_proba(made.views), first)
    np.testing.assert_array_equal(model.labels_, labels)
    model.use_version(1)
    np.testing.assert_array_equal(model.predict_proba(made.views), second)
    with pytest.raises(ValueError, match=r"no version 7; versions_ has 0, 1"):
        model.use_version(7)


def test_a_new_search_in_the_background_takes_over_when_it_is_put_in_place(made: Any, model: Any) -> None:
    model.update(made.more, label_source={0: "random"})
    plain = model.predict_proba(made.views)
    running = model.refit(background=True)
    np.testing.assert_array_equal(model.predict_proba(made.views), plain)
    assert running.put_in_place() is model and running.done()
    fresh = build().fit(made.views, made.more)
    np.testing.assert_array_equal(model.predict_proba(made.views), fresh.predict_proba(made.views))
    assert [version.kind for version in model.versions_] == ["tuned", "plain", "tuned"]
    assert model.label_source_[0] == "random" and not model.refit_is_due_ and 0 <= model.changed_ <= 1


def test_a_new_search_keeps_weights_and_pairs(made: Any) -> None:
    weights = np.where(made.target == 0, 2.0, 1.0)
    first = [np.flatnonzero(made.target == each)[:2].tolist() for each in range(3)]
    pairs = Constraints.from_pairs(must=first, cannot=[(first[0][0], first[1][0])], n_rows=150)
    pairs = pairs + Constraints.from_groups(must=np.where(made.y < 0, made.target, -1))
    given = {"sample_weight": weights, "constraints": pairs}
    searched = build().fit(made.views, made.y, **given).refit()
    fresh = build().fit(made.views, made.y, **given)
    assert searched.constraint_violations_ == fresh.constraint_violations_ is not None
    np.testing.assert_array_equal(searched.predict_proba(made.views), fresh.predict_proba(made.views))
    updated = searched.update(made.more, constraints=pairs).refit()
    fresh = build().fit(made.views, made.more, **given)
    np.testing.assert_array_equal(updated.predict_proba(made.views), fresh.predict_proba(made.views))


def test_an_update_that_fails_leaves_the_tuned_model(made: Any, model: Any) -> None:
    before = model.predict_proba(made.views)
    with pytest.raises(ValueError, match="Only one class is labelled"):
        model.update(np.where(made.y == 0, 0, -1))
    np.testing.assert_array_equal(model.predict_proba(made.views), before)
    assert len(model.versions_) == 1


def test_accuracy_is_that_of_the_search_without_an_audit_and_of_the_audit_with_one(made: Any, model: Any) -> None:
    found = model.expected_accuracy_
    assert found.rests_on == "hidden labels" and found.value == model.best_score_
    rows = np.flatnonzero(made.y >= 0)
    drawn = build().fit(made.views, made.y, label_source={int(row): "random" for row in rows})
    audit = drawn.expected_accuracy_
    assert audit.rests_on == "audit" and audit.n_judged == len(rows)
    assert audit.value == pytest.approx(drawn.held_out_.right.sum() / len(rows))
    assert drawn.trusted_rows(0.6, 0.8).bound > 0.6


def test_novelty_suggestions_and_needed_labels(made: Any, model: Any) -> None:
    assert model.novelty_.shape == (150,) and ((model.novelty_ >= 0) & (model.novelty_ <= 1)).all()
    assert model.novelty(made.views[:7]).shape == (7,)
    assert all(len(group.central) for group in model.novel_groups_)
    assert len(model.suggest_labels(6, explain=True)) == 6
    assert model.labels_needed(0.3).more == 0


def test_a_saved_tuned_model_takes_other_labels(made: Any, model: Any, tmp_path: Any) -> None:
    save(model, tmp_path / "model", updates=True)
    back = load(tmp_path / "model", rows=True)
    np.testing.assert_array_equal(back.predict_proba(made.views), model.predict_proba(made.views))
    back.update(made.more)
    model.update(made.more)
    assert (back.labels_ == model.labels_).mean() > 0.99
    with pytest.raises(ValueError, match="A search needs the features"):
        back.refit()
    save(back, tmp_path / "later")
    later = load(tmp_path / "later")
    np.testing.assert_array_equal(later.predict_proba(made.views), back.predict_proba(made.views))
