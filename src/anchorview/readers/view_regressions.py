"""Late fusion: a logistic regression on each view alone, and the mean of what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..core.arrays import ClassIds, Matrix, Weights, is_sparse
from .base import Space
from .linear import LinearReader, fit_linear

_LEAST = 1e-9  # probability whose logarithm is taken of none


@dataclass(frozen=True)
class ViewRegressions:
    """The mean of the probabilities that a regression on each view gives; views that a row lacks have no say.

    Parameters
    ----------
    views : tuple of LinearReader
        One for each view, in the order of the columns that they read.
    """

    views: tuple[LinearReader, ...]
    temperature: float = 1.0
    reads: ClassVar[Space] = "features"

    @cached_property
    def _weights(self) -> tuple[list[Matrix], Matrix]:
        """What the columns of each view are multiplied by, and what is added: computed once for many single rows."""
        weights = [np.ascontiguousarray(reader.coefficients.T) for reader in self.views]
        return weights, np.array([reader.intercept for reader in self.views])[:, None]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return the logarithms of the mean probabilities of scaled rows; a class that was not seen has the least."""
        (weights, intercepts), (first, *_) = self._weights, self.views
        sizes = [len(one) for one in weights]
        with np.errstate(invalid="ignore"):  # NaN and infinity are reported by those who meet them
            parts = zip(_split(rows, sizes), weights, strict=True)
            logits = np.array([part @ one for part, one in parts]) + intercepts
            shares = np.exp(logits - logits.max(axis=2, keepdims=True))
        has_view = _sum_columns(abs(rows), sizes) > 0  # scaled rows of a missing view are zero
        shares *= (has_view / np.maximum(has_view.sum(axis=0), 1) / shares.sum(axis=2))[:, :, None]
        found: Matrix = np.log(np.maximum(shares.sum(axis=0), _LEAST))
        if len(first.classes) == first.n_classes:
            return found
        result = np.full((len(found), first.n_classes), np.log(_LEAST), dtype=found.dtype)
        result[:, first.classes] = found
        return result


def fit_view_regressions(
    features: Any,
    sizes: Sequence[int],
    class_ids: ClassIds,
    n_classes: int,
    strength: float,
    weights: Weights = None,
    known: Mapping[int, LinearReader] | None = None,
) -> ViewRegressions:
    """Fit a regression on each view.

    Parameters
    ----------
    features : ndarray or sparse array of shape (n_rows, sum(sizes))
        Scaled rows, the columns of one view after the other.
    sizes : sequence of int
        Number of columns of each view.
    strength : float
        C of the regressions.
    known : mapping of int to LinearReader, optional
        Those of some views, by their numbers: they are not fitted again.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])  # the second view tells nothing
    >>> reader = fit_view_regressions(rows, [2, 1], np.array([0, 1, 0]), 2, 10.0)
    >>> reader.scores(rows).argmax(axis=1)
    array([0, 1, 0])
    """
    known = known or {}
    return ViewRegressions(
        tuple(
            known[number] if number in known else fit_linear(part, class_ids, n_classes, strength, weights)
            for number, part in enumerate(_split(features, sizes))
        )
    )


def _split(rows: Any, sizes: Sequence[int]) -> Iterator[Any]:
    """Return the columns of each view."""
    columns = rows.tocsc() if is_sparse(rows) else rows
    for stop, size in zip(np.cumsum(sizes), sizes, strict=True):
        part = columns[:, stop - size : stop]
        yield part.tocsr() if is_sparse(part) else part


def _sum_columns(rows: Any, sizes: Sequence[int]) -> Matrix:
    """Return the sums over the columns of each view, one row for each view."""
    starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
    if not is_sparse(rows):
        return np.add.reduceat(rows, starts, axis=1).T
    return np.array([np.asarray(part.sum(axis=1)).ravel() for part in _split(rows, sizes)])
