"""From the votes of the experts to class probabilities that can be trusted.

Experts fitted once more with the rows the ensemble is sure of find more rows right, but believe what they were told:
their probabilities confirm themselves. So all experts together say which class is likeliest, and those that saw only
the given labels say how likely: their average, at the temperature that suits it on the hidden labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .heads import Codes, log_loss

Matrix = npt.NDArray[np.floating]
_TEMPERATURES = np.geomspace(0.3, 3.0, 81)
_PRIOR = 10.0  # an average needs little correction: (log T)² costs as much as the loss of ten rows
_LEAST = 1e-9


def empty_votes(n_rows: int, n_classes: int) -> Matrix:
    """Return sums of no votes: of the experts with the given labels, and of those with sure rows too."""
    return np.zeros((2, n_rows, n_classes))


def settle(votes: Matrix, temperature: float) -> Matrix:
    """Turn votes into probabilities, the likeliest class being that of all votes.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([[[3.0, 1.0]], [[0.0, 4.0]]])  # two experts' worth for the second class, in the second fit
    >>> settle(votes, 1.0)
    array([[0.25, 0.75]])
    """
    result = temper(votes[0], temperature)
    rows, said, likeliest = np.arange(len(result)), result.argmax(axis=1), votes.sum(axis=0).argmax(axis=1)
    result[rows, said], result[rows, likeliest] = result[rows, likeliest], result[rows, said]
    return result


def temper(votes: Matrix, temperature: float) -> Matrix:
    """Return probabilities in proportion to the votes to the power 1/T."""
    with np.errstate(invalid="ignore"):  # NaN is reported by those who meet it
        shares = np.maximum(votes / votes.sum(axis=-1, keepdims=True), _LEAST) ** (1 / temperature)
    result: Matrix = shares / shares.sum(axis=-1, keepdims=True)
    return result


def average_temperature(held_out: Matrix, classes: Codes) -> float:
    """Return the temperature at which averaged probabilities of hidden labels have the least log loss, near 1.

    Examples
    --------
    >>> import numpy as np
    >>> unsure = np.full((200, 2), [0.6, 0.4])
    >>> average_temperature(unsure, np.zeros(200, dtype=int)) < 0.5  # always right: could be surer
    True
    """
    losses: list[Any] = [
        log_loss(temper(held_out, temperature), classes).sum() + _PRIOR * np.log(temperature) ** 2
        for temperature in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(losses))])
