"""What sets a group of rows apart: the features whose mean differs most from that of all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.arrays import AnyMatrix, Matrix, Rows

_MOST_ROWS = 2000
_N_FEATURES = 5


def draw_some(rows: Rows, rng: np.random.RandomState) -> Rows:
    """Return rows, ascending, or some of them if there are many: means need no more."""
    return rows if len(rows) <= _MOST_ROWS else np.sort(rng.choice(rows, _MOST_ROWS, replace=False))


def distinguishing_features(
    names: Sequence[str], inside: Sequence[AnyMatrix], every: Sequence[AnyMatrix]
) -> tuple[tuple[str, int, float], ...]:
    """Return the features that tell some rows from all, the most telling first: view, place, standard deviations.

    Parameters
    ----------
    names : sequence of str
        Of the views.
    inside, every : sequence of arrays, one a view
        Features of the rows, and of all.

    Examples
    --------
    >>> every = np.array([[0.0, 1.0], [0.2, 1.1], [9.0, 0.9], [9.1, 1.0]])
    >>> distinguishing_features(["size"], [every[2:]], [every])[0][:2]
    ('size', 0)
    """
    found = []
    for name, some, all_rows in zip(names, inside, every, strict=True):
        mean, spread = _moments(all_rows)
        apart = (_moments(some)[0] - mean) / np.maximum(spread, 1e-12)
        apart[spread <= 1e-12] = 0.0
        places = np.argsort(-np.abs(apart), kind="stable")[:_N_FEATURES]
        found += [(str(name), int(place), round(float(apart[place]), 2)) for place in places if apart[place]]
    return tuple(sorted(found, key=lambda each: -abs(each[2]))[:_N_FEATURES])


def _moments(rows: AnyMatrix) -> tuple[Matrix, Matrix]:
    """Return means and standard deviations of the columns; values that are not there do not count."""
    if hasattr(rows, "multiply"):  # sparse
        mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(rows.multiply(rows).mean(axis=0), dtype=np.float64).ravel()
        return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))
    values = np.nan_to_num(np.asarray(rows, dtype=np.float64))
    return values.mean(axis=0), values.std(axis=0)
