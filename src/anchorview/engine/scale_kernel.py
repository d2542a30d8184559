"""Compiled kernel of the scaling: one pass over a block while it is in the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})  # no "arcp": 1/x of tiny x overflows
def scale_rows(rows: Any, start: int, stop: int, shift: Any, factor: Any) -> None:
    """Replace some columns of each row by (x − shift) · factor, if these are given, and scale them to unit length.

    Zeros stay zeros. `rows` is C-contiguous, so that its pieces are known to be contiguous too.
    """
    for i in range(rows.shape[0]):
        row = rows[i, start:stop]
        total = rows.dtype.type(0)
        if len(shift) == len(row):
            for t in range(len(row)):
                value = (row[t] - shift[t]) * factor[t]
                row[t] = value
                total += value * value
        else:
            for t in range(len(row)):
                total += row[t] * row[t]
        if not (1e-30 < total < 1e30):  # squares may have overflowed, or vanished
            largest = rows.dtype.type(0)
            for t in range(len(row)):
                largest = max(largest, abs(row[t]))
            if largest == 0:
                continue
            total = rows.dtype.type(0)
            for t in range(len(row)):
                row[t] /= largest
                total += row[t] * row[t]
        norm = rows.dtype.type(1) / np.sqrt(total)
        for t in range(len(row)):
            row[t] *= norm
