"""What is compiled: rows scaled to unit length, and the smallest values of each row of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import compiled

_CHUNK = 64


# fastmath: else minima are not taken several at a time. Plain loops: numba takes seconds longer to compile slices.
@compiled(fastmath={"nnan", "nsz"}, error_model="numpy")
def list_smallest(values: Any, count: int, slack: Any, index: Any) -> Any:
    """Write the columns of each row's smallest values to `index`; return the largest number of them.

    If `index` has room for `count` columns only, these are written, smallest value first, of ties the first. Else all
    columns within the slack of the count-th smallest value are, ascending; if some row has more than there is room for,
    that ends it. Most columns are looked at only once, by the minimum of their chunk; a last part of one always is.
    """
    n, room = values.shape[1], index.shape[1]
    n_chunks, n_whole = (n + _CHUNK - 1) // _CHUNK, n // _CHUNK
    most = count
    best, columns = np.empty(count, values.dtype), np.empty(count, np.int64)
    minima = np.empty(n_chunks, values.dtype)
    for row in range(values.shape[0]):
        minima[n_chunks - 1] = -np.inf
        for chunk in range(n_whole):
            start = chunk * _CHUNK
            smallest = values[row, start]
            for column in range(_CHUNK):
                value = values[row, start + column]
                smallest = value if value < smallest else smallest
            minima[chunk] = smallest
        for place in range(count):
            best[place] = np.inf
            columns[place] = 0
        for chunk in range(n_chunks):
            if minima[chunk] >= best[count - 1]:
                continue
            for column in range(chunk * _CHUNK, chunk * _CHUNK + _CHUNK if chunk < n_whole else n):
                value = values[row, column]
                if value < best[count - 1]:
                    place = count - 1
                    while place > 0 and value < best[place - 1]:
                        best[place] = best[place - 1]
                        columns[place] = columns[place - 1]
                        place -= 1
                    best[place] = value
                    columns[place] = column
        if room == count:
            for place in range(count):
                index[row, place] = columns[place]
            continue
        limit = best[count - 1] + slack[row]
        listed = 0
        for chunk in range(n_chunks):
            if minima[chunk] > limit:
                continue
            for column in range(chunk * _CHUNK, chunk * _CHUNK + _CHUNK if chunk < n_whole else n):
                if values[row, column] <= limit:
                    if listed == room:
                        return room + 1
                    index[row, listed] = column
                    listed += 1
        most = listed if listed > most else most
    return most


@compiled(fastmath={"reassoc", "contract", "nsz"})  # no "arcp": 1/x of tiny x overflows
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
                value = abs(row[t])
                largest = value if value > largest else largest
            if largest == 0:
                continue
            total = rows.dtype.type(0)
            for t in range(len(row)):
                row[t] /= largest
                total += row[t] * row[t]
        norm = rows.dtype.type(1) / np.sqrt(total)
        for t in range(len(row)):
            row[t] *= norm
