"""Rows one can rely on: those above a confidence at which an audit shows that enough of them are right.

The confidence alone promises too much, so audited labels test the promise. Sets of rows, each all rows above some
confidence, are tested one after the other, in an order that does not depend on which labels turned out right, until
one fails (fixed-sequence testing): each test may then use the whole risk. A test is the one-sided bound of Clopper and
Pearson: 95 % right at a confidence of 95 % takes 59 labels without a mistake, 93 with one, 124 with two.

The first set is the one that is likeliest to pass by the confidences themselves; the next ones are larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, binom

from ..core.arrays import Mask, Matrix, Rows

_N_SETS = 40  # between no rows and all of them


@dataclass(frozen=True, eq=False)
class TrustedRows:
    """Rows whose labels hold a promise of accuracy, and what that rests on.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the rows, ascending; none if too few labels were audited, or too many of them were wrong.
    accuracy, confidence : float
        At least this share of the rows is right, at this level of confidence.
    threshold : float
        They are the rows with at least this probability; infinite if there are none.
    bound : float
        Lower bound of their accuracy.
    n_audited, n_wrong : int
        Audited labels among these rows (if there are none: among those of the first set that was tested), and how
        many of them were wrong.
    n_more : int
        How many more labels of the audit would do if all of them were right; 0 if there are rows.
    """

    rows: Rows
    accuracy: float
    confidence: float
    threshold: float
    bound: float
    n_audited: int
    n_wrong: int
    n_more: int

    def __len__(self) -> int:
        return len(self.rows)

    def describe(self) -> str:
        """Return a sentence for people."""
        promise = (
            f"at least {100 * self.accuracy:g} % of the labels are right, with {100 * self.confidence:g} % confidence"
        )
        evidence = f"{self.n_audited} audited labels, {self.n_wrong} of them wrong"
        if len(self.rows):
            return f"In {len(self.rows)} rows {promise} ({evidence})."
        return f"There is no set of rows yet in which {promise} ({evidence}). Audit about {self.n_more} more rows."


def labels_for_bound(accuracy: float, confidence: float, n_wrong: int = 0) -> int:
    """Return how many labels, so many of them wrong, show an accuracy at a level of confidence.

    Examples
    --------
    >>> [labels_for_bound(0.95, 0.95, n_wrong) for n_wrong in range(3)]
    [59, 93, 124]
    >>> labels_for_bound(0.9, 0.95), labels_for_bound(0.99, 0.95)
    (29, 299)
    """
    low, high = n_wrong, 2 * n_wrong + 1
    while lower_bound(high - n_wrong, high, confidence) < accuracy:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lower_bound(middle - n_wrong, middle, confidence) >= accuracy else (middle, high)
    return high


def lower_bound(n_right: int, n: int, confidence: float) -> float:
    """Return the one-sided lower bound of a share of which a sample is given (Clopper and Pearson).

    Examples
    --------
    >>> round(lower_bound(59, 59, 0.95), 4)
    0.9505
    """
    return float(beta.ppf(1 - confidence, n_right, n - n_right + 1)) if n_right > 0 else 0.0


def find_trusted(
    sureness: Matrix,
    candidates: Mask,
    audited: Matrix,
    correct: Mask,
    accuracy: float = 0.95,
    confidence: float = 0.95,
) -> TrustedRows:
    """Return the largest set of rows above a threshold of which an audit shows the accuracy.

    Parameters
    ----------
    sureness : ndarray of shape (n_rows,)
        Probability of each row's label (`confidence_`).
    candidates : ndarray of bool of shape (n_rows,)
        Rows to choose from: those without a label.
    audited : ndarray of shape (n_audited,)
        The same probability of audited rows, by models that did not see their labels. These rows must be a random
        sample, and all of it: those that were skipped too, with `correct` False.
    correct : ndarray of bool of shape (n_audited,)
        Whether the label found by these models is right.
    accuracy, confidence : float
        At least this share must be right, at this level of confidence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sure = rng.uniform(0.5, 1, size=1000)
    >>> drawn = rng.uniform(0.5, 1, size=200)
    >>> found = find_trusted(sure, np.full(1000, True), drawn, rng.random(200) < drawn, accuracy=0.8)
    >>> 200 < len(found.rows) < 900, found.bound >= 0.8
    (True, True)
    >>> few = find_trusted(sure, np.full(1000, True), drawn[:20], np.full(20, True))
    >>> len(few.rows), few.n_more
    (0, 39)
    """
    for name, value in (("accuracy", accuracy), ("confidence", confidence)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < 1:
            raise ValueError(f"{name} must be a number between 0 and 1, such as 0.95; got {value!r}.")
    accuracy, confidence = float(accuracy), float(confidence)
    nobody = np.empty(0, dtype=np.intp)
    fewest = labels_for_bound(accuracy, confidence)
    if len(audited) < fewest or not candidates.any():
        wrong = int(np.count_nonzero(~correct))
        more = max(labels_for_bound(accuracy, confidence, wrong) - len(audited), 0)
        return TrustedRows(nobody, accuracy, confidence, np.inf, 0.0, len(audited), wrong, more)
    thresholds = _in_order(sureness[candidates], audited, accuracy, confidence)
    best: TrustedRows | None = None
    for threshold in thresholds:
        inside = audited >= threshold
        n, wrong = int(inside.sum()), int((inside & ~correct).sum())
        bound = lower_bound(n - wrong, n, confidence)
        if bound < accuracy:
            more = labels_for_bound(accuracy, confidence, wrong) - n
            failed = TrustedRows(nobody, accuracy, confidence, np.inf, bound, n, wrong, more)
            return best or failed
        rows = np.flatnonzero(candidates & (sureness >= threshold))
        best = TrustedRows(rows, accuracy, confidence, float(threshold), bound, n, wrong, 0)
    assert best is not None
    return best


def _in_order(sureness: Matrix, audited: Matrix, accuracy: float, confidence: float) -> Matrix:
    """Return the thresholds to try, descending: it matters that they are chosen without a look at what is right."""
    fewest = labels_for_bound(accuracy, confidence)
    shares = np.arange(1, _N_SETS + 1) / _N_SETS
    thresholds = np.unique(np.quantile(sureness, 1 - shares))[::-1]
    thresholds[-1] = min(float(thresholds[-1]), float(audited.min()))  # all rows: all of the audit
    counts = np.array([(audited >= threshold).sum() for threshold in thresholds])
    thresholds, counts = thresholds[counts >= fewest], counts[counts >= fewest]
    chances = []
    for threshold, count in zip(thresholds, counts, strict=True):
        allowed = _mistakes_allowed(int(count), accuracy, confidence)
        mistakes = float(np.mean(1 - audited[audited >= threshold]))
        chances.append(binom.cdf(allowed, count, min(max(mistakes, 1e-6), 1.0)))
    result: Matrix = thresholds[int(np.argmax(chances)) :]
    return result


def _mistakes_allowed(n: int, accuracy: float, confidence: float) -> int:
    """Return how many of so many labels may be wrong; at least none may."""
    allowed = 0
    while allowed < n and lower_bound(n - allowed - 1, n, confidence) >= accuracy:
        allowed += 1
    return allowed
