"""Splits that hide labels: folds of the labelled rows, while the unlabelled rows stay in every fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .core.arrays import ClassIds, Rows
from .core.checks import COUNT, Number, Rule, Seed, check_parameters, make_random_state, shorten
from .data.labels import encode_labels, number_by_appearance, split_labels

_RULES: dict[str, Rule] = {"n_splits": Number(2, integer=True), "n_repeats": COUNT, "random_state": Seed()}


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

        Examples
        --------
        >>> y = [0, 0, 1, 1, -1, -1]
        >>> [test.tolist() for _, test in LabelHidingKFold(2, random_state=0).split(y, y)]
        [[1, 2], [0, 3]]
        """
        check_parameters(self, _RULES)
        class_ids = _class_ids(y)
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
        """Return the number of splits: fewer, if `y` is given, where there are not as many labels to hide.

        Examples
        --------
        >>> LabelHidingKFold(5).get_n_splits(), LabelHidingKFold(5).get_n_splits(y=[0, 0, -1, -1])
        (5, 2)
        """
        check_parameters(self, _RULES)
        n_splits = self.n_splits
        if y is not None:
            class_ids = _class_ids(y)
            counts = np.bincount(class_ids[class_ids >= 0])
            n_splits = min(n_splits, int(counts[counts > 1].sum()))
        return n_splits * self.n_repeats


def _class_ids(y: Any) -> ClassIds:
    if y is None or (np.ndim(y) == 0 and not hasattr(y, "__len__")):
        raise ValueError(f"y must hold a label for each row, -1 where there is none; got {shorten(y)}.")
    return number_by_appearance(*encode_labels(y, len(y)))[1]  # folds must not depend on names
