"""Splits that hide labels: folds of the labelled rows, while the unlabelled rows stay in every fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .core.arrays import Rows
from .core.checks import make_random_state
from .data.labels import encode_labels, split_labels


class LabelHidingKFold:
    """Cross-validation for partly labelled data, for ``GridSearchCV`` and the like.

    Each test fold holds some of the labelled rows; the training fold holds the other labelled rows and all unlabelled
    ones. Folds are dealt out class by class, and a class is never hidden as a whole: a class with a single labelled
    row is always in training. Rows without a label are never tested, so no scorer meets one.

    Parameters
    ----------
    n_splits : int, default=3
        Number of folds.
    n_repeats : int, default=1
        How often the labelled rows are dealt out.
    random_state : int, RandomState or None, default=None
        Random numbers of the dealing.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import LabelHidingKFold
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> for train, test in LabelHidingKFold(2, random_state=0).split(y, y):
    ...     print(train, test)
    [0 3 4 5] [1 2]
    [1 2 4 5] [0 3]
    """

    def __init__(
        self, n_splits: int = 3, n_repeats: int = 1, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training and the test rows of each split.

        Parameters
        ----------
        X : object with a length
            The rows; not looked at.
        y : array-like of shape (n_rows,)
            Labels, -1 where there is none.
        groups : object
            Ignored.
        """
        _, class_ids = encode_labels(y, len(y))
        labelled = np.flatnonzero(class_ids >= 0)
        rng = make_random_state(self.random_state)
        for _ in range(self.n_repeats):
            folds = split_labels(class_ids[labelled], self.n_splits, rng)
            if not folds:
                raise ValueError(
                    "Every class has at most one labelled row, so no label can be hidden; label more rows."
                )
            for fold in folds:
                test = labelled[fold]
                yield np.setdiff1d(np.arange(len(class_ids)), test), test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits * self.n_repeats
