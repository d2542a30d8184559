"""Rows that lack views, completed by their codes.

A row of E over some of the views has another length and direction than one over all of them, so what compares rows of E
would tell rows apart by the views that they have. But a code is shared by all views: the landmarks that rebuild what is
there of a row say what is not there, Σ_{v∉p} U_v (α U_vᵀ z). The ridge and λ_Z make codes short; α is the factor with
which z rebuilds the present views best, so that what is filled in is as long as the rest.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, Presence, weight_present
from .elastic_net import ElasticNetEncoder
from .grams import row_grams
from .result import Encoder


def code_lengths(cross: Matrix, codes: sparse.csr_array, rebuilt: Matrix) -> Matrix:
    """Return α of each row: eᵀz / zᵀG_p z, and 0 where the code is zero; `rebuilt` is z G_p."""
    fit, length = (
        np.asarray(codes.multiply(matrix).sum(axis=1), dtype=np.float64).ravel() for matrix in (cross, rebuilt)
    )
    return np.divide(fit, length, out=np.zeros(len(fit)), where=length > 0)


def complete_products(
    cross: Matrix, present: Presence, encoder: Encoder, codes: sparse.csr_array | None = None
) -> Matrix:
    """Return rows of E as if every row had all views: what it lacks is read from its code, made here if not known.

    Rows that have all views, and those whose code is zero, stay as they are. A row does not depend on the others.
    """
    if present is None or present.all():
        return cross
    if codes is None:
        codes = encoder.encode(cross, present)
    assert isinstance(encoder, ElasticNetEncoder)  # the other one refuses rows that lack views
    result = cross.copy()
    weights, total = weight_present(present, None if encoder.grams is None else encoder.grams.view_weights)
    shares = weights / total
    for gram, rows in row_grams(encoder.gram, encoder.grams, present):
        if present[rows[0]].all():
            continue
        part, own = sparse.csr_array(codes[rows]), cross[rows].astype(np.float64)
        rebuilt, share = part @ gram, shares[rows[0]]
        lengths = code_lengths(own, part, rebuilt)
        missing = part @ encoder.gram - share * rebuilt
        filled = share * own + lengths[:, None] * missing
        result[rows[lengths > 0]] = filled[lengths > 0]
    return result
