"""Codes of all rows for one setting, shared by everything that reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Weights
from ..engine.blocks import iter_blocks, one_blas_thread
from ..features.products import Representation
from ..labelling.held_out import embed_from_supervision
from ..solver.codes import code_gram, stack_codes
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.problem import Problem
from ..supervision.known import supervision_laplacians
from .links import Told


@dataclass(frozen=True)
class CodeSet:
    """Codes of all rows for one setting, without coupling, and their Gram matrix."""

    encoder: ElasticNetEncoder
    codes: sparse.csr_array
    gram: Matrix


def encode(source: Representation, l1: float, ridge: float, weights: Weights, n_threads: int) -> CodeSet:
    """Solve the codes of all rows."""
    encoder = ElasticNetEncoder(source.grams.complete, ridge, l1, source.grams)
    cross = source.cross
    encoder.prepare(cross.dtype)  # before the threads start

    def of_block(block: slice) -> tuple[sparse.csr_array, Matrix]:
        codes = encoder.encode(cross.read(block), cross.present_in(block))
        return codes, code_gram(codes, None if weights is None else weights[block])

    m = len(source.landmarks)
    blocks, gram = [], np.zeros((m, m))
    for codes, part in iter_blocks(of_block, cross.blocks, n_threads, "encoding"):
        blocks.append(codes)
        gram += part
    return CodeSet(encoder, stack_codes(blocks, m), gram)


def embed_code_set(
    code_set: CodeSet,
    told: Told,
    n_classes: int,
    must_link_weight: float,
    start: Matrix | None = None,
    tol: float = 1e-2,
) -> Matrix:
    """Learn the landmarks' embedding from the labels and pairs that a fit is told."""
    class_ids = np.full(code_set.codes.shape[0], -1, dtype=np.intp)
    class_ids[told.rows] = told.class_ids
    rows, must, cannot = supervision_laplacians(class_ids, n_classes, told.pairs, told.all_weights)
    problem = Problem(
        gram=code_set.encoder.gram,
        n_components=n_classes,
        l1=0.0,
        ridge=0.0,
        coupling=0.0,
        must_link_weight=must_link_weight,
        labelled=np.arange(len(rows)),
        must=must,
        cannot=cannot,
    )
    codes = sparse.csr_array(code_set.codes[rows])
    with one_blas_thread():
        return embed_from_supervision(code_set.gram, codes, problem, start=start, tol=tol)
