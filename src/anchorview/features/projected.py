"""Text scaled once for several readers: its coordinates in place of its counts.

The scalings that a tuned model averages differ in dense views; of a text they have the same scaler, which is most of
what a predicted row takes.
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
    views: Views, scalers: Sequence[ViewsScaler], present: Presence, n_threads: int
) -> tuple[Views, list[ViewsScaler]]:
    """Return views with coordinates in place of the texts that all scalings share, and the scalings of these views."""
    arrays = list(views.arrays)
    of_views: list[list[Any]] = [list(one.scalers) for one in scalers]
    shared = shared_texts(scalers)
    for number in shared:
        n_out = scalers[0].scalers[number].n_out
        arrays[number] = np.empty((len(views), n_out), dtype=scalers[0].dtype)
        for each in of_views:
            each[number] = ReadyScaler(n_out)

    def fill(block: slice) -> None:
        with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are reported by those who meet them
            for number in shared:
                scalers[0].scalers[number].write(rows_of(views.arrays[number], block), arrays[number][block], 0)

    if shared and len(views) <= BLOCK_ROWS:
        fill(slice(0, len(views)))
    elif shared:
        map_blocks(fill, row_blocks(len(views), BLOCK_ROWS), n_threads)
    projected = views.with_arrays(arrays, [None] * len(arrays), present)
    pairs = zip(scalers, of_views, strict=True)
    return projected, [ViewsScaler(tuple(each), one.dtype, one.sizes, one.view_weights) for one, each in pairs]
