"""What settings share: landmarks and products of one scaling, and the codes of one (l1, ridge) on top of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..engine.blocks import ViewCrossProducts
from ..engine.parallel import iter_blocks, one_blas_thread
from ..landmarks import choose_landmarks
from ..scaling import Presence, ScalingChoice, ViewsScaler, fit_scaling
from ..solver.codes import code_gram, stack_codes
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import PatternGrams
from ..solver.objective import embedding_matrices, sum_codes
from ..solver.problem import Problem
from ..solver.trace_ratio import solve_trace_ratio
from ..supervision import label_laplacians
from ..views import Views

Matrix = npt.NDArray[np.floating]
_CACHE_BYTES = 2**30  # of E, which several settings of one scaling use


@dataclass(frozen=True)
class Representation:
    """One scaling of the data with its landmarks."""

    scaler: ViewsScaler
    landmarks: Matrix
    grams: PatternGrams
    cross: ViewCrossProducts
    weights: npt.NDArray[np.float64] | None


def represent(
    views: Views,
    scaling: ScalingChoice,
    n_landmarks: int,
    rng: np.random.RandomState,
    n_threads: int,
    present: Presence = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> Representation:
    """Scale the views and choose landmarks."""
    scaler = fit_scaling(views, scaling, n_threads, rng=rng, present=present, weights=weights)
    landmarks = choose_landmarks(views, scaler, "kmeans", n_landmarks, rng, n_threads, present=present, weights=weights)
    cross = ViewCrossProducts(views, scaler, landmarks, presence=present, weights=weights, cache_bytes=_CACHE_BYTES)
    return Representation(scaler, landmarks, PatternGrams(landmarks, scaler.sizes), cross, weights)


@dataclass(frozen=True)
class CodeSet:
    """Codes of all rows for one setting, without coupling, and their Gram matrix."""

    encoder: ElasticNetEncoder
    codes: sparse.csr_array
    gram: npt.NDArray[np.float64]


def encode(source: Representation, l1: float, ridge: float, n_threads: int) -> CodeSet:
    """Solve the codes of all rows."""
    encoder = ElasticNetEncoder(source.grams.complete, ridge, l1, source.grams)
    cross = source.cross
    encoder.prepare(source.scaler.dtype)  # before the threads start

    def of_block(block: slice) -> tuple[sparse.csr_array, npt.NDArray[np.float64]]:
        codes = encoder.encode(cross.rows(block), cross.present(block))
        return codes, code_gram(codes, None if source.weights is None else source.weights[block])

    m = len(source.landmarks)
    found, gram = [], np.zeros((m, m))
    for codes, part in iter_blocks(of_block, cross.blocks, n_threads):
        found.append(codes)
        gram += part
    return CodeSet(encoder, stack_codes(found, m), gram)


def embed_landmarks(
    code_set: CodeSet,
    rows: npt.NDArray[np.intp],
    classes: npt.NDArray[np.intp],
    n_components: int,
    must_link_weight: float,
    start: npt.NDArray[np.float64] | None = None,
    tol: float = 1e-2,
) -> npt.NDArray[np.float64]:
    """Learn the landmarks' embedding from the labels of some rows: one trace-ratio problem."""
    must, cannot = label_laplacians(classes, int(classes.max()) + 1)
    problem = Problem(
        gram=code_set.encoder.gram,
        n_components=n_components,
        l1=0.0,
        ridge=0.0,
        coupling=0.0,
        must_link_weight=must_link_weight,
        labelled=rows,
        must=must,
        cannot=cannot,
    )
    sums = sum_codes(problem, code_set.gram, 0.0, 0.0, sparse.csr_array(code_set.codes[rows]))
    with one_blas_thread():
        return solve_trace_ratio(*embedding_matrices(problem, sums), n_components, start=start, tol=tol).embedding
