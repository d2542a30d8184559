"""Rows that belong to nothing: far from all others, and the model is in doubt of them.

Classes without a label hang together, and walks find them; rows that are scattered do not, and their neighbours are
rows of known classes. Labelled rows show how isolated rows of known classes are, and how much they are doubted, so the
share of them that is at least as odd is a p-value. How many rows are so isolated beyond those that chance puts there
tells whether scattered rows are about at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Mask, Matrix
from .label_walk import N_NEIGHBORS

_TAIL = 0.05  # of known rows, in which scattered ones are counted
_FEWEST = 20  # labelled rows that show a tail of one in twenty
_SAME = 1e-3  # at this distance a row has found itself


def isolation(far: Matrix) -> Matrix:
    """Return the mean distance of rows to their nearest others, by ascending distances to one more than these.

    Examples
    --------
    >>> isolation(np.array([[0.0, 1.0, 3.0], [2.0, 4.0, 9.0]])).tolist()
    [2.0, 3.0]
    """
    is_itself = far[:, 0] <= _SAME
    if far.shape[1] < 2:
        return np.zeros(len(far))
    nearest = np.where(is_itself[:, None], far[:, 1:], far[:, :-1])[:, :N_NEIGHBORS]
    result: Matrix = nearest.mean(axis=1, dtype=np.float64)
    return result


@dataclass(frozen=True, eq=False)
class ScatteredRows:
    """What tells scattered rows.

    Attributes
    ----------
    isolation, doubt : ndarray
        Of labelled rows, ascending.
    oddness : ndarray
        Both together (`_oddness`) of the same rows, ascending.
    odds : float
        Of a row in the tail to be scattered; 0 if there are no more rows there than chance puts there.
    """

    isolation: Matrix
    doubt: Matrix
    oddness: Matrix
    odds: float

    def evidence(self, isolation: Matrix, doubt: Matrix) -> Matrix:
        """Return how much likelier each row is to be scattered than to be of a known class, beyond the usual.

        A p-value is turned into evidence by (1/2) p^(−1/2), which is 1 on average over known rows; below that nothing
        speaks for a scattered row.
        """
        if self.odds <= 0:
            return np.zeros(len(isolation))
        share = p_values(self._oddness(isolation, doubt), self.oddness)
        result: Matrix = self.odds * np.maximum(0.5 / np.sqrt(share) - 1, 0.0)
        return result

    def _oddness(self, isolation: Matrix, doubt: Matrix) -> Matrix:
        result: Matrix = -np.log(p_values(isolation, self.isolation)) - np.log(p_values(doubt, self.doubt))
        return result


NONE_SCATTERED = ScatteredRows(np.empty(0), np.empty(0), np.empty(0), 0.0)


def fit_scattered(known: Matrix, known_doubt: Matrix, others: Matrix, counted: Mask | None = None) -> ScatteredRows:
    """Learn from labelled rows what scattered ones are.

    Parameters
    ----------
    known, known_doubt : ndarray of shape (n_labelled,)
        Isolation of labelled rows, and the doubt of models that have not seen their labels.
    others : ndarray of shape (n_others,)
        Isolation of rows without a label.
    counted : ndarray of bool of shape (n_labelled,), optional
        Labelled rows that were not chosen by the model: suggested ones lie in the middle of others.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known, others = rng.normal(1, 0.1, 200), rng.normal(1, 0.1, 1000)
    >>> fit_scattered(known, known, others).odds < 0.5
    True
    >>> others[:50] = 2.0
    >>> scattered = fit_scattered(known, rng.random(200), others)
    >>> bool(scattered.odds > 0.5), bool(scattered.evidence(np.array([2.0]), np.array([1.0]))[0] > 2)
    (True, True)
    """
    if counted is not None:
        known, known_doubt = known[counted], known_doubt[counted]
    if len(known) < _FEWEST or not len(others):
        return NONE_SCATTERED
    tail = float(np.mean(p_values(others, np.sort(known)) <= _TAIL))
    first = ScatteredRows(np.sort(known), np.sort(known_doubt), known, max(tail - _TAIL, 0.0) / _TAIL)
    return ScatteredRows(first.isolation, first.doubt, np.sort(first._oddness(known, known_doubt)), first.odds)


def p_values(values: Matrix, among: Matrix) -> Matrix:
    """Return the share of `among`, ascending, that is at least as large as each value; the value itself is counted.

    Examples
    --------
    >>> p_values(np.array([0.0, 2.5, 9.0]), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.5, 0.25]
    """
    result: Matrix = (1 + len(among) - np.searchsorted(among, values, side="left")) / (1 + len(among))
    return result
