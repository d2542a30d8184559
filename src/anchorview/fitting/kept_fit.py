"""What other labels need of a fit, as plain values: for a file, and back.

The features are not among it: the rows of E = X Uᵀ take their place.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Matrix, Presence, Rows, Weights
from ..data.views import Views
from ..features.products import landmark_gram
from ..features.representation import Representation
from ..features.scaled import ViewsScaler
from ..features.stored_products import StoredProducts
from ..readers.graph_members import GraphMembers
from ..solver.codes import Reduction
from ..solver.grams import PatternGrams
from ..solver.weights import ModelWeights, PaperWeights
from ..supervision.given import FitInput
from ..tuning.auto import Choice
from .preparing import Prepared
from .spec import FitParameters, make_plan


@dataclass(frozen=True, eq=False)
class KeptFit:
    """A fit without its features, ready for other labels.

    Attributes
    ----------
    products : ndarray of shape (n_rows, n_landmarks)
        E.
    squared_norm : float
        Of the scaled features.
    present, empty, sample_weight : ndarray or None
        Of the rows, as the fit was given them.
    codes : csr_array or None
        Codes without coupling; None if the solver has none.
    sums : tuple of (ndarray, float, float, float), or None
        Over these codes.
    chosen, paper_weights : dict
        Settings of the fit.
    rng : RandomState
        As it was when the landmarks were chosen.
    members, considered : ndarray of int, or None
        Rows of the graph, and labelled rows that it was drawn for.
    """

    products: Matrix
    squared_norm: float
    present: Presence
    empty: Mask | None
    sample_weight: Weights
    codes: sparse.csr_array | None
    sums: tuple[Matrix, float, float, float] | None
    chosen: dict[str, Any]
    paper_weights: dict[str, float]
    nonzeros: float
    rng: np.random.RandomState
    members: Rows | None
    considered: Rows | None


def keep_fit(prepared: Prepared, chosen: dict[str, Any], paper_weights: dict[str, float]) -> KeptFit:
    """Return what other labels need of a fit; all rows of E are computed if they are not known."""
    given, cross = prepared.given, prepared.source.cross
    if given.views.is_on_cluster:
        raise ValueError("Rows on Dask cannot be kept in a file for later labels; fit again where they are.")
    products = np.concatenate([cross.read(block) for block in cross.blocks])
    codes, sums = (None, None) if prepared.encoded is None else prepared.encoded
    members = prepared.members
    return KeptFit(
        products,
        float(cross.squared_norm()),
        given.present,
        given.empty,
        given.sample_weight,
        None if codes is None else sparse.csr_array(codes[:]),
        None if sums is None else (sums.gram, float(sums.fit), float(sums.total), float(sums.quadratic)),
        chosen,
        paper_weights,
        float(prepared.settled.nonzeros),
        _plain_generator(prepared.rng),
        None if members is None else members.rows,
        None if members is None else members.labelled,
    )


def _plain_generator(rng: np.random.RandomState) -> np.random.RandomState:
    """Return a generator that files can hold: of other bits than the usual ones, one that starts from them."""
    state: Any = rng.get_state(legacy=False)
    return rng if state["bit_generator"] == "MT19937" else np.random.RandomState(deepcopy(rng).randint(2**31 - 1))


def rows_without_features(n_rows: int, names: list[str], sizes: list[int], ids: npt.NDArray[Any] | None) -> Views:
    """Return views of the right shapes that hold nothing, and take no memory."""
    arrays = [np.broadcast_to(np.float32(0), (n_rows, size)) for size in sizes]
    return Views(arrays, names=names, ids=ids)


def restore_fit(
    kept: KeptFit, given: FitInput, params: FitParameters, scaler: ViewsScaler, landmarks: Matrix
) -> Prepared:
    """Return a fit up to its codes from what was kept of it.

    Parameters
    ----------
    kept : KeptFit
        From `keep_fit`.
    given : FitInput
        Its rows (`rows_without_features`), with their labels.
    params : FitParameters
        Of the model.
    scaler : ViewsScaler
        Of the model.
    landmarks : ndarray
        Of the model.
    """
    chosen = kept.chosen
    plan = make_plan(replace(params, scaling=list(chosen["scaling"])), given)
    plan.scaling, plan.notes = list(chosen["scaling"]), []
    names = ("l1", "ridge", "must_link_weight", "coupling")
    asked = ModelWeights(*(float(chosen[name]) for name in names))
    weights = ModelWeights(*(float(kept.paper_weights[name]) for name in names))
    choice = Choice(
        chosen["scaling"], asked.ridge, asked.must_link_weight, tuple(chosen["readers"]), chosen["n_neighbors"]
    )
    cross: Any = StoredProducts(kept.products, kept.squared_norm, kept.present)
    grams = PatternGrams(landmarks, scaler.sizes, landmark_gram(landmarks))
    return Prepared(
        params,
        given,
        plan,
        choice,
        Representation(scaler, landmarks, grams, cross),
        PaperWeights(weights, kept.nonzeros, asked, False),
        kept.rng,
        None if kept.codes is None or kept.sums is None else (kept.codes, Reduction(*kept.sums)),
        None if kept.members is None or kept.considered is None else GraphMembers(kept.members, kept.considered),
    )
