"""From the votes of the experts to class probabilities that can be trusted.

Experts fitted once more with the rows the ensemble is sure of find more rows right, but believe their own guesses:
their probabilities confirm themselves. So all experts together choose the class, and those that saw only
the given labels give its probability: their average, at the temperature that suits it on the hidden labels.
"""

from __future__ import annotations

import numpy as np

from ..core.arrays import ClassIds, Matrix, Weights
from .temperature import NearOne, choose_temperature

_LEAST = 1e-9


def votes_to_probabilities(votes: Matrix, temperature: float) -> Matrix:
    """Turn votes into probabilities, the likeliest class being that of all votes.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([[[3.0, 1.0]], [[0.0, 4.0]]])  # two experts' worth for the second class, in the second fit
    >>> votes_to_probabilities(votes, 1.0)
    array([[0.25, 0.75]])
    """
    result = temper(votes[0], temperature)
    if len(votes) == 1:
        return result
    rows, first, chosen = np.arange(len(result)), result.argmax(axis=1), votes.sum(axis=0).argmax(axis=1)
    result[rows, first], result[rows, chosen] = result[rows, chosen], result[rows, first]
    return result


def temper(votes: Matrix, temperature: float) -> Matrix:
    """Return probabilities in proportion to the votes to the power 1/T."""
    with np.errstate(invalid="ignore"):  # NaN is reported by those who meet it
        shares = np.maximum(votes / votes.sum(axis=-1, keepdims=True), _LEAST) ** (1 / temperature)
    result: Matrix = shares / shares.sum(axis=-1, keepdims=True)
    return result


def average_temperature(held_out: Matrix, class_ids: ClassIds, weights: Weights = None) -> float:
    """Return the temperature that suits averaged probabilities of hidden labels, near 1."""
    return choose_temperature(np.log(np.maximum(held_out, _LEAST)), class_ids, NearOne(weights=weights))
