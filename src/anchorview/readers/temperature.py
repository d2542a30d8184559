"""How sure a softmax may be: one temperature, chosen on rows of known classes, with a prior that keeps it sensible.

The temperature is the one at which the log loss of the rows plus what the prior adds is least. The priors differ in
what few rows must not prove: that no row is ever wrong (`Mistakes`, `AnyClass`), or that probabilities which are
averages already need much correction (`NearOne`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from ..core.arrays import LEAST_SHARE, ClassIds, Matrix, Weights

_STEP = 4  # between temperatures that are tried first; with 8 the lesser of two minima was taken one time in twenty
_USUAL = 0.15  # usual temperature of held-out rows of ten classes, in units of the spread of their scores
_LOGIT = 1.0  # of the confidence at which that is right: with one label per class three rows in four are, at best
LEAST = 1e-3  # a probability below counts as this: one sure mistake is not worth hundreds of rows


class Prior(Protocol):
    """What is believed of the temperature before rows are seen, and where it is looked for."""

    def choose(self, scores: Matrix, class_ids: ClassIds) -> float:
        """Return the temperature, for scores of a spread that tells classes apart."""
        ...


def choose_temperature(scores: Matrix, class_ids: ClassIds, prior: Prior) -> float:
    """Return the temperature at which the softmax of the scores has the least log loss, as the prior sees it.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Logits of rows, at temperature 1.
    class_ids : ndarray of shape (n_rows,)
        Their classes.
    prior : Prior
        See above.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> T = choose_temperature(scores, np.zeros(4, dtype=int), Mistakes())  # 3 of 4 right, 3 of 4.5 with the doubt
    >>> float(round(softmax(scores / T, axis=1)[0, 0], 2))
    0.67
    >>> choose_temperature(np.log(np.full((200, 2), [0.6, 0.4])), np.zeros(200, dtype=int), NearOne()) < 0.5
    True
    """
    gap = spread(scores)
    if not np.isfinite(gap) or gap < 1e-30:  # nothing tells the classes apart, and dividing by less could overflow
        return 1.0
    return prior.choose(scores, class_ids)


def spread(scores: Matrix, weights: Weights = None) -> float:
    """Return how far apart the likeliest and the unlikeliest class of a row are, usually."""
    return _median(scores.max(axis=1) - scores.min(axis=1), weights)


def usual_temperature(scores: Matrix) -> float:
    """Return the temperature to take where no label can be held out: the usual one, in units of the spread of scores.

    Of rows as near to their class, by that spread, a softmax over many classes is less sure than one over few. So that
    the number of classes makes no difference, (gap / T) − log(n_classes − 1) is kept, as it is for ten classes.

    Examples
    --------
    >>> [round(usual_temperature(np.eye(2, n_classes)), 2) for n_classes in (2, 10, 100)]
    [0.48, 0.15, 0.09]
    """
    n_others = max(scores.shape[1] - 1, 1)
    return _USUAL * spread(scores) * (_LOGIT + log(9)) / (_LOGIT + log(n_others))


def _median(values: Matrix, weights: Weights) -> float:
    """Return the median, of values that are there as often as their weights say."""
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weights[order])
    half = 0.5 * reached[-1]
    first, last = (min(int(np.searchsorted(reached, half, side)), len(values) - 1) for side in ("left", "right"))
    return float(0.5 * (values[first] + values[last]))


def log_loss(probabilities: Matrix, class_ids: ClassIds) -> Matrix:
    """Return the bounded log loss of each row."""
    own = probabilities[np.arange(len(class_ids)), class_ids]
    result: Matrix = -np.log(np.maximum(own, LEAST))
    return result


def mean_of(values: npt.NDArray[Any], weights: Weights) -> float:
    """Return the mean of a value per row, of rows that are there as often as their weights say."""
    return float(np.mean(values) if weights is None else np.average(values, weights=weights))


@dataclass(frozen=True)
class Mistakes:
    """As if `rows` rows more had been judged, and their second-best class were the right one."""

    rows: float = 0.5  # without any, the temperature of faultless rows would be zero

    def choose(self, scores: Matrix, class_ids: ClassIds) -> float:
        """Minimise over all temperatures; the loss is convex in 1/T, so with a single minimum."""
        logits = np.asarray(scores, dtype=np.float64)
        gap = spread(logits)
        each, second = np.arange(len(logits)), np.argsort(logits, axis=1)[:, -2]

        def loss(log_temperature: float) -> float:
            scaled = logits / (gap * np.exp(log_temperature))
            scaled -= scaled.max(axis=1, keepdims=True)
            log_likelihood = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
            return -float(log_likelihood[each, class_ids].sum() + self.rows * log_likelihood[each, second].mean())

        best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(10.0)), method="bounded", options={"xatol": 0.01})
        return gap * float(np.exp(best.x))


@dataclass(frozen=True)
class AnyClass:
    """As if one of n + 2 rows had any class: a few rows that are all right do not prove that none is ever wrong."""

    weights: Weights = None  # how often each row is there

    def choose(self, scores: Matrix, class_ids: ClassIds) -> float:
        """Take the best of some temperatures around the spread of the scores."""
        any_class = 1 / ((len(class_ids) if self.weights is None else float(self.weights.sum())) + 2)

        each = np.arange(len(class_ids))

        def loss(temperature: float) -> float:
            losses = -np.log(np.maximum(softmax(scores / temperature, axis=1), LEAST))
            mixed = (1 - any_class) * losses[each, class_ids] + any_class * losses.mean(axis=1)
            return float(np.average(mixed, weights=self.weights))

        return _best_of(spread(scores, self.weights) * np.logspace(-2.5, 1, 57), loss)


@dataclass(frozen=True)
class NearOne:
    """An average of probabilities needs little correction: (log T)² costs as much as the loss of `rows` rows."""

    rows: float = 10.0
    weights: Weights = None  # how often each row is there

    def choose(self, scores: Matrix, class_ids: ClassIds) -> float:
        """Take the best of some temperatures around one."""

        def loss(temperature: float) -> float:
            probabilities = softmax(scores / temperature, axis=1)
            losses = log_loss(probabilities, class_ids)
            total = losses.sum() if self.weights is None else losses @ self.weights
            return float(total + self.rows * np.log(temperature) ** 2)

        return _best_of(np.geomspace(0.3, 3.0, 81), loss)


def _best_of(temperatures: Matrix, loss: Callable[[float], float]) -> float:
    """Return the best of ascending temperatures: every fourth is tried, then those beside the best, ever closer.

    The loss is smooth in T. Of rows that are all right it may have a second minimum at low temperatures, far away.
    """
    losses = {place: loss(temperatures[place]) for place in range(0, len(temperatures), _STEP)}
    step = _STEP
    while step > 1:
        step //= 2
        best = min(losses, key=lambda place: losses[place])
        for place in (best - step, best + step):
            if 0 <= place < len(temperatures) and place not in losses:
                losses[place] = loss(temperatures[place])
    return float(temperatures[min(losses, key=lambda place: losses[place])])


def average_temperature(held_out: Matrix, class_ids: ClassIds, weights: Weights = None) -> float:
    """Return the temperature that suits averaged probabilities of hidden labels, near 1."""
    return choose_temperature(np.log(np.maximum(held_out, LEAST_SHARE)), class_ids, NearOne(weights=weights))
