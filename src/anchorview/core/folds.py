"""Labelled rows dealt out to folds, to be hidden in turn."""

from __future__ import annotations

import numpy as np

from .arrays import ClassIds, Rows


def split_labels(class_ids: ClassIds, n_folds: int, rng: np.random.RandomState) -> list[Rows]:
    """Deal the labelled rows of each class out to folds; a class's only row is never in one.

    Fewer folds, or none, are returned where there are too few rows to hide.

    Parameters
    ----------
    class_ids : ndarray of shape (n_rows,)
        Class of each row, −1 where it is not known.
    n_folds : int
        Number of folds.

    Examples
    --------
    >>> import numpy as np
    >>> folds = split_labels(np.array([0, 0, 1, -1, 1, 2]), 2, np.random.RandomState(0))
    >>> sorted(int(row) for fold in folds for row in fold)
    [0, 1, 2, 4]
    """
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    turn = 0
    for number in range(int(class_ids.max(initial=-1)) + 1):
        rows = rng.permutation(np.flatnonzero(class_ids == number))
        if len(rows) < 2:
            continue
        # Never a whole class at once: what is left of it must be able to speak for it.
        for place, row in enumerate(rows):
            folds[(turn + place) % n_folds].append(int(row))
        turn += len(rows)
    return [np.sort(np.array(fold, dtype=np.intp)) for fold in folds if fold]
