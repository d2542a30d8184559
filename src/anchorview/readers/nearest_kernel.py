"""The nearest labelled row of each class, without a matrix of distances: eight rows at a time, four labelled ones.

A product of all rows with all labelled ones, and the largest of each class out of it, moves eight bytes through memory
for every pair. Here the largest so far stays in registers, and what is left is the arithmetic of the product.

    −|f − r|² = 2 (r − c)ᵀ(f − c) − |r − c|² − |f − c|²   for any point c; one in the middle keeps small distances
                                                           from being rounded away
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..core.compiled import compiled
from ..core.vectors import PLACE, VECTOR, WIDTH, ZEROS, add_product, load_at, place_of, store

_ROUNDING = 8 * float(np.finfo(np.float64).eps)
_TOGETHER = 4  # labelled rows: their sums, of eight numbers each, are as many as the registers hold


@compiled(error_model="numpy")
def write_nearness(
    rows: Any, members: Any, middle: Any, points: Any, among: Any, starts: Any, panel: Any, nearness: Any
) -> None:
    """Write minus the squared distance to the nearest labelled row of each class, for some of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        In double precision, as are the next arrays of numbers.
    members : ndarray
        Which of the rows.
    middle : ndarray of shape (k,)
        The point c.
    points : ndarray of shape (n_labelled, k + 1)
        2 (r − c) and −|r − c|² of the labelled rows.
    among : ndarray
        Which of the labelled rows, ordered by class.
    starts : ndarray of shape (n_classes + 1,)
        Where each class begins in `among`; the last one is its length.
    panel : ndarray of shape (k + 3, 8)
        Work space.
    nearness : ndarray of shape (n, n_classes)
        Takes the result, in any precision.
    """
    k, n_members = len(middle), len(members)
    for first in range(0, n_members, WIDTH):
        for t in range(WIDTH):
            row = members[min(first + t, n_members - 1)]
            square = 0.0
            for d in range(k):
                moved = rows[row, d] - middle[d]
                panel[d, t] = moved
                square += moved * moved
            panel[k, t] = 1.0
            panel[k + 1, t] = square
        for c in range(len(starts) - 1):
            for t in range(WIDTH):
                panel[k + 2, t] = -np.inf
            _raise_to_largest(points, among, starts[c], starts[c + 1], panel, k + 2)
            for t in range(min(WIDTH, n_members - first)):
                nearness[members[first + t], c] = panel[k + 2, t] - panel[k + 1, t]


@compiled(fastmath={"nnan", "nsz", "contract"}, error_model="numpy")
def list_rivals(
    rows: Any, members: Any, middle: Any, columns: Any, squares: Any, reach: Any, starts: Any, work: Any, found: Any
) -> int:
    """Write the numbers of labelled rows that could be nearest of their class to a row of a group; return how many.

    Parameters
    ----------
    rows, members, middle : ndarray
        As above; the members are the rows of the group.
    columns : ndarray of shape (k, n_labelled)
        r − c of the labelled rows.
    squares, reach : ndarray of shape (n_labelled,)
        |r − c|², and |r − a| with the mean of the class as a (see `candidates`).
    starts : ndarray of shape (n_classes + 1,)
        Where each class begins, and the number of labelled rows.
    work : ndarray of shape (2, at least n_labelled and k)
        Work space.
    found : ndarray of shape (n_labelled,)
        Takes the numbers.
    """
    k, n_labelled = columns.shape
    centre, apart = work[0], work[1]
    for d in range(k):
        total = 0.0
        for i in members:
            total += rows[i, d]
        centre[d] = total / len(members)
    radius, largest, length = 0.0, 0.0, 0.0  # squared
    for i in members:
        square = 0.0
        for d in range(k):
            square += (rows[i, d] - centre[d]) ** 2
        radius = max(radius, square)
    for d in range(k):
        length += (centre[d] - middle[d]) ** 2
    for j in range(n_labelled):
        largest = max(largest, squares[j])
        apart[j] = squares[j]
    slack = _ROUNDING * (16 + k) * (largest + length + radius)
    radius = math.sqrt(radius)
    for d in range(k):
        twice = 2.0 * (centre[d] - middle[d])
        for j in range(n_labelled):
            apart[j] -= twice * columns[d, j]  # in the end |q − r|² − |q − c|²
    count = 0
    for c in range(len(starts) - 1):
        most = np.inf
        for j in range(starts[c], starts[c + 1]):
            most = min(most, apart[j] + 2.0 * radius * reach[j])
        for j in range(starts[c], starts[c + 1]):
            found[count] = j  # overwritten by the next one, if this one is ruled out
            count += apart[j] - 2.0 * radius * reach[j] <= most + slack or not slack < np.inf
    return count


def _largest(context: Any, points: Any, among: Any, first: Any, last: Any, panel: Any, target: Any) -> Any:
    """Raise panel[target] to the largest Σ_d points[among[j], d] · panel[d] of first ≤ j < last, in compiled code.

    `points` and `panel`, of 8 columns, are of float64, and `among` of int64; all are contiguous. Nothing is checked.
    """
    signature = types.void(points, among, types.int64, types.int64, panel, types.int64)
    return signature, _generate


_raise_to_largest: Any = intrinsic(_largest)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    points, among, first, last, panel, target = arguments
    points = context.make_array(signature.args[0])(context, builder, points)
    among = context.make_array(signature.args[1])(context, builder, among)
    panel = context.make_array(signature.args[4])(context, builder, panel)
    n_terms = cgutils.unpack_tuple(builder, points.shape, 2)[1]
    vectors = builder.bitcast(panel.data, VECTOR.as_pointer())
    end = builder.sub(last, place_of(1))
    result = builder.gep(vectors, [target])
    largest = cgutils.alloca_once_value(builder, load_at(builder, result))
    sums = [cgutils.alloca_once_value(builder, ZEROS) for _ in range(_TOGETHER)]

    def line_of(j: Any) -> Any:
        j = builder.select(builder.icmp_signed("<", j, end), j, end)  # the last one again: it changes no maximum
        return builder.gep(points.data, [builder.mul(load_at(builder, builder.gep(among.data, [j])), n_terms)])

    with cgutils.for_range_slice(builder, first, last, place_of(_TOGETHER), PLACE, inc=True) as (j, _):
        lines = [line_of(builder.add(j, place_of(step))) for step in range(_TOGETHER)]
        for total in sums:
            builder.store(ZEROS, total)
        with cgutils.for_range_slice(builder, place_of(0), n_terms, place_of(1), PLACE, inc=True) as (d, _):
            vector = load_at(builder, builder.gep(vectors, [d]))
            for line, total in zip(lines, sums, strict=True):
                add_product(builder, load_at(builder, builder.gep(line, [d])), vector, total)
        for total in sums:
            found, before = builder.load(total), builder.load(largest)
            builder.store(builder.select(builder.fcmp_ordered(">", found, before), found, before), largest)
    store(builder, builder.load(largest), result)
    return context.get_dummy_value()
