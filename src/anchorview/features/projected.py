"""Text scaled once for several readers: its coordinates in place of its counts.

The scalings that a search compares, and a tuned model averages, differ in dense views; of a text they have the same
scaler, which is most of what such a row takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Matrix, Presence
from ..data.views import Views
from ..engine.blocks import map_blocks, row_blocks, rows_of
from .scaled import BLOCK_ROWS, ViewsScaler
from .text import TextScaler

PROJECTED_ROWS = 8192  # coordinates of so many are kept: 5 MB for each text
SEARCHED_ROWS = 20_000  # of a search: 12 MB
Coordinates = dict[int, tuple[TextScaler, Matrix]]  # of the rows of a text, by number of the view


@dataclass(frozen=True)
class ReadyScaler:
    """Takes rows that are scaled already."""

    n_out: int
    is_sparse: bool = False

    def write(self, block: Any, out: Matrix, start: int) -> None:
        """Write the rows of a block to the columns of ``out`` from ``start`` on."""
        out[:, start : start + self.n_out] = block


def shared_texts(scalers: Sequence[ViewsScaler]) -> list[int]:
    """Return the views that have coordinates, and the same scaler in all scalings."""
    first = scalers[0].scalers if scalers else ()
    return [
        number
        for number, one in enumerate(first)
        if isinstance(one, TextScaler) and not one.is_sparse and all(each.scalers[number] is one for each in scalers)
    ]


def project_texts(
    views: Views, scalers: Sequence[ViewsScaler], present: Presence, n_threads: int, known: Coordinates | None = None
) -> tuple[Views, list[ViewsScaler]]:
    """Return views with coordinates in place of the texts that all scalings share, and the scalings of these views.

    Coordinates that earlier calls on the same rows have computed are in `known`; those of this call are added.
    """
    arrays = list(views.arrays)
    of_views: list[list[Any]] = [list(one.scalers) for one in scalers]
    known = {} if known is None else known
    new: Coordinates = {}
    for number in shared_texts(scalers):
        scaler: Any = scalers[0].scalers[number]
        if number not in known or known[number][0] is not scaler:
            new[number] = known[number] = scaler, np.empty((len(views), scaler.n_out), dtype=scalers[0].dtype)
        arrays[number] = known[number][1]
        for each in of_views:
            each[number] = ReadyScaler(scaler.n_out)

    def fill(block: slice) -> None:
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are reported by those who meet them
            for number, (scaler, out) in new.items():
                scaler.write(rows_of(views.arrays[number], block), out[block], 0)

    if new and len(views) <= BLOCK_ROWS:
        fill(slice(0, len(views)))
    elif new:
        map_blocks(fill, row_blocks(len(views), BLOCK_ROWS), n_threads)
    projected = views.with_arrays(arrays, [None] * len(arrays), present)
    pairs = zip(scalers, of_views, strict=True)
    return projected, [ViewsScaler(tuple(each), one.dtype, one.sizes, one.view_weights) for one, each in pairs]
