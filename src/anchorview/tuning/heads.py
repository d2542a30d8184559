"""Classifiers at the end of the pipeline: each turns rows of features into one score per class (larger is likelier)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from ..core.arrays import ClassIds, Matrix, Weights, is_sparse, unit_rows
from ..features.neighbours import nearest_points
from ..readers.nearest import NO_VOTE, SAME, keep_labelled
from .sampling import some_of_each

_MAX_ITER = 200
_MAX_NEIGHBOURS = 2000  # labelled rows that others are compared with: in few dimensions more are hardly nearer
_MAX_ROTATED = 3000  # rows; the squares of 2,600 rows of text took a sixth of the time that the rows took
_SLIGHT = 1e-6  # part of the squares that is added to them: rows may be there twice
_GRAM_COLUMNS = 4096  # of dense rows multiplied at a time: no copy of all of them in double precision


class Head(Protocol):
    """A fitted classifier."""

    def scores(self, features: Any) -> Matrix:
        """Return one number per row and class."""
        ...


@dataclass(frozen=True)
class NeighbourHead:
    """Nearest labelled row, or a vote of several."""

    rule: Any

    def scores(self, features: Any) -> Matrix:
        """Return the evidence of the labelled neighbours.

        That of the rule, but which rows vote is told by products in single precision: all rows of a fit are read by
        several such heads.
        """
        if self.rule.rule != "knn":
            result: Matrix = self.rule.evidence(np.asarray(features))
            return result
        rows, reference = unit_rows(np.asarray(features, dtype=np.float64)), self.rule.reference
        found, _ = nearest_points(reference.astype(np.float32), rows.astype(np.float32), self.rule.n_neighbors)
        distances = np.linalg.norm(rows[:, None] - reference[found], axis=2)
        return _count_votes(self.rule.class_ids[found], 1 / np.maximum(distances, SAME), self.rule.class_ids[-1] + 1)


def _count_votes(class_ids: ClassIds, counted: Matrix, n_classes: int) -> Matrix:
    """Return the logarithms of the votes of each row's neighbours."""
    votes = np.zeros((len(class_ids), n_classes))
    np.add.at(votes, (np.arange(len(votes))[:, None], class_ids), counted)
    result: Matrix = np.log(votes + NO_VOTE * votes.sum(axis=1, keepdims=True))
    return result


@dataclass(frozen=True)
class WeightedNeighbours:
    """A vote of the nearest labelled rows by angle, each there as often as its weight says.

    Of rows from the nearest on, those vote that make up a weight of `n_neighbors`, the last with what is left of it: as
    if a row of weight 2 were two rows.
    """

    reference: Matrix  # unit rows
    class_ids: ClassIds
    weights: Matrix
    n_neighbors: int

    def scores(self, features: Any) -> Matrix:
        """Return the logarithms of the votes, as the rule without weights does."""
        rows = unit_rows(np.asarray(features, dtype=np.float64))
        squared = np.maximum(2 - 2 * rows @ self.reference.T, 0.0)
        reached = np.cumsum(np.sort(self.weights))
        width = min(int(np.searchsorted(reached, self.n_neighbors)) + 1, len(self.weights))  # enough for any row
        nearest = np.argsort(squared, axis=1, kind="stable")[:, :width]
        weights = self.weights[nearest]
        counted = np.clip(self.n_neighbors - (np.cumsum(weights, axis=1) - weights), 0.0, weights)
        counted /= np.maximum(np.sqrt(np.take_along_axis(squared, nearest, axis=1)), SAME)
        return _count_votes(self.class_ids[nearest], counted, self.class_ids[-1] + 1)


@dataclass(frozen=True)
class LinearHead:
    """Multinomial logistic regression."""

    coefficients: Matrix
    intercept: Matrix
    classes: ClassIds
    n_classes: int
    converged: bool = True

    def scores(self, features: Any) -> Matrix:
        """Return the logits; classes that were not seen get the lowest of the row."""
        with np.errstate(invalid="ignore"):  # NaN and infinity are reported by those who meet them
            logits = np.asarray(features @ self.coefficients.T) + self.intercept
        if len(self.classes) == self.n_classes:
            return logits
        result = np.repeat(logits.min(axis=1, keepdims=True) - 1.0, self.n_classes, axis=1)
        result[:, self.classes] = logits
        return result


def fit_neighbour_head(
    features: Matrix, classes: ClassIds, rule: str, n_neighbors: int, weights: Weights = None
) -> NeighbourHead | WeightedNeighbours:
    """Keep the labelled rows, or some. The nearest is the nearest whatever its weight; in a vote weights count."""
    some = some_of_each(classes, _MAX_NEIGHBOURS)
    features, classes, weights = features[some], classes[some], None if weights is None else weights[some]
    kept = keep_labelled(features, classes, rule, n_neighbors)
    if weights is None or rule != "knn":
        return NeighbourHead(kept)
    return WeightedNeighbours(kept.reference, kept.class_ids, weights[np.argsort(classes, kind="stable")], n_neighbors)


def fit_linear_head(
    features: Any,
    classes: ClassIds,
    n_classes: int,
    strength: float,
    weights: Weights = None,
    *,
    tol: float = 1e-3,
    max_iter: int = _MAX_ITER,
) -> LinearHead:
    """Fit a logistic regression; `strength` is scikit-learn's C, `tol` and `max_iter` those of its solver."""
    from sklearn.linear_model import LogisticRegression

    rotation = None
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
    converged = bool(np.max(model.n_iter_) < max_iter)
    return LinearHead(coefficients, intercept, model.classes_.astype(np.intp), n_classes, converged)


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
