"""Choose a parameter by hiding a part of the labels and guessing it from the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ..core.arrays import ClassIds, Matrix, Rows
from ..readers.held_out import hold_out

Setting = TypeVar("Setting")

_FLOOR = 1e-6  # of a probability: one row that a method rules out wrongly does not decide alone


def best_setting(
    settings: Sequence[Setting],
    class_ids: ClassIds,
    folds: Sequence[Rows],
    probabilities: Callable[[Setting, ClassIds], Matrix],
) -> Setting:
    """Return the setting that guesses most hidden labels, of equals the one with the largest likelihood of them.

    The rows of each fold are hidden in turn: they have class number −1 when `probabilities` is asked for the
    probability of each class for all rows. If there is nothing to hide, the first setting is returned.
    """
    if not folds or len(settings) == 1:
        return settings[0]

    def quality(setting: Setting) -> tuple[int, float]:
        def judge(fold: int, hidden: Rows, shown: Rows) -> Matrix:
            known = class_ids.copy()
            known[hidden] = -1
            return probabilities(setting, known)[hidden]

        right, likelihood = 0, 0.0
        for hidden, shares in zip(folds, hold_out(folds, len(class_ids), judge).scores, strict=True):
            true = class_ids[hidden]
            right += int((shares.argmax(axis=1) == true).sum())
            likelihood += float(np.log(np.maximum(shares[np.arange(len(true)), true], _FLOOR)).sum())
        return right, likelihood

    return max(settings, key=quality)
