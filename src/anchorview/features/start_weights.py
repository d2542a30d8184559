"""Weights of views before labels have a say: copies share one weight, and supporting views wait for the labels."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Mask, Matrix, Presence
from ..data.views import Views
from .view_copies import weigh_copies
from .view_weights import ViewWeights, normalise

_WAITING = 1e-3  # of a supporting view, beside 1: a handful of them changes products of rows by less than a hundredth


def start_weights(views: Views, present: Presence = None) -> ViewWeights:
    """Return the weights to start from; None if all views count the same.

    Examples
    --------
    >>> views = Views({"network": np.eye(3), "colour": np.ones((3, 2))})
    >>> views.supporting = frozenset({"colour"})
    >>> np.round(start_weights(views), 3).tolist()
    [1.998, 0.002]
    """
    copies = weigh_copies(views, present)
    return normalise((_as_array(copies, views) * np.where(_is_waiting(views), _WAITING, 1.0)).tolist())


def all_joined(views: Views, weights: ViewWeights) -> ViewWeights:
    """Return the weights to start from with the supporting views as heavy as the others.

    Examples
    --------
    >>> views = Views({"network": np.eye(3), "colour": np.ones((3, 2))})
    >>> views.supporting = frozenset({"colour"})
    >>> all_joined(views, start_weights(views)) is None
    True
    """
    return normalise((_as_array(weights, views) / np.where(_is_waiting(views), _WAITING, 1.0)).tolist())


def _as_array(weights: ViewWeights, views: Views) -> Matrix:
    return np.ones(len(views.names)) if weights is None else np.array(weights)


def _is_waiting(views: Views) -> Mask:
    """Tell for each view whether it waits; none does without one that leads."""
    found: Mask = np.array([name in views.supporting for name in views.names])
    return found & (not found.all())
