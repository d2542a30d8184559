"""Codes of all rows for one setting, shared by everything that reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Rows, Weights
from ..engine.blocks import iter_blocks, one_blas_thread
from ..features.products import Representation
from ..labelling.held_out import embed_from_labels
from ..solver.codes import code_gram, stack_codes
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.problem import Problem


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
    encoder.prepare(source.scaler.dtype)  # before the threads start

    def of_block(block: slice) -> tuple[sparse.csr_array, Matrix]:
        codes = encoder.encode(cross.read(block), cross.present_in(block))
        return codes, code_gram(codes, None if weights is None else weights[block])

    m = len(source.landmarks)
    blocks, gram = [], np.zeros((m, m))
    for codes, part in iter_blocks(of_block, cross.blocks, n_threads):
        blocks.append(codes)
        gram += part
    return CodeSet(encoder, stack_codes(blocks, m), gram)


def embed_code_set(
    code_set: CodeSet,
    rows: Rows,
    class_ids: ClassIds,
    n_components: int,
    must_link_weight: float,
    start: Matrix | None = None,
    tol: float = 1e-2,
) -> Matrix:
    """Learn the landmarks' embedding from the labels of some rows."""
    model = Problem(
        gram=code_set.encoder.gram,
        n_components=n_components,
        l1=0.0,
        ridge=0.0,
        coupling=0.0,
        must_link_weight=must_link_weight,
    )
    codes = sparse.csr_array(code_set.codes[rows])
    with one_blas_thread():
        return embed_from_labels(code_set.gram, codes, class_ids, model, start=start, tol=tol)
