"""Logistic regressions, on whatever rows hold; one on products with the landmarks is folded into a single product."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from ..core.arrays import ClassIds, Matrix, Weights, is_sparse
from .base import Space

if TYPE_CHECKING:
    from .graph import GraphSpace

_MAX_ITER = 200
_MAX_ROTATED = 3000  # rows; the squares of 2,600 rows of text took a sixth of the time that the rows took
_SLIGHT = 1e-6  # part of the squares that is added to them: rows may be there twice
_GRAM_COLUMNS = 4096  # of dense rows multiplied at a time: no copy of all of them in double precision


@dataclass(frozen=True)
class LinearReader:
    """Multinomial logistic regression."""

    coefficients: Matrix
    intercept: Matrix
    classes: ClassIds
    n_classes: int
    converged: bool = True
    reads: Space = "features"
    temperature: float = 1.0

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return the logits; classes that were not seen get the lowest of the row."""
        with np.errstate(invalid="ignore"):  # NaN and infinity are reported by those who meet them
            logits = np.asarray(rows @ self.coefficients.T) + self.intercept
        if len(self.classes) == self.n_classes:
            return logits
        result = np.repeat(logits.min(axis=1, keepdims=True) - 1.0, self.n_classes, axis=1)
        result[:, self.classes] = logits
        return result


@dataclass(frozen=True)
class FoldedReader:
    """A logistic regression on the coordinates of rows in the span of the landmarks, as one product with rows of E."""

    space: GraphSpace  # of as many columns as there are classes
    intercept: Matrix
    strength: float  # C of the regression
    temperature: float = 1.0
    reads: ClassVar[Space] = "products"

    def scores(self, rows: Matrix, n_threads: int = 1) -> Matrix:
        """Return the logits of rows of E."""
        result: Matrix = self.space.coordinates(rows) + self.intercept
        return result


def fit_linear(
    features: Any,
    classes: ClassIds,
    n_classes: int,
    strength: float,
    weights: Weights = None,
    *,
    reads: Space = "features",
    tol: float = 1e-3,
    max_iter: int = _MAX_ITER,
) -> LinearReader:
    """Fit a logistic regression; `strength` is scikit-learn's C, `tol` and `max_iter` those of its solver.

    Rows that nobody scaled may be thousands long: no penalty would hold their coefficients, and the solver would stop
    anywhere. They are made as long as rows of standardised features would be.
    """
    from sklearn.linear_model import LogisticRegression

    length, rotation = np.sqrt(_mean_square(features)), None
    if length > 1.0:
        features = features / features.dtype.type(length)
    if features.shape[0] < min(features.shape[1], _MAX_ROTATED):
        features, rotation = _rotate(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # few labels of many classes are meant
        model = LogisticRegression(C=strength, max_iter=max_iter, tol=tol)
        model.fit(features, classes, sample_weight=weights)
    coefficients, intercept = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn gives one logit for two classes
        coefficients = np.vstack([-coefficients / 2, coefficients / 2])
        intercept = np.concatenate([-intercept / 2, intercept / 2])
    if rotation is not None:
        coefficients = rotation(coefficients)
    if length > 1.0:
        coefficients = coefficients / length
    converged = bool(np.max(model.n_iter_) < max_iter)
    return LinearReader(coefficients, intercept, model.classes_.astype(np.intp), n_classes, converged, reads)


def _mean_square(features: Any) -> float:
    """Return the mean square of the numbers of some rows."""
    values = features.data if is_sparse(features) else features.ravel()
    return float(np.einsum("i,i->", values, values, dtype=np.float64)) / max(int(np.prod(features.shape)), 1)


def _rotate(features: Any) -> tuple[Matrix, Callable[[Matrix], Matrix]]:
    """Return rows of n features in place of n rows of many, and what turns coefficients back.

    The penalty of a logistic regression does not see rotations, so its solution lies in the span of the rows: with
    X Xᵀ = L Lᵀ, it can be found on the rows of L, and L⁻¹ X turns its coefficients back.
    """
    gram = _gram(features)
    gram[np.diag_indices_from(gram)] += _SLIGHT * max(float(np.trace(gram)) / len(gram), 1e-300)
    lower = linalg.cholesky(gram, lower=True, overwrite_a=True)

    def turn_back(coefficients: Matrix) -> Matrix:
        weights = linalg.solve_triangular(lower, coefficients.T, lower=True, trans="T").T.astype(features.dtype)
        return np.asarray(weights @ features)

    return lower.astype(features.dtype), turn_back


def _gram(features: Any) -> Matrix:
    """Return X Xᵀ in double precision, whose rounding is far below `_SLIGHT`.

    That of single precision is above it from some hundred rows on that are nearly the same: the matrix would have
    negative eigenvalues.
    """
    if is_sparse(features):
        wide = features.astype(np.float64)
        return np.asarray((wide @ wide.T).toarray())
    result = np.zeros((len(features), len(features)))
    for start in range(0, features.shape[1], _GRAM_COLUMNS):
        part = features[:, start : start + _GRAM_COLUMNS].astype(np.float64)
        result += part @ part.T
    return result
