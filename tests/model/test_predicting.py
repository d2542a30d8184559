"""The one loop over rows, on models made by hand."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.core.digest import content_key
from anchorview.data.validation import RowChecks
from anchorview.features.representation import represent
from anchorview.features.scaling import fit_scaling
from anchorview.model import predicting
from anchorview.model.model import Branch, Embedder, Member, Model
from anchorview.model.predicting import votes_to_probabilities
from anchorview.readers.linear import LinearReader
from anchorview.solver.elastic_net import ElasticNetEncoder

CHECKS = RowChecks(drops_empty=False, scaling="auto")
VIEWS = Views([np.random.default_rng(0).normal(size=(90, 4)), np.random.default_rng(1).normal(size=(90, 3))])


@pytest.fixture(scope="module")
def model() -> Model:
    """Two branches, one of two members: regressions on features with coefficients that nobody fitted."""
    branches = []
    rng = np.random.default_rng(2)
    for kind in ("standard", "minmax"):
        source = represent(VIEWS, fit_scaling(VIEWS, kind), "kmeans", 5, np.random.RandomState(0))
        members = [
            Member(LinearReader(rng.normal(size=(3, 7)), rng.normal(size=3), np.arange(3), 3), weight)
            for weight in ((1.0, 2.0) if kind == "standard" else (1.0,))
        ]
        branches.append(Branch(source.scaler, source.landmarks, tuple(members)))
    encoder = ElasticNetEncoder(source.grams.complete, 1.0, 0.1, source.grams)
    embedder = Embedder(source.scaler, source.landmarks, encoder, rng.normal(size=(2, 5)))
    return Model(tuple(branches), 0.5, np.array(["a", "b", "c"]), np.array([2, 0, 1]), embedder)


def probabilities(model: Model, views: Views) -> Any:
    return np.concatenate(
        [found for _, found, _ in predicting.predict_chunks(model, views, "probabilities", CHECKS, 1)]
    )


def test_probabilities_are_the_tempered_weighted_sum_of_the_members(model: Model) -> None:
    votes = np.zeros((1, 90, 3))
    for branch in model.branches:
        features = branch.scaler.take(VIEWS, np.arange(90)).stacked()
        for member in branch.members:
            logits = member.reader.scores(features)
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            votes[0] += member.weight * shares / shares.sum(axis=1, keepdims=True)
    expected = votes_to_probabilities(votes, 0.5)[:, [2, 0, 1]]
    np.testing.assert_allclose(probabilities(model, VIEWS), expected, rtol=1e-12)


def test_members_that_saw_guesses_choose_the_class_and_not_how_sure(model: Model) -> None:
    first, second = model.branches
    guessing = replace(
        second, members=tuple(replace(member, weight=50.0, saw_guesses=True) for member in second.members)
    )
    found = probabilities(replace(model, branches=(first, guessing)), VIEWS)
    alone, by_guess = (probabilities(replace(model, branches=(one,)), VIEWS) for one in (first, second))
    np.testing.assert_array_equal(found.argmax(axis=1), by_guess.argmax(axis=1))
    np.testing.assert_allclose(np.sort(found, axis=1), np.sort(alone, axis=1), rtol=1e-12)


def test_chunks_threads_and_copies_change_nothing(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = probabilities(model, VIEWS)
    monkeypatch.setattr(predicting, "CHUNK_ROWS", 25)
    chunks = list(predicting.predict_chunks(pickle.loads(pickle.dumps(model)), VIEWS, "probabilities", CHECKS, 2))
    assert [(chunk.start, chunk.stop) for chunk, _, _ in chunks] == [(0, 25), (25, 50), (50, 75), (75, 90)]
    np.testing.assert_array_equal(np.concatenate([found for _, found, _ in chunks]), whole)
    class_ids = np.concatenate(
        [found for _, found, _ in predicting.predict_chunks(model, VIEWS, "class_ids", CHECKS, 1)]
    )
    np.testing.assert_array_equal(class_ids, whole.argmax(axis=1))
    assert content_key(pickle.loads(pickle.dumps(model))) == content_key(model)
    assert content_key(replace(model, temperature=0.6)) != content_key(model)


def test_both_estimators_have_a_model_that_answers_without_them(some_digits: Any) -> None:
    for kind in (FSSMSC, AnchorViewClassifier):
        fitted = kind(n_landmarks=60, random_state=0).fit(some_digits.views, some_digits.y)
        found = probabilities(fitted._model, Views(some_digits.views))
        np.testing.assert_array_equal(found, fitted.predict_proba(some_digits.views))
    assert len(fitted._model.members) > 3


def test_rows_without_any_view_are_named_or_dropped(model: Model) -> None:
    mask = np.ones((90, 2), dtype=bool)
    mask[7] = False
    with pytest.raises(ValueError, match="7"):
        probabilities(model, Views(VIEWS, mask=mask))
    dropping = replace(CHECKS, drops_empty=True)
    ((_, _, empty),) = predicting.predict_chunks(model, Views(VIEWS, mask=mask), "class_ids", dropping, 1)
    assert np.flatnonzero(empty).tolist() == [7]
