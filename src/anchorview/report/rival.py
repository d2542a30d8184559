"""What plain logistic regression makes of the same hidden labels: the least that a fit has to beat.

It gets the features side by side, each view scaled as is usual for its kind, and the labels that are not hidden. Its
strength is the best of a few on the very labels it is scored on, so that nobody could choose a better one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import AnyMatrix, ClassIds, Mask, Matrix, is_sparse
from ..data.labels import split_labels
from ..data.views import Views
from ..engine.blocks import one_blas_thread
from ..label_loop.judging import LabelLoop

_STRENGTHS = (1.0, 30.0, 1000.0)
_FOLDS = 3  # as the estimators hide labels
_MOST_LABELS = 1500  # beyond which it would take more than some seconds
_MOST_WORK = 60_000_000  # labels × dimensions × classes: some seconds
_MOST_ITERATIONS = 100


@dataclass(frozen=True)
class Comparison:
    """Accuracy on the same hidden labels; `rival` is None where it was not measured, and `note` says why."""

    own: float
    rival: float | None
    n_judged: int
    note: str = ""
    n_only_own: int = 0  # labels that the fit found, and logistic regression did not
    n_only_rival: int = 0  # and the other way round

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than chance: the sign test, at one in twenty."""
        apart = abs(self.n_only_own - self.n_only_rival)
        return bool(apart > 1.96 * (self.n_only_own + self.n_only_rival) ** 0.5)


@one_blas_thread()  # the problems are small: more threads would mostly wait for each other
def compare_with_logistic(model: LabelLoop, X: Any, given: ClassIds) -> Comparison | None:
    """Return how a fit and plain logistic regression do on the labels that were hidden in turn.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    X : Views
        The rows of the fit; None is returned for anything else.
    given : ndarray of int of shape (n_rows,)
        The labels that were given, -1 where there was none.
    """
    held_out = model.held_out_
    if held_out is None or not len(held_out) or not isinstance(X, Views) or len(X) != len(given):
        return None
    own = float(np.average(held_out.right, weights=held_out.weights))
    rows = np.union1d(np.flatnonzero(given >= 0), held_out.rows)
    if len(rows) > _MOST_LABELS:
        return Comparison(own, None, len(held_out), f"there are more than {_MOST_LABELS:,} labels")
    class_ids = given[rows].copy()
    judged = np.searchsorted(rows, held_out.rows)
    class_ids[judged] = held_out.class_ids  # `relabel` may have changed some
    features = _rotate(side_by_side(X[rows]))
    if features.size * len(np.unique(class_ids)) > _MOST_WORK:
        return Comparison(own, None, len(held_out), "there are too many labels and features for a quick comparison")
    found = [_found(features, class_ids, strength)[judged] for strength in _STRENGTHS]
    scores = [float(np.average(one, weights=held_out.weights)) for one in found]
    right, best = held_out.right, found[int(np.argmax(scores))]
    n_only = int((right & ~best).sum()), int((best & ~right).sum())
    return Comparison(own, max(scores), len(held_out), "", *n_only)


def _found(features: Matrix, class_ids: ClassIds, strength: float) -> Mask:
    """Return which labels are found by a model of the other folds."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    guessed = np.full(len(class_ids), -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # few labels of many classes are meant
        for hidden in split_labels(class_ids, _FOLDS, np.random.RandomState(0)):
            shown = np.setdiff1d(np.arange(len(class_ids)), hidden)
            if len(np.unique(class_ids[shown])) < 2:
                guessed[hidden] = class_ids[shown[0]]
                continue
            rival = LogisticRegression(C=strength, max_iter=_MOST_ITERATIONS).fit(features[shown], class_ids[shown])
            guessed[hidden] = rival.predict(features[hidden])
    right: Mask = guessed == class_ids
    return right


def side_by_side(views: Views) -> AnyMatrix:
    """Return all features as one matrix, each view of the same size: counts as tf-idf, numbers standardised."""
    parts: list[AnyMatrix] = []
    for number, array in enumerate(views.in_memory().arrays):
        present = np.ones(len(views), dtype=bool) if views.present is None else views.present[:, number]
        parts.append(_scale_sparse(array) if is_sparse(array) else _scale_dense(np.asarray(array), present))
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.hstack(parts)
    return sparse.csr_array(sparse.hstack([sparse.csr_array(part) for part in parts], format="csr"))


def _scale_sparse(array: AnyMatrix) -> AnyMatrix:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    rows = sparse.csr_array(array, dtype=np.float64)
    if rows.nnz and rows.data.min() < 0:
        return normalize(rows)
    return TfidfTransformer(sublinear_tf=bool(rows.nnz == 0 or rows.data.min() >= 1)).fit_transform(rows)


def _scale_dense(array: Matrix, present: Mask) -> Matrix:
    values = np.nan_to_num(np.asarray(array, dtype=np.float64))
    if not present.any():
        return np.zeros_like(values)
    centre, spread = values[present].mean(axis=0), values[present].std(axis=0)
    scaled: Matrix = (values - centre) / np.where(spread > 0, spread, 1) / np.sqrt(max(values.shape[1], 1))
    scaled[~present] = 0
    return scaled


def _rotate(rows: AnyMatrix) -> Matrix:
    """Return rows of the same products in no more dimensions than there are rows: the same fits, much faster."""
    if rows.shape[1] <= rows.shape[0]:
        return np.asarray(rows.todense() if is_sparse(rows) else rows)
    products = rows @ rows.T
    values, vectors = np.linalg.eigh(np.asarray(products.todense() if is_sparse(products) else products))
    kept = values > 1e-10 * max(float(values[-1]), 1e-300)
    rotated: Matrix = vectors[:, kept] * np.sqrt(values[kept])
    return rotated
