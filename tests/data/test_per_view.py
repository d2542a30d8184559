"""Transformers view by view: once (`Views.map`), and as a step of a pipeline (`PerView`)."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from anchorview import FSSMSC, PerView, Views
from anchorview.datasets import hide_labels, make_multiview_subspaces
from support.settled import CHOSEN

MADE = make_multiview_subspaces(90, 3, (6, 4), random_state=1)
A, B = MADE.data
Y = hide_labels(MADE.target, 0.4, stratified=True, random_state=0)
MASK = np.column_stack([np.arange(90) % 4 != 0, np.ones(90, dtype=bool)])
IDS = [f"r{row}" for row in range(90)]


def gaps() -> Views:
    return Views({"a": A, "b": B}, mask=MASK, ids=IDS)


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 20, "random_state": 0, "scaling": "l2", **parameters})


def scaled(array: np.ndarray) -> np.ndarray:
    return StandardScaler().fit_transform(array)


@pytest.mark.parametrize("apply", [lambda views, t: views.map(t), lambda views, t: PerView(t).fit_transform(views)])
def test_each_view_is_scaled_on_the_rows_that_have_it(apply: Any) -> None:
    before = A.copy()
    views = apply(gaps(), StandardScaler())
    assert views.names == ["a", "b"] and views.ids.tolist() == IDS and views.known_ids.tolist() == IDS
    np.testing.assert_array_equal(views.present, MASK)
    np.testing.assert_allclose(views.arrays[0][MASK[:, 0]], scaled(A[MASK[:, 0]]))
    np.testing.assert_allclose(views.arrays[1], scaled(B))
    np.testing.assert_array_equal(A, before)
    holes = A.copy()
    holes[~MASK[:, 0]] = np.nan
    by_nan = apply(Views({"a": holes, "b": B}), StandardScaler())
    np.testing.assert_array_equal(by_nan.present, MASK)
    np.testing.assert_array_equal(by_nan.arrays[0], views.arrays[0])


def test_a_mapping_changes_the_views_it_names() -> None:
    views = Views({"a": A, "b": sparse.csr_array(np.abs(B))})
    mapped = views.map({"a": PCA(2, random_state=0)})
    assert mapped.sizes == [2, 4] and mapped.arrays[1] is views.arrays[1]
    assert views.map({"b": MaxAbsScaler()}).arrays[1].max() == 1
    np.testing.assert_array_equal(views.map({"a": np.abs}).arrays[0], np.abs(A))
    assert views.map({"a": "passthrough"}).arrays[0] is views.arrays[0]
    with pytest.raises(ValueError, match=r"name views that are not there: \['c'\]; the views are \['a', 'b'\]"):
        views.map({"c": StandardScaler()})
    with pytest.raises(ValueError, match="StandardScaler.* cannot be applied to view 'b': Cannot center sparse"):
        views.map(StandardScaler())
    with pytest.raises(ValueError, match="made 3 rows of the 90 rows of view 'a'"):
        views.map({"a": lambda rows: rows[:3]})
    with pytest.raises(ValueError, match="cannot be applied to view 'a': it is a int"):
        views.map({"a": 7})


def test_new_rows_are_scaled_as_those_of_the_fit() -> None:
    step = PerView(StandardScaler()).fit(gaps()[:60])
    new = step.transform(gaps()[60:])
    expected = StandardScaler().fit(A[:60][MASK[:60, 0]]).transform(A[60:])
    np.testing.assert_allclose(new.arrays[0][MASK[60:, 0]], expected[MASK[60:, 0]])
    np.testing.assert_array_equal(new.present, MASK[60:])
    absent = step.transform({"b": B[60:]})
    assert absent.names == ["a", "b"] and absent.sizes == [6, 4] and not absent.present[:, 0].any()
    with pytest.raises(NotFittedError):
        PerView(StandardScaler()).transform(gaps())
    with pytest.raises(ValueError, match=r"views that were not in the fit: \['c'\]"):
        step.transform({"a": A, "c": B})
    table = pd.concat({"a": pd.DataFrame(A), "b": pd.DataFrame(B)}, axis=1)
    assert PerView(StandardScaler()).fit_transform(table).names == ["a", "b"]
    assert PerView(StandardScaler(), views=[6, 4]).fit_transform(np.hstack([A, B])).sizes == [6, 4]


def test_in_a_pipeline() -> None:
    views = Views({"a": A, "b": B})
    pipeline = make_pipeline(PerView(StandardScaler()), build())
    by_hand = build().fit({"a": scaled(A), "b": scaled(B)}, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        pipeline.fit(views, Y)
        np.testing.assert_array_equal(pipeline[-1].labels_, by_hand.labels_)
        assert pipeline.score(views, MADE.target) > 0.9
        assert cross_val_score(pipeline, views, MADE.target, cv=3).min() > 0.9
        assert cross_val_score(pipeline, gaps(), MADE.target, cv=3).min() > 0.8
        train, test, y_train, y_test = train_test_split(views, MADE.target, random_state=0)
        assert pipeline.fit(train, y_train).score(test, y_test) > 0.9
    back = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(back.predict(views), pipeline.predict(views))
    without = pipeline.predict({"a": A})
    np.testing.assert_array_equal(without, pipeline.predict({"a": A, "b": np.full_like(B, np.nan)}))


def test_parameters() -> None:
    step = PerView(StandardScaler())
    assert step.get_params()["transformer__with_mean"] is True
    assert step.set_params(transformer__with_mean=False).transformer.with_mean is False
    named = PerView({"a": PCA(2), "b": np.abs})
    assert named.get_params()["a__n_components"] == 2
    copy = clone(named).set_params(a__n_components=3)
    assert copy.transformer["a"].n_components == 3 and named.transformer["a"].n_components == 2
    assert isinstance(copy.set_params(a=StandardScaler()).transformer["a"], StandardScaler)
    views = Views({"a": A, "b": B})
    search = GridSearchCV(make_pipeline(PerView({"a": PCA(2)}), build()), {"perview__a__n_components": [2, 5]}, cv=2)
    assert search.fit(views, MADE.target).best_score_ > 0.8
    with pytest.raises(TypeError, match=r"no fit parameters; got \['sample_weight'\]"):
        step.fit_transform(views, sample_weight=1)


def test_a_scaler_that_makes_one_view_of_all_says_so() -> None:
    views = Views({"a": A, "b": B})
    with pytest.warns(UserWarning, match=r"a: 6, b: 4\) was turned into one array.*Views.map.*PerView.*views=\[6, 4\]"):
        make_pipeline(StandardScaler(), build()).fit(views, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        np.asarray(views.select(["a"]))  # one view is one array
        cross_val_score(build(), views, MADE.target, cv=2)
