"""Solvers do what they declare."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, Views
from anchorview.core.progress import Iteration, Outcome
from anchorview.solver.registry import SOLVERS
from support.problems import drop_views, random_case
from support.settled import CHOSEN

CASE = random_case(0, n=60, m=15, k=3, n_labelled=12)


def refusal(name: str, **changes: Any) -> str | None:
    """Fit the estimator; return what it says if the solver cannot do what is asked, None if all is well."""
    views = Views(CASE.views, mask=changes.pop("mask", None))
    y = np.r_[CASE.classes, np.full(48, -1)]
    weights = changes.pop("sample_weight", None)
    model = FSSMSC(**CHOSEN, n_landmarks=15, solver=name, random_state=0)
    model.set_params(solver__units="data", solver__max_iter=5, solver__tol=1.0, **changes)
    try:
        model.fit(views, y, sample_weight=weights)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_solves_the_same_problem(name: str) -> None:
    problem, cross = CASE.problem(), CASE.cross_products(20)
    heard: list[Iteration] = []
    result = SOLVERS[name].solve(
        problem, cross, max_iter=4, tol=0.0, n_threads=2, callback=lambda iteration: bool(heard.append(iteration))
    )
    assert result.n_iter == len(heard) == 4
    assert Outcome.MAX_ITER in result.outcomes
    np.testing.assert_array_equal([iteration.objective for iteration in heard], result.objective_history)
    assert result.embedding.shape == (3, 15)
    assert result.codes.shape == result.encoded.shape == (60, 15)
    again = result.encoder.encode(CASE.cross[20:25])
    np.testing.assert_allclose(again.toarray(), result.encoded[20:25].toarray(), atol=1e-5)


@pytest.mark.parametrize("name", SOLVERS)
def test_weights_are_taken_or_refused_as_declared(name: str) -> None:
    message = refusal(name, sample_weight=np.linspace(0.5, 2, 60))
    assert (message is None) == SOLVERS[name].takes_weights
    assert message is None or f"solver={name!r} does not support sample_weight" in message


@pytest.mark.parametrize("name", SOLVERS)
def test_missing_views_are_taken_or_refused_as_declared(name: str) -> None:
    message = refusal(name, mask=drop_views(CASE, 0).present)
    assert (message is None) == SOLVERS[name].takes_missing_views
    assert message is None or f"solver={name!r} does not support rows that lack views" in message
