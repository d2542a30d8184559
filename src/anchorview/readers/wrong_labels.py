"""Which given labels are wrong, and how many: what models that have not seen a label make of it.

Suppose that a share ε of the labels is wrong, each of these any of the other classes, and that p_c is the probability
of class c at a row by models that have not seen its label. Then the label given is g with probability

    (1 − ε) p_g + ε (1 − p_g) / (k − 1).

ε and a temperature of p are those under which the labels given are likeliest. So labels that are all right show that ε
is next to nothing, and then even a sure model does not overrule them; and where many are wrong, p need not be vague to
account for them. Given the label too, class c has a probability in proportion to p_c (1 − ε) if c = g, and to
p_c ε / (k − 1) otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Weights
from .temperature import LEAST

_SHARES = (1e-3, *np.linspace(0.01, 0.5, 50).tolist())  # of wrong labels; with more than half nothing can be told
_TEMPERATURES = tuple(np.geomspace(0.1, 2.0, 25).tolist())
_RIGHT = 1.0  # labels known to be right, as it were: a few labels do not prove that many are wrong


@dataclass(frozen=True)
class WrongLabels:
    """How many of the labels are wrong.

    Parameters
    ----------
    share : float
        ε.
    temperature : float
        Of the probabilities.
    """

    share: float = _SHARES[0]
    temperature: float = 1.0

    def sharpen(self, probabilities: Matrix) -> Matrix:
        """Return the probabilities of the classes at this temperature."""
        logits = np.log(np.maximum(probabilities, 1e-12)) / self.temperature
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Matrix = shares / shares.sum(axis=1, keepdims=True)
        return result

    def given_too(self, sharpened: Matrix, class_ids: ClassIds) -> Matrix:
        """Return the probabilities of the classes once the labels given count too."""
        each = np.arange(len(class_ids))
        result = sharpened * (self.share / (sharpened.shape[1] - 1))
        result[each, class_ids] = sharpened[each, class_ids] * (1 - self.share)
        total = result.sum(axis=1, keepdims=True)
        return np.asarray(result / total)


@dataclass(frozen=True, eq=False)
class LabelVerdicts:
    """What is said of the given labels; NaN and the label itself where a label cannot be judged.

    Parameters
    ----------
    quality : ndarray of shape (n_labelled,)
        Probability of each label by models that have not seen it.
    preferred : ndarray of shape (n_labelled,)
        The class that they find likeliest.
    wrong : ndarray of shape (n_labelled,)
        Probability of this class once the label given counts too, if it is another one; 0 otherwise.
    """

    quality: Matrix
    preferred: ClassIds
    wrong: Matrix


def estimate_wrong(probabilities: Matrix, class_ids: ClassIds, weights: Weights = None) -> WrongLabels:
    """Estimate how many labels are wrong.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        Of each row's classes, by models that have not seen its label; at least two classes.
    class_ids : ndarray of shape (n_rows,)
        The labels given.
    weights : ndarray of shape (n_rows,), optional
        How often each row is there.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = rng.dirichlet([0.2] * 4, size=500)
    >>> labels = np.array([rng.choice(4, p=row) for row in found])
    >>> estimate_wrong(found, labels).share < 0.03
    True
    >>> labels[:100] = rng.integers(0, 4, size=100)  # three of four wrong
    >>> 0.1 < estimate_wrong(found, labels).share < 0.2
    True
    """
    n_classes, each = probabilities.shape[1], np.arange(len(class_ids))
    counts = np.ones(len(class_ids)) if weights is None else weights
    shares = np.array(_SHARES)[:, None]
    prior = -_RIGHT * np.log(1 - shares[:, 0])
    best = (np.inf, WrongLabels())
    for temperature in _TEMPERATURES:
        own = WrongLabels(temperature=temperature).sharpen(probabilities)[each, class_ids]
        likelihood = (1 - shares) * own + shares * ((1 - own) / (n_classes - 1))
        losses = prior - np.log(np.maximum(likelihood, LEAST)) @ counts
        place = int(losses.argmin())
        if losses[place] < best[0]:
            best = (float(losses[place]), WrongLabels(_SHARES[place], temperature))
    return best[1]


def keep_every_class(class_ids: ClassIds, changed: Mask) -> Mask:
    """Return which labels may change, so that no class loses all its rows.

    Examples
    --------
    >>> import numpy as np
    >>> keep_every_class(np.array([0, 0, 1]), np.array([True, False, True]))
    array([ True, False, False])
    """
    left = np.bincount(class_ids[~changed], minlength=int(class_ids.max(initial=0)) + 1)
    result: Mask = changed & (left[class_ids] > 0)
    return result
