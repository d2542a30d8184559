"""Choose a parameter by hiding a part of the labels and guessing it from the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ._matrix import Dense, Index

C = TypeVar("C")

_FLOOR = 1e-6  # of a probability: one row that a method rules out wrongly does not decide alone


def label_folds(codes: Index, n_folds: int, rng: np.random.RandomState) -> list[Index]:
    """Return groups of labelled rows to hide in turn, each with about the same share of every class.

    A class with one labelled row never loses it: without any labelled row it could not be guessed. Fewer groups, or
    none, are returned where there are too few rows to hide.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row, −1 where it is not known.
    n_folds : int
        Number of groups.

    Examples
    --------
    >>> folds = label_folds(np.array([0, 0, -1, 1, 0, 0]), 2, np.random.RandomState(0))
    >>> [len(fold) for fold in folds], sorted(np.concatenate(folds).tolist())
    ([2, 2], [0, 1, 4, 5])
    """
    classes = [rng.permutation(np.flatnonzero(codes == number)) for number in range(codes.max() + 1)]
    # Rows are dealt out in turn, class after class: a class of few rows has at most one, never all, in a group.
    order = np.concatenate([np.empty(0, dtype=np.intp), *(rows for rows in classes if len(rows) > 1)])
    folds = [np.sort(order[start::n_folds]) for start in range(n_folds)]
    return [fold for fold in folds if len(fold)]


def best_setting(
    settings: Sequence[C], codes: Index, folds: list[Index], probabilities: Callable[[C, Index], Dense]
) -> C:
    """Return the setting that guesses most hidden labels, of equals the one with the largest likelihood of them.

    Parameters
    ----------
    settings : sequence
        What to choose from; the first of them if there is nothing to hide.
    codes : ndarray of shape (n,)
        Class of each row, −1 where it is not known.
    folds : list of ndarray
        From `label_folds`.
    probabilities : callable
        Takes a setting and codes of which a part is hidden, returns the probability of each class for all rows.
    """
    if not folds or len(settings) == 1:
        return settings[0]

    def quality(setting: C) -> tuple[float, float]:
        right, likelihood = 0, 0.0
        for fold in folds:
            known = codes.copy()
            known[fold] = -1
            found = probabilities(setting, known)[fold]
            right += int((found.argmax(axis=1) == codes[fold]).sum())
            likelihood += float(np.log(np.maximum(found[np.arange(len(fold)), codes[fold]], _FLOOR)).sum())
        return right, likelihood

    return max(settings, key=quality)
