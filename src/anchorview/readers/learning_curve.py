"""How many more labels it takes to reach an accuracy: the error falls as a power of the number of labels.

Accuracies of models that saw some share of the labels are fitted by error = a · n^−b, each weighing as its rows say. An
accuracy is what hidden labels show, and by how much the model is surer of rows without a label than of these: that
takes out chance, and is right on average even if all confidence is too high. How accurate the present model is, is
known in another way as well: by an audit, or by its confidence. Both have a say in the height of the curve. Farther
than three times the labels there are, the curve says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Matrix, Rows
from ..core.checks import check_number

_FARTHEST = 3.0  # times the labels there are
_DRAWS = 400
_STEEPEST = 1.0  # the error of no usual method falls faster than 1 / n
# Before a look at the labels: doubling them takes the error down by a fifth or so, seldom by none or by two fifths.
_USUAL_POWER, _POWER_SPREAD = 0.3, 0.15
_SHARES, _ROUNDS = (0.35, 0.5, 0.7, 0.9), 3  # of labels that models see, and how often they are drawn
_FEWEST_SEEN = 2


@dataclass(frozen=True)
class LabelsNeeded:
    """How many more labels an accuracy needs; None where this cannot be estimated."""

    target: float
    more: int | None
    low: int | None
    high: int | None

    def describe(self) -> str:
        """Return a sentence for people."""
        goal = f"{100 * self.target:g} % accuracy"
        if self.more is None:
            return f"The number of labels for {goal} cannot be estimated: it is more than three times the present one."
        if self.more == 0:
            return f"The present labels should be enough for {goal}."
        high = "an unknown number" if self.high is None else str(self.high)
        return f"About {self.more} more labels should be enough for {goal} (between {self.low} and {high})."


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Error = exp(offset) · n^−power, with draws of both that show how uncertain they are."""

    n_labels: int
    offset: float
    power: float
    draws: Matrix  # of offset and power

    def accuracy(self, n: float) -> float:
        """Return the accuracy expected with so many labels."""
        return float(1 - min(np.exp(self.offset) * n**-self.power, 1.0))

    def labels_needed(self, target: float, level: float = 0.9) -> LabelsNeeded:
        """Return how many more labels the target takes, with an interval; "cannot tell" far beyond the labels."""
        check_number("target", target, 0, strict=True)
        if target >= 1:
            raise ValueError(f"target must be an accuracy below 1, such as 0.95; got {target!r}.")
        ends = np.quantile([self._total(target, *draw) for draw in self.draws], [(1 - level) / 2, (1 + level) / 2])
        more, low, high = (self._more(total) for total in (self._total(target, self.offset, self.power), *ends))
        return LabelsNeeded(float(target), more, None if more is None else low, None if more is None else high)

    def _total(self, target: float, offset: float, power: float) -> float:
        """Return the number of labels at which the curve reaches the target; at most a number beyond its reach."""
        beyond = 2 * _FARTHEST * self.n_labels
        if power <= 1e-3:
            return 0.0 if np.exp(offset) <= 1 - target else beyond
        return float(np.exp(min((offset - np.log(1 - target)) / power, np.log(beyond))))

    def _more(self, total: float) -> int | None:
        return None if total > _FARTHEST * self.n_labels else max(int(np.ceil(total)) - self.n_labels, 0)


def fit_learning_curve(
    n_seen: Matrix, accuracy: Matrix, n_judged: Matrix, n_labels: int, now: float | None = None
) -> LearningCurve:
    """Fit the curve to accuracies of models that saw different numbers of labels.

    Parameters
    ----------
    n_seen : ndarray of shape (n_models,)
        Labels that each model saw, two different numbers at least.
    accuracy : ndarray of shape (n_models,)
        Its accuracy on labels that were hidden from it.
    n_judged : ndarray of shape (n_models,)
        How many these were.
    n_labels : int
        Labels there are.
    now : float, optional
        Accuracy of the model that saw all of them, as it is stated; it counts as much as the others together.

    Examples
    --------
    >>> seen = np.array([40.0, 80.0, 160.0])
    >>> curve = fit_learning_curve(seen, 1 - 2 * seen**-0.5, np.full(3, 40_000.0), 200)
    >>> round(curve.accuracy(400), 2), curve.labels_needed(0.9).more, curve.labels_needed(0.99).more
    (0.9, 202, None)
    >>> fit_learning_curve(seen, 1 - 2 * seen**-0.5, np.full(3, 40_000.0), 200, now=0.98).labels_needed(0.9).more
    0
    """
    n_seen, accuracy, n_judged = (np.asarray(part, dtype=np.float64) for part in (n_seen, accuracy, n_judged))
    if len(np.unique(n_seen)) < 2:
        raise ValueError("A learning curve takes accuracies with two different numbers of labels at least.")
    rng = np.random.RandomState(0)
    offset, power = _fit(n_seen, accuracy, n_judged, n_labels, now)
    expected = np.clip(1 - np.exp(offset) * n_seen**-power, 0.0, 1.0)
    draws = []
    for _ in range(_DRAWS):
        drawn = rng.binomial(n_judged.astype(int), expected) / n_judged
        drawn_now = None if now is None else rng.binomial(n_labels, now) / n_labels
        draws.append(_fit(n_seen, drawn, n_judged, n_labels, drawn_now))
    return LearningCurve(n_labels, offset, power, np.array(draws))


def _fit(
    n_seen: Matrix, accuracy: Matrix, n_judged: Matrix, n_labels: int, now: float | None = None
) -> tuple[float, float]:
    """Return offset and power.

    The power by weighted least squares of log error on log n; half a mistake is added, so that none has a logarithm
    too. With few mistakes that is much, so the offset is the one at which all models together make as many mistakes as
    they did.
    """
    error = ((1 - accuracy) * n_judged + 0.5) / (n_judged + 1)
    weights = n_judged * error / np.maximum(1 - error, 1e-3)  # inverse variance of the logarithm
    x, y = np.log(n_seen), np.log(error)
    middle_x, middle_y = np.average(x, weights=weights), np.average(y, weights=weights)
    expected = 1 / _POWER_SPREAD**2
    slope = np.sum(weights * (x - middle_x) * (y - middle_y)) - _USUAL_POWER * expected
    slope /= np.sum(weights * (x - middle_x) ** 2) + expected
    power = float(np.clip(-slope, 0.0, _STEEPEST))
    mistakes, expected_mistakes = float(n_judged @ (1 - accuracy)), float(n_judged @ n_seen**-power)
    if now is not None:
        mistakes += float(n_judged.sum()) * (1 - now)
        expected_mistakes += float(n_judged.sum()) * n_labels**-power
    return float(np.log(max(mistakes, 0.5) / expected_mistakes)), power


def draw_shares(rows: Rows, class_ids: ClassIds, random_state: int = 0) -> list[Rows]:
    """Return sets of labelled rows to hide, each random, so that models see different shares of the labels.

    Sets that would leave labels of a single class are left out.

    Examples
    --------
    >>> [len(hidden) for hidden in draw_shares(np.arange(100), np.arange(100) % 2)][:4]
    [65, 50, 30, 10]
    """
    rng = np.random.RandomState(random_state)
    drawn = []
    for _ in range(_ROUNDS):
        order = rng.permutation(len(rows))
        for share in _SHARES:
            n_seen = round(share * len(rows))
            seen, hidden = order[:n_seen], order[n_seen:]
            if len(hidden) and len(np.unique(class_ids[seen])) >= _FEWEST_SEEN:
                drawn.append(np.sort(rows[hidden]))
    return drawn
