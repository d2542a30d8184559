"""How much each view counts: the weights of the views, as they are given and as the scaled rows carry them.

A view of weight w has its block of the scaled rows multiplied by √w, so that its part in every product of rows and
landmarks, and in every distance, is w times what it would be. Weights have the mean 1: the weights of the model, and
what depends on the length of rows, keep their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.checks import MOST, is_plain_number, is_sequence, shorten

ViewWeights = tuple[float, ...] | None  # of each view, of mean 1; None if all count the same
ViewWeightsChoice = str | Sequence[float] | Mapping[str, float] | npt.NDArray[Any] | None
_SAME = 1e-9  # by which weights, or their mean, differ when they are the same but for rounding


class ViewWeightsRule:
    """What the parameter `view_weights` may be; whether it fits the views is looked at with these."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error that names what is no weight."""
        if value is None or (isinstance(value, str) and value == "auto"):
            return
        named = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        if not (named or is_sequence(value)) or not len(value):
            raise ValueError(
                f"{name} must be 'auto', None, or a positive number for each view, as a sequence or by the names of "
                f"the views; got {shorten(value)}."
            )
        for weight in value.values() if isinstance(value, Mapping) else value:
            if not (is_plain_number(weight) and 0 < weight <= MOST):
                remedy = "to leave a view out, do not pass it"
                raise ValueError(f"{name} holds {shorten(weight)}; weights are positive numbers ({remedy}).")


def read_view_weights(names: Sequence[str], given: ViewWeightsChoice) -> ViewWeights:
    """Return the weights of the views that were given, of mean 1; None for None and "auto", and if all are the same.

    Views that a mapping does not name have the weight 1, beside those that it names.

    Examples
    --------
    >>> read_view_weights(["image", "text"], [3, 1])
    (1.5, 0.5)
    >>> read_view_weights(["image", "text"], {"text": 3}), read_view_weights(["image", "text"], [2, 2])
    ((0.5, 1.5), None)
    """
    if given is None or isinstance(given, str):
        return None
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise ValueError(f"view_weights names views that are not there: {unknown}; the views are {list(names)}.")
        weights = [given.get(name, 1.0) for name in names]
    else:
        weights = list(given)
        if len(weights) != len(names):
            raise ValueError(f"view_weights lists {len(weights)} weights for {len(names)} views.")
    return normalise(weights)


def normalise(weights: Sequence[float]) -> ViewWeights:
    """Return weights divided by their mean; None if all are the same. Those of mean 1 stay as they are, to the bit.

    Examples
    --------
    >>> normalise(normalise([0.3, 0.1, 0.1])) == normalise([0.3, 0.1, 0.1]), normalise([0.7])
    (True, None)
    """
    found = np.asarray(weights, dtype=np.float64)
    if found.max() - found.min() <= _SAME * found.max():
        return None
    mean = found.mean()
    return tuple((found if abs(mean - 1) <= _SAME else found / mean).tolist())


def describe_view_weights(names: Sequence[str], weights: ViewWeights) -> str:
    """Return the weights as text.

    Examples
    --------
    >>> describe_view_weights(["image", "text"], (1.5, 0.5)), describe_view_weights(["image", "text"], None)
    ('image: 1.5, text: 0.5', 'equal')
    """
    if weights is None:
        return "equal"
    return ", ".join(f"{name}: {weight:.3g}" for name, weight in zip(names, weights, strict=True))
