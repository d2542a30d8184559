"""Landmarks that the trace ratio leaves out get an embedding that carries information, not rounding noise."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC
from anchorview.core.arrays import unit_rows
from anchorview.core.progress import Outcome
from anchorview.solver.codes import code_gram
from anchorview.solver.coverage import cover_landmarks
from anchorview.solver.laplacian import quadratic_forms
from anchorview.solver.objective import CodeSums, embedding_matrices
from anchorview.solver.problem import Problem
from anchorview.solver.trace_ratio import not_embedded, solve_trace_ratio
from anchorview.supervision.known import supervision_laplacians
from support.processes import run

N_PARTS, WIDTH, ROWS, K = 9, 4, 12, 3  # parts of the graph, landmarks and rows of each, classes


def parts_of_a_graph(labelled_parts: int) -> tuple[Problem, CodeSums, sparse.csr_array, np.ndarray, np.ndarray]:
    """Rows in parts that share no landmark; the class of a part is its number modulo k, and so is its direction."""
    rng = np.random.default_rng(0)
    part = np.repeat(np.arange(N_PARTS), ROWS)
    codes = np.zeros((len(part), N_PARTS * WIDTH))
    for row, number in enumerate(part):
        codes[row, number * WIDTH + rng.choice(WIDTH, 2, replace=False)] = rng.uniform(0.2, 1.0, 2)
    # Landmarks of one class resemble each other, so that features tell what the graph does not.
    centres = np.eye(K)[np.repeat(np.arange(N_PARTS) % K, WIDTH)] + 0.1 * rng.random((N_PARTS * WIDTH, K))
    rows = np.flatnonzero(part < labelled_parts)[::4]
    class_ids = part[rows] % K
    _, must, cannot = supervision_laplacians(class_ids, K)
    problem = Problem(centres @ centres.T, K, 0.0, 1.0, 1e-4, 1e4, rows, must, cannot)
    sparse_codes = sparse.csr_array(codes)
    forms = quadratic_forms(must, cannot, sparse.csr_array(sparse_codes[rows]))
    return problem, CodeSums(code_gram(sparse_codes), 0.0, 0.0, *forms), sparse_codes, part % K, class_ids


def nearest_class(codes: sparse.csr_array, embedding: np.ndarray, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
    unit = unit_rows(codes @ embedding.T)
    return ids[(unit @ unit[rows].T).argmax(axis=1)]


@pytest.mark.parametrize("labelled_parts", [N_PARTS, 6, 3])
def test_rows_of_every_part_get_the_class_of_their_part(labelled_parts: int) -> None:
    problem, sums, codes, truth, ids = parts_of_a_graph(labelled_parts)
    first = solve_trace_ratio(*embedding_matrices(problem, sums), K, tol=1e-3).embedding
    covered = cover_landmarks(first, problem, sums)
    assert not not_embedded(covered.embedding).any()
    assert np.mean(nearest_class(codes, covered.embedding, problem.labelled, ids) == truth) > 0.95
    assert (Outcome.ROWS_NOT_LINKED in covered.outcomes) == (labelled_parts < N_PARTS)


def test_parts_that_hold_the_ratio_do_not_hide_the_others() -> None:
    """One landmark per class with a labelled row of its own makes the ratio infinite: all A would ever look at."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(K), 30)
    codes = np.zeros((len(truth), K + 12))  # k landmarks of their own, four of each class, all twelve in one part
    for row, number in enumerate(truth):
        codes[row, K + 4 * number + rng.choice(4, 2, replace=False)] = rng.uniform(0.5, 1.0, 2)
        codes[row, K + rng.integers(12)] += 0.05
    codes[::30] = np.eye(K, K + 12)
    rows = np.sort(np.concatenate([np.arange(0, 90, 30), np.arange(4, 90, 10)]))
    _, must, cannot = supervision_laplacians(truth[rows], K)
    problem = Problem(np.eye(K + 12), K, 0.0, 1.0, 1e-4, 1e4, rows, must, cannot)
    sparse_codes = sparse.csr_array(codes)
    forms = quadratic_forms(must, cannot, sparse.csr_array(sparse_codes[rows]))
    sums = CodeSums(code_gram(sparse_codes), 0.0, 0.0, *forms)
    first = solve_trace_ratio(*embedding_matrices(problem, sums), K, tol=1e-3).embedding
    first[:, K:] *= 1e-9  # as it is found where no pair joins the two kinds of landmarks
    covered = cover_landmarks(first, problem, sums)
    assert covered.outcomes == (Outcome.GRAPH_IN_PARTS,) and len(covered.embedding) == 2 * K
    np.testing.assert_array_equal(nearest_class(sparse_codes, covered.embedding, rows, truth[rows]), truth)


def test_noise_of_landmarks_left_out_is_removed() -> None:
    """Where all parts have labels, the first rows of A stay as they are but for what rounding left in them."""
    problem, sums, *_ = parts_of_a_graph(N_PARTS)
    first = np.linalg.qr(np.random.default_rng(0).normal(size=(len(problem.gram), K)))[0].T
    first[:, 5:9] *= 1e-9
    assert np.flatnonzero(not_embedded(first)).tolist() == [5, 6, 7, 8]
    covered = cover_landmarks(first, problem, sums).embedding
    np.testing.assert_array_equal(covered[:K, 5:9], 0.0)
    np.testing.assert_array_equal(np.delete(covered[:K], range(5, 9), axis=1), np.delete(first, range(5, 9), axis=1))
    assert np.linalg.norm(covered[K:, 5:9]) > 0.5 and not not_embedded(covered).any()


def test_rounding_does_not_decide() -> None:
    """Noise of 1e-15 in the sums, as another BLAS makes it, changes no distance between embedded rows."""
    rng = np.random.default_rng(1)
    problem, sums, codes, *_ = parts_of_a_graph(6)
    products = []
    for noise in (0.0, 1e-15, 1e-15):
        gram = sums.gram * (1 + noise * rng.normal(size=sums.gram.shape))
        noisy = CodeSums((gram + gram.T) / 2, 0.0, 0.0, sums.must, sums.cannot)
        first = solve_trace_ratio(*embedding_matrices(problem, noisy), K, tol=1e-3).embedding
        unit = unit_rows(codes @ cover_landmarks(first, problem, noisy).embedding.T)
        products.append(unit @ unit.T)
    np.testing.assert_allclose(products[1], products[0], atol=1e-6)
    np.testing.assert_allclose(products[2], products[0], atol=1e-6)


def test_rows_without_a_link_are_not_sure() -> None:
    problem, sums, codes, _, _ = parts_of_a_graph(3)
    first = solve_trace_ratio(*embedding_matrices(problem, sums), K, tol=1e-3).embedding
    unit = unit_rows(codes @ cover_landmarks(first, problem, sums).embedding.T)
    nearness = (unit @ unit[problem.labelled].T).max(axis=1)
    assert nearness[3 * ROWS :].max() < 0.75 < nearness[: 3 * ROWS].min()


def test_an_embedding_of_all_landmarks_is_left_as_it_is() -> None:
    problem, sums, *_ = parts_of_a_graph(N_PARTS)
    whole = np.linalg.qr(np.random.default_rng(0).normal(size=(len(problem.gram), K)))[0].T
    assert cover_landmarks(whole, problem, sums).embedding is whole


TEXT = """
import numpy as np
from scipy import sparse
from anchorview import FSSMSC, ActiveSet
rng = np.random.default_rng(3)
topics = rng.dirichlet(np.full(4000, 0.05), size=4)
truth = rng.integers(0, 4, 300)
X = sparse.csr_array(np.stack([rng.multinomial(12, topics[t]) for t in truth]).astype(float))
y = np.where(rng.random(300) < 0.08, truth, -1)
model = FSSMSC(scaling="l2", solver=ActiveSet(units="paper"), readers="nearest", random_state=0).fit(X, y)
"""


def test_texts_with_few_words_in_common() -> None:
    """The graph falls apart; `status_` says so, transform and predict agree with the fit, no row is noise."""
    given: dict = {}
    exec(TEXT, given)  # the very lines that other processes run below
    model: FSSMSC = given["model"]
    assert "parts" in model.status_
    assert model.embedding_.shape[1] == len(model.get_feature_names_out()) == len(model.landmark_embedding_)
    norms = np.linalg.norm(model.embedding_, axis=1)
    coded = np.diff(model.codes_.indptr) > 0
    assert coded.mean() > 0.95 and norms[coded].min() > 1e-6 * norms.max()
    np.testing.assert_allclose(model.transform(given["X"]), model.embedding_, atol=1e-5)
    hidden = given["y"] == -1
    assert np.mean(model.labels_[hidden] == given["truth"][hidden]) > 0.7


@pytest.mark.slow
def test_labels_do_not_depend_on_the_kernels_of_blas() -> None:
    """`test_rounding_does_not_decide` makes such noise here; contracts/test_blas_kernels.py compares two kernels."""
    found = []
    for kernel in ("Prescott", "Nehalem"):  # every x86 runs these; elsewhere the variable says nothing
        environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
        code = TEXT + "print(*model.labels_)"
        found.append(run([sys.executable, "-c", code], env=environment).stdout)
    assert found[0] == found[1] and len(found[0].split()) == 300
