"""Solvers as parameters: objects with parameters of their own, or names for those with defaults."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import anchorview
from anchorview import ADMM, FSSMSC, ActiveSet, datasets
from anchorview.solver.registry import SOLVERS
from anchorview.solvers import resolve_solver
from support.settled import CHOSEN, settle

MADE = datasets.make_multiview_subspaces(60, 3, (6, 5), noise=0.1, random_state=0)
KINDS = [ActiveSet, ADMM]


def fit(**parameters: Any) -> FSSMSC:
    y = datasets.hide_labels(MADE.target, 0.4, stratified=True, random_state=0)
    return settle(n_landmarks=15, random_state=0, n_jobs=1, **parameters).fit(MADE.views, y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_solver_is_an_estimator_of_scikit_learn(kind: Any) -> None:
    solver = kind(max_iter=7, omit=("coupling",))
    assert set(kind._rules) == set(solver.get_params())
    assert clone(solver).get_params() == pickle.loads(pickle.dumps(solver)).get_params() == solver.get_params()
    assert repr(solver) == f"{kind.__name__}(max_iter=7, omit=('coupling',))"
    assert solver.set_params(tol=0.5).tol == 0.5
    assert set(solver.options()) == set(solver.get_params()) - {"max_iter", "tol", "units", "omit", "memory_limit"}


def test_every_solver_has_a_name() -> None:
    assert {kind.name for kind in KINDS} == set(SOLVERS)
    for kind in KINDS:
        assert resolve_solver(kind.name).get_params() == kind().get_params()
        np.testing.assert_array_equal(
            fit(solver=kind.name, solver__units="paper").embedding_, fit(solver=kind(units="paper")).embedding_
        )
    assert (ActiveSet().units, ADMM().units) == ("data", "paper")


def test_parameters_of_a_solver_reach_it() -> None:
    assert fit(solver=ActiveSet(units="paper", max_iter=2, tol=0)).n_iter_ == 2
    plain = fit(solver=ADMM(max_iter=5))
    assert plain.n_iter_ == 5
    changes: list[dict[str, Any]] = [{"mode": "released"}, {"dtype": "float64"}, {"units": "data"}, {"omit": ("l1",)}]
    for change in changes:
        other = fit(solver=ADMM(max_iter=5, **change))
        assert np.abs(other.embedding_ - plain.embedding_).max() > 0
    np.testing.assert_array_equal(fit(solver=ADMM(max_iter=5, dtype="float32")).embedding_, plain.embedding_)


def test_a_fixed_step_is_kept_whatever_happens() -> None:
    fixed, guarded = (fit(solver=ADMM(fixed_step=step), coupling=1.0, ridge=0) for step in (True, False))
    assert fixed.objective_history_[-1] > guarded.objective_history_[-1]


def test_set_params_reaches_a_solver_given_by_name() -> None:
    model = FSSMSC().set_params(solver__max_iter=5)
    assert model.solver.get_params() == ActiveSet(max_iter=5).get_params()
    model = FSSMSC().set_params(solver="admm", solver__mode="released")
    assert model.solver.get_params() == ADMM(mode="released").get_params()
    given = ADMM()
    assert FSSMSC(solver=given).set_params(solver__tol=0.1).solver is given  # as scikit-learn does
    assert FSSMSC().set_params(n_landmarks=3).solver == "active_set"
    with pytest.raises(ValueError, match="Invalid parameter 'mode' for estimator ActiveSet"):
        FSSMSC().set_params(solver__mode="released")
    with pytest.raises(ValueError, match="solver='sgd' is not known"):
        FSSMSC().set_params(solver="sgd", solver__tol=0.1)


def test_a_grid_search_reaches_the_parameters_of_the_solver() -> None:
    y = datasets.hide_labels(MADE.target, 0.6, stratified=True, random_state=0)
    model = FSSMSC(**CHOSEN, n_landmarks=12, random_state=0)
    search = GridSearchCV(model, {"solver__max_iter": [1, 4], "solver__tol": [0.0]}, cv=2, refit=False)
    X = np.hstack(MADE.data)
    with pytest.warns(match="stopped at max_iter"):
        search.fit(X[y >= 0], y[y >= 0])
    assert [params["solver__max_iter"] for params in search.cv_results_["params"]] == [1, 4]
    assert model.solver == "active_set"  # the search works on copies


def test_there_are_few_parameters() -> None:
    assert len(FSSMSC().get_params()) == 20


def test_the_names_are_public() -> None:
    assert {"ADMM", "ActiveSet"} <= set(dir(anchorview))
