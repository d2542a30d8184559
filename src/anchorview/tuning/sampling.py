"""Rows that fits look at: all with a label, those in pairs, and some of the others; and labels that judge settings."""

from __future__ import annotations

import numpy as np

from ..core.arrays import ClassIds, Mask, Rows
from .options import SearchOptions

SAMPLE_ROWS = 1500  # on which `FSSMSC` chooses what is "auto"
SAMPLE_LANDMARKS = 100  # with 1,500 rows; 200, or all rows and landmarks, chose no better (docs/lab/accuracy.md)
MOST_LABELLED = 750  # of the sample: the others show what unlabelled rows are like
READ_LABELS = 20_000  # of which a regression on E learns; it has at most as many coefficients a class as landmarks
READ_GRAPH = 5000  # rows of a graph that reads labels: their neighbours cost half a second, and any other row 5,000
# short distances; half of them may be labelled, the others show where the rows are
JUDGED_LABELS = 10_000  # of which the regression learns that judges labels
JUDGED_GRAPH = 2000  # rows of its graph, fewer: labels are judged in every fit, and neighbours cost their square
JUDGED_TOGETHER = 4096  # labels
JUDGED_FOLDS = 5  # that hide them


def some_of(rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
    """Return at most so many of the rows, drawn at random."""
    return rows if len(rows) <= most else rng.choice(rows, max(most, 0), replace=False)


def some_of_each(class_ids: ClassIds, most: int) -> Rows:
    """Return the places of about so many labels, ascending: of each class the same share, two at least if it has them.

    The same of the same labels, always.

    Examples
    --------
    >>> import numpy as np
    >>> class_ids = np.repeat([0, 1, 2], [60, 30, 3])
    >>> np.bincount(class_ids[some_of_each(class_ids, 31)])
    array([20, 10,  2])
    >>> len(some_of_each(class_ids, 93))
    93
    """
    if len(class_ids) <= most:
        return np.arange(len(class_ids))
    rng, share = np.random.RandomState(0), most / len(class_ids)
    kept = []
    for number in np.unique(class_ids):
        places = np.flatnonzero(class_ids == number)
        kept.append(some_of(places, max(int(share * len(places)), 2), rng))
    return np.sort(np.concatenate(kept))


def draw_rows(
    is_labelled: Mask, usable: Mask, touched: Mask | None, options: SearchOptions, rng: np.random.RandomState
) -> Rows | None:
    """Return the labelled rows and some usable others, ascending; None if there are few enough to take all.

    Parameters
    ----------
    is_labelled, usable : ndarray of bool of shape (n_rows,)
        Rows with a label; rows that count.
    touched : ndarray of bool of shape (n_rows,), optional
        Rows that pairs name: they come before others, since a pair is heard of only if both its rows are there.
    options : SearchOptions
        How many are few enough, and how many are drawn of more.

    Examples
    --------
    >>> import numpy as np
    >>> is_labelled, usable = np.arange(10) < 2, np.ones(10, bool)
    >>> options = SearchOptions(max_search_rows=7, n_sampled=3)
    >>> draw_rows(is_labelled, usable, np.arange(10) == 9, options, np.random.RandomState(0))
    array([0, 1, 4, 8, 9])
    >>> draw_rows(is_labelled, np.arange(10) < 9, None, options, np.random.RandomState(0)) is None
    True
    """
    others = usable & ~is_labelled
    most = options.n_sampled
    if np.count_nonzero(others) <= max(options.max_search_rows, most):
        return None
    first = np.zeros_like(others) if touched is None else others & touched
    chosen = some_of(np.flatnonzero(first), most, rng)
    rest = some_of(np.flatnonzero(others & ~first), most - len(chosen), rng)
    return np.sort(np.concatenate([np.flatnonzero(is_labelled), chosen, rest]))
