"""What further labels are expected to bring, read off the accuracies so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

AHEAD = 50
_FARTHEST = 3  # times as many labels as there are: beyond that nothing is said
_LEAST = 4  # different numbers of labels


def expected_gain(history: Sequence[tuple[int, float]], n_labels: int) -> float | None:
    """Return how much accuracy the next 50 labels add, by an inverse power law; None if that cannot be told.

    Parameters
    ----------
    history : sequence of (int, float)
        Numbers of labels, and the accuracy that was expected with them.
    n_labels : int
        GivenLabels now.

    Examples
    --------
    >>> history = [(n, 1 - 2 * n**-0.5) for n in (40, 60, 80, 100)]
    >>> round(expected_gain(history, 100), 3)
    0.037
    >>> expected_gain(history[:2], 100) is None
    True
    """
    latest = dict(history)  # the last accuracy with so many labels
    if len(latest) < _LEAST or n_labels + AHEAD > _FARTHEST * n_labels:
        return None
    counts = np.array(sorted(latest), dtype=np.float64)
    errors = np.clip([1 - latest[int(n)] for n in counts], 1e-3, 1.0)
    slope, level = np.polyfit(np.log(counts), np.log(errors), 1, w=np.sqrt(counts))
    if slope >= 0:  # it has not been falling
        return None
    now, then = (np.exp(level + slope * np.log(n)) for n in (n_labels, n_labels + AHEAD))
    return float(now - then)
