"""Rows that belong to nothing: unlike all others (`unlikeness`), each in its own way.

Classes without a label hang together, and walks find them; rows that are scattered do not. Labelled rows show how
unlike others rows of known classes are. Where more rows without a label are so unlike than of the labelled ones,
scattered rows are about, and the ratio of both shares tells how likely a row is one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Matrix

_TAIL = 0.2  # of labelled rows, whose distances tell how quickly the others become fewer
_FEWEST = 20  # labelled rows that show it
_CHANCE = 2.0  # times as many rows as expected: no more than this is chance, or classes that vary more than others
_MOST = 1e4


@dataclass(frozen=True, eq=False)
class ScatteredRows:
    """What tells scattered rows.

    Attributes
    ----------
    unlikeness : ndarray
        Of rows without a label, ascending.
    odds : ndarray
        That such a row is scattered and not of a known class, ascending too.
    """

    unlikeness: Matrix
    odds: Matrix

    def evidence(self, unlikeness: Matrix | None) -> Matrix | float:
        """Return the odds of rows; 0 if scattered rows cannot be told."""
        if unlikeness is None or not len(self.odds):
            return 0.0
        result: Matrix = np.interp(unlikeness, self.unlikeness, self.odds)
        return result


NONE_SCATTERED = ScatteredRows(np.empty(0), np.empty(0))


def fit_scattered(known: Matrix, others: Matrix) -> ScatteredRows:
    """Learn how many more rows are unlike all others than of known classes.

    Parameters
    ----------
    known : ndarray of shape (n_labelled,)
        Unlikeness of labelled rows that were not chosen by the model: suggested ones lie in the middle of others.
    others : ndarray of shape (n_others,)
        Unlikeness of rows without a label.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known, others = rng.normal(1, 0.1, 200), rng.normal(1, 0.1, 1000)
    >>> float(fit_scattered(known, others).odds.max())
    0.0
    >>> others[:50] = rng.normal(2, 0.1, 50)
    >>> bool(fit_scattered(known, others).evidence(np.array([2.0]))[0] > 100)
    True
    """
    known = np.sort(known)
    if len(known) < _FEWEST or not len(others):
        return NONE_SCATTERED
    values = np.sort(others)
    share = (1 + len(values) - np.searchsorted(values, values, side="left")) / (1 + len(values))
    times = np.minimum(share / _expected_shares(values, known), _MOST)
    return ScatteredRows(values, np.maximum.accumulate(np.maximum(times - _CHANCE, 0.0)))


def _expected_shares(values: Matrix, known: Matrix) -> Matrix:
    """Return the share of known rows, ascending, at least as large as each value; beyond most it falls exponentially.

    As slowly as it may by chance: the mean excess of so few rows is one standard error larger.
    """
    start = float(np.quantile(known, 1 - _TAIL))
    excess = known[known > start] - start
    counted = (1 + len(known) - np.searchsorted(known, values, side="left")) / (1 + len(known))
    if not len(excess):
        return counted
    scale = float(excess.mean()) * (1 + 1 / np.sqrt(len(excess)))
    return np.where(values > start, np.maximum(_TAIL * np.exp(-(values - start) / scale), 1e-12), counted)
