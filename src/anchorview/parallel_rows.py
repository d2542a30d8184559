"""Whether rows all point the same way.

Scaled to 0 … 1, features that vary little beside their distance from the minimum leave rows of unit length nearly
parallel. A row is then like every landmark: codes become dense, slow to find, and say nothing (an example with figures
is in docs/method.md). Centred features cure it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

PARALLEL = 0.95  # mean cosine between rows; 0.03 to 0.93 on the sets where scaling to 0 … 1 works
_SOME_ROWS = 1000


def mean_cosine(rows: npt.NDArray[Any]) -> float:
    """Return the mean cosine between pairs of rows of about the same length; 0 if all are zero.

    Examples
    --------
    >>> import numpy as np
    >>> mean_cosine(np.array([[1.0, 0.0], [1.0, 0.0]])), mean_cosine(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    (1.0, 0.0)
    """
    squares = float(np.einsum("ij,ij->i", rows, rows).mean()) if len(rows) else 0.0
    return float((rows.mean(axis=0, dtype=np.float64) ** 2).sum()) / squares if squares > 0 else 0.0


def are_parallel(arrays: Sequence[npt.NDArray[Any]], present: npt.NDArray[np.bool_] | None) -> bool:
    """Tell whether some rows of dense views, scaled to 0 … 1 and to unit length, are nearly parallel on average.

    Parameters
    ----------
    arrays : sequence of ndarray
        The views.
    present : ndarray of bool of shape (n_rows, n_views), optional
        Which rows have which view.
    """
    found = [_scaled_cosine(array, None if present is None else present[:, i]) for i, array in enumerate(arrays)]
    return bool(found) and float(np.mean(found)) > PARALLEL


def _scaled_cosine(array: npt.NDArray[Any], has: npt.NDArray[np.bool_] | None) -> float:
    step = max(1, len(array) // _SOME_ROWS)
    some = np.asarray(array[::step], dtype=np.float64)
    some = some[np.isfinite(some).all(axis=1) & (True if has is None else has[::step])]
    if len(some) < 2:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.ptp(some, axis=0)
        scaled = (some - some.min(axis=0))[:, width > 0] / width[width > 0]
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return mean_cosine(np.nan_to_num(scaled / np.where(lengths > 0, lengths, 1)))
