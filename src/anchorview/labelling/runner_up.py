"""The second class of each row: what a row would most likely be, if not what it is taken for."""

from __future__ import annotations

import numpy as np

from ..core.arrays import ClassIds, Matrix
from ..engine.blocks import row_blocks

_ROWS = 4096  # looked at together: no copy of all probabilities is made


def runner_up(probabilities: Matrix, class_ids: ClassIds) -> tuple[ClassIds, Matrix]:
    """Return the likeliest class of each row other than its own, and its probability; −1 and 0 if there is no other.

    Examples
    --------
    >>> runner_up(np.array([[0.7, 0.2, 0.1], [0.4, 0.1, 0.5]]), np.array([0, 2]))
    (array([1, 0]), array([0.2, 0.4]))
    """
    seconds = np.full(len(probabilities), -1, dtype=np.intp)
    values = np.zeros(len(probabilities), dtype=probabilities.dtype)
    if probabilities.shape[1] < 2:
        return seconds, values
    for block in row_blocks(len(probabilities), _ROWS):
        others = probabilities[block].copy()
        rows = np.arange(len(others))
        others[rows, class_ids[block]] = -1.0
        seconds[block] = others.argmax(axis=1)
        values[block] = others[rows, seconds[block]]
    return seconds, values
