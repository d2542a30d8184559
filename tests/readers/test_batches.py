"""What is said of a row does not depend on the rows beside it, nor on threads; `predict` names the likeliest class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.readers.base import RULES, class_probabilities
from anchorview.readers.nearest import calibrate_on_seen, keep_labelled
from support.models import SHORT
from support.settled import CHOSEN

PRECISIONS = ("float32", "float64", "sparse")
KINDS = (*(f"{rule}, {precision}" for rule in RULES for precision in PRECISIONS), "clusters", "tuned")


@pytest.fixture(scope="module")
def fitted(some_digits: Any) -> dict[str, tuple[Any, Views]]:
    """Models of each rule and precision, with rows: those of the fit, all labelled ones among them, twice."""
    found: dict[str, tuple[Any, Views]] = {}
    for kind in KINDS:
        rule, _, dtype = kind.partition(", ")
        arrays: list[Any] = [np.asarray(array, dtype=np.float32) for array in some_digits.views.arrays]
        if dtype == "float64":
            arrays = [array.astype(np.float64) for array in arrays]
        if dtype == "sparse":
            arrays = [sparse.csr_array(np.where(array > np.median(array), array, 0)) for array in arrays[:3]]
        views = Views(arrays)
        scaling = "lsa" if dtype == "sparse" else "minmax"
        model: Any = FSSMSC(**{**CHOSEN, "scaling": scaling}, n_landmarks=50, random_state=0, n_jobs=1)
        if kind == "tuned":
            model = AnchorViewClassifier(
                n_landmarks=40, n_averaged=3, n_repeats=1, random_state=0, n_jobs=1, search_options=SHORT
            )
        elif kind == "clusters":
            model.set_params(n_clusters=10)
        else:
            model.set_params(readers=rule)
        model.fit(views, None if kind == "clusters" else some_digits.y)
        found[kind] = model, views[np.r_[: len(views), : len(views)]]
    return found


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([1, 2]))
@settings(max_examples=30, deadline=None)
def test_rows_stand_alone(fitted: Any, kind: str, seed: int, size: int, n_jobs: int) -> None:
    model, rows = fitted[kind]
    batch = rows[np.random.RandomState(seed).randint(len(rows), size=size)]
    together = model.set_params(n_jobs=n_jobs).predict_proba(batch)
    np.testing.assert_array_equal(model.predict(batch), model.classes_[together.argmax(axis=1)])
    alone = np.concatenate([model.predict_proba(batch[number : number + 1]) for number in range(min(size, 3))])
    np.testing.assert_allclose(together[: len(alone)], alone, atol=5e-5)
    np.testing.assert_array_equal(model.predict(batch)[: len(alone)], model.classes_[alone.argmax(axis=1)])


def test_all_rows_at_once_and_one_by_one(fitted: Any) -> None:
    """A row equal to a labelled one was at a distance that rounding made: by shares of votes 0.1 off in float32."""
    for kind in KINDS:
        model, rows = fitted[kind]
        whole = model.predict_proba(rows)
        parts = [model.predict_proba(rows[first : first + 37]) for first in range(0, len(rows), 37)]
        np.testing.assert_allclose(np.concatenate(parts), whole, atol=5e-5, err_msg=kind)


@given(
    st.integers(0, 10_000),
    st.sampled_from(RULES),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 9),
    st.floats(-9, 0),
)
@settings(max_examples=40, deadline=None)
def test_the_rule_itself(seed: int, rule: str, dtype: type, n_neighbors: int, log_scale: float) -> None:
    """Labels at random on rows that are close together, some of them the same: the worst that rounding can meet."""
    rng = np.random.default_rng(seed)
    labelled = np.ones(4) + 10.0**log_scale * rng.normal(size=(25, 4))
    labelled[rng.integers(25, size=5)] = labelled[0]
    class_ids = np.concatenate([np.arange(3), rng.integers(3, size=22)])
    model = calibrate_on_seen(keep_labelled(labelled.astype(dtype), class_ids, rule, n_neighbors))
    rows = np.vstack([labelled, labelled + 10.0**log_scale * rng.normal(size=(25, 4))]).astype(dtype)
    whole = class_probabilities(model, rows)
    blocks = model.probabilities(model.evidence(rows, 2, block_entries=50 * 7))
    np.testing.assert_allclose(whole, blocks, rtol=8 * np.finfo(dtype).eps)  # NumPy's logarithm knows where a row lies
    alone = np.concatenate([class_probabilities(model, rows[number : number + 1]) for number in range(len(rows))])
    np.testing.assert_allclose(whole, alone, atol=1e-6)


def test_of_equally_near_rows_the_first_classes_vote() -> None:
    """Labelled rows that are the same, with different labels, more of them than vote."""
    labelled = np.tile([[0.6, 0.8]], (12, 1))
    for order in (np.arange(12), np.arange(12)[::-1]):
        model = keep_labelled(labelled[order], (np.arange(12) % 4)[order], "knn", 4)
        votes = np.exp(model.evidence(np.array([[0.6, 0.8], [0.8, 0.6]])))
        shares = votes / votes.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(shares[:, 0], shares.max(axis=1))
        np.testing.assert_allclose(shares[:, 1], shares[0, 0] / 3, rtol=0.01)  # three rows of class 0, one of class 1
