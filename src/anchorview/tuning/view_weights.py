"""Which views count more: weights by how well each view alone tells the classes apart, where this helps hidden labels.

A view's weight is a power of how much better than chance a logistic regression on it alone finds hidden labels. Equal
weights (the power 0) are kept unless another power does clearly better: a setting is more complex than equal weights,
and the one-standard-error rule (Breiman et al., 1984) keeps the simpler of two that the labels cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.arrays import ClassIds, Matrix, Rows, Weights
from ..core.draws import subsample_classes
from ..engine.blocks import one_blas_thread
from ..features.view_weights import ViewWeights, all_joined, normalise
from ..readers.linear import fit_linear
from ..readers.temperature import mean_of
from .judging import Joined, SearchData
from .options import POWERS
from .settings import Setting

_STRENGTH = 10.0  # C of the regressions: that of the search, for rows of unit length
_LEAST_RATIO = 1.5  # of the largest weight to the least: a hundred labels know a quality to a tenth, so that weights
# nearer to each other tell views apart by chance, and what they change is no more than other landmarks would
_MOST_LABELS = 750  # that a view is judged by: its quality is then right to two points


def choose_view_weights(
    data: SearchData, equal: Setting, judge_setting: Callable[[Setting], Joined | None]
) -> ViewWeights:
    """Return the weights of the views, those of `equal` unless others do clearly better on hidden labels.

    Parameters
    ----------
    data : SearchData
        The data of a search.
    equal : Setting
        The setting whose views are weighed, with the weights to start from.
    judge_setting : callable
        Judges what reads labels in the landmarks of a setting; None if that cannot be judged.
    """
    before, best, weights = judge_setting(equal), None, equal.view_weights
    qualities = None if before is None else judge_views(data, equal)
    if before is None or qualities is None:
        return weights
    joined_weights = all_joined(data.views, weights)
    are_waiting = joined_weights != weights  # descriptions of photos beside a network, say
    for power in POWERS:
        changed = weigh(qualities, power, joined_weights)
        is_change = are_waiting or _ratio(qualities**power) >= _LEAST_RATIO
        joined = judge_setting(replace(equal, view_weights=changed)) if is_change else None
        if joined is None or not is_clearly_better(data, before.losses, joined.losses):
            continue
        if best is None or joined.shrunk_loss < best.shrunk_loss:
            best, weights = joined, changed
    return weights


def _ratio(weights: Matrix) -> float:
    return float(weights.max() / max(weights.min(), 1e-9))


def is_clearly_better(data: SearchData, before: Matrix, after: Matrix) -> bool:
    """Tell whether hidden labels have lost clearly less: by more than a standard error of the mean difference.

    With few labels the difference is drawn towards a change for the worse, as losses of settings are.
    """
    gains, weights, options = before - after, data.judged_weights, data.options
    mean = mean_of(gains, weights)
    error = np.sqrt(mean_of((gains - mean) ** 2, weights) / max(len(gains) - 1, 1))
    share = data.n_judged / (data.n_judged + options.prior_rows)
    return bool(share * mean - (1 - share) * options.change_loss > error)


def weigh(qualities: Matrix, power: float, start: ViewWeights) -> ViewWeights:
    """Return the weights of views, a power of their qualities times those to start from.

    Examples
    --------
    >>> np.round([weigh(np.array([0.6, 0.2]), power, None) for power in (1.0, 2.0)], 2).tolist()
    [[1.5, 0.5], [1.8, 0.2]]
    """
    found = qualities**power * (1.0 if start is None else np.array(start))
    return normalise(found.tolist())


def judge_views(data: SearchData, setting: Setting) -> Matrix | None:
    """Return how much better than chance each view alone finds hidden labels; None if none does.

    From 0, as often as the most frequent class is right, to 1. What few labels say of a view is drawn towards the mean
    of all views, as losses of settings are (`options.prior_rows`); so no view of a few labels is given up.
    """
    kept = subsample_classes(data.class_ids, _MOST_LABELS)
    scaler, names = replace(data.source(setting).scaler, view_weights=None), data.views.names
    found, counts = np.zeros(len(names)), np.zeros(len(names))
    for number, name in enumerate(names):
        rows = data.rows[kept]
        has_view = np.ones(len(rows), dtype=bool) if data.present is None else data.present[rows, number]
        places = kept[has_view]
        features = scaler.of_view(number).take(data.views.select([name]), data.rows[places]).stacked()
        folds = [np.flatnonzero(np.isin(places, fold)) for fold in data.folds]
        weights = data.weights_of(data.rows[places])
        found[number], counts[number] = _quality(features, data.class_ids[places], folds, weights)
    if not found.any():
        return None
    mean = float(found @ counts / counts.sum())
    share = counts / (counts + data.options.prior_rows)
    result: Matrix = share * found + (1 - share) * mean
    return result


def _quality(features: Any, class_ids: ClassIds, folds: list[Rows], weights: Weights) -> tuple[float, float]:
    """Return how much better than chance hidden labels are found, and how many labels were hidden."""
    right, guessed, hidden_weights = [], [], []
    for hidden in folds:
        shown = np.setdiff1d(np.arange(len(class_ids)), hidden)
        if not len(hidden) or len(np.unique(class_ids[shown])) < 2:
            continue
        seen = None if weights is None else weights[shown]
        with one_blas_thread():
            reader = fit_linear(features[shown], class_ids[shown], int(class_ids.max()) + 1, _STRENGTH, seen)
            scores = reader.scores(features[hidden])
        most_frequent = np.bincount(class_ids[shown], seen).argmax()
        right.append(scores.argmax(axis=1) == class_ids[hidden])
        guessed.append(class_ids[hidden] == most_frequent)
        hidden_weights.append(np.ones(len(hidden)) if weights is None else weights[hidden])
    if not right or not sum(map(np.sum, hidden_weights)):
        return 0.0, 0.0
    counted = np.concatenate(hidden_weights)
    accuracy, chance = (float(np.average(np.concatenate(each), weights=counted)) for each in (right, guessed))
    n_hidden = len(np.unique(np.concatenate(folds)))  # further rounds of folds hide the same rows again
    return max(accuracy - chance, 0.0) / max(1 - chance, 1e-9), float(n_hidden)
