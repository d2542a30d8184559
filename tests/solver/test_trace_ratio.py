"""The A step: its two matrices against the transcription of the paper, its shift, and its way round a failed solver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse

from anchorview.solver import trace_ratio
from anchorview.solver.objective import coupling_terms, embedding_matrices
from anchorview.solver.trace_ratio import solve_trace_ratio
from support import oracle
from support.problems import Case, random_case, sums_of

PARAMETERS = oracle.Parameters(lambda_M=30.0)


def codes_of(case: Case, m: int) -> sparse.csr_array:
    rng = np.random.default_rng(0)
    return sparse.csr_array(rng.random((len(case.views[0]), m)) * (rng.random((len(case.views[0]), m)) < 0.5))


@pytest.mark.parametrize("n_components", [3, 5])
def test_both_matrices_are_those_of_the_paper(n_components: int) -> None:
    """ε/k on the diagonal of L_d, so that its trace along A is φ_C + ε."""
    case = random_case(0, n=40, m=12, k=3, n_labelled=10)
    problem = replace(case.problem(must_link_weight=PARAMETERS.lambda_M), n_components=n_components)
    codes = codes_of(case, 12)
    sums = sums_of(problem, codes, case.cross)
    Z = codes.toarray().T
    L_M, L_C = oracle.dense_laplacians(case.classes)
    L_d, L_f = oracle.trace_ratio_matrices(Z, Z @ Z.T @ np.ones(12), L_M, L_C, n_components, PARAMETERS)
    between, within = embedding_matrices(problem, sums)
    np.testing.assert_allclose(between, L_d, rtol=0, atol=1e-15)
    np.testing.assert_allclose(within, L_f, rtol=0, atol=1e-12)
    embedding = np.linalg.qr(np.random.default_rng(1).normal(size=(12, n_components)))[0].T
    terms = coupling_terms(problem, sums, embedding)
    assert terms.denominator == pytest.approx(np.trace(embedding @ between @ embedding.T), rel=1e-12)
    assert terms.numerator == pytest.approx(np.trace(embedding @ within @ embedding.T), rel=1e-12)


def test_directions_without_any_distance_within_are_no_pole() -> None:
    """As many as there are components: the denominator would be zero, and its shift is what is left of it."""
    between = np.diag([3.0, 2.0, 1.0, 0.5, 0.1])
    within = np.diag([0.0, 0.0, 4.0, 1.0, 2.0])
    found = solve_trace_ratio(between, within, 2)
    assert not found.guarded
    assert found.ratio == pytest.approx(5.0 / (2 * 4e-14), rel=1e-6)
    np.testing.assert_allclose(found.embedding, np.eye(2, 5), atol=1e-10)


def test_a_failed_solver_of_a_few_eigenvectors_is_replaced_by_the_whole_decomposition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(2, 15, 15))
    matrices = factor[0] @ factor[0].T, factor[1] @ factor[1].T + np.eye(15)
    expected = solve_trace_ratio(*matrices, 4)
    eigh, failed = linalg.eigh, []

    def fails_on_parts(matrix: Any, **options: Any) -> Any:
        if "subset_by_index" in options:
            failed.append(options)
            raise linalg.LinAlgError("internal error")
        return eigh(matrix, **options)

    monkeypatch.setattr(trace_ratio.linalg, "eigh", fails_on_parts)
    found = solve_trace_ratio(*matrices, 4)
    assert failed
    assert found.ratio == pytest.approx(expected.ratio, rel=1e-12)
    np.testing.assert_allclose(found.embedding, expected.embedding, atol=1e-8)


def test_equal_problems_give_equal_signs() -> None:
    """The largest entry of each row is positive, whichever sign the eigenvectors came with."""
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(2, 10, 10))
    found = solve_trace_ratio(factor[0] @ factor[0].T, factor[1] @ factor[1].T, 3).embedding
    assert (found[np.arange(3), np.abs(found).argmax(axis=1)] > 0).all()
