"""Settings judged on hidden labels.

Every setting is judged by the same splits: a fold's labels are hidden, the landmarks' embedding and the head are
learned from the others, and the hidden rows are scored. Landmarks, products, Gram matrices and codes do not depend on
labels and are shared by all settings that agree on them; a setting then costs a few small eigen-problems or
regressions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax

from ..core.arrays import Matrix, Rows
from ..engine.blocks import one_blas_thread
from ..readers.base import Reader, Space, to_space
from ..readers.graph import share_scores
from ..readers.held_out import hold_out
from ..readers.linear import fit_linear
from ..readers.plain_neighbours import fit_plain_neighbours
from ..readers.temperature import AnyClass, choose_temperature, log_loss, mean_of
from ..readers.view_regressions import fit_view_regressions
from .representation import VisibleLabels
from .search_data import Judgement, SearchData
from .settings import ON_FEATURES, ON_GRAPH, Setting, count_changes

Embeddings = dict[Any, list[Matrix]]
ON_EMBEDDING = ("nearest", "knn", "embedding")
SPACES: dict[str, Space] = {
    "nearest": "unit_embedding",
    "knn": "unit_embedding",
    "embedding": "unit_embedding",
    "codes": "unit_codes",
    "features": "features",
    "views": "features",
}


def prior_doubt(data: SearchData, setting: Setting) -> float:
    """Return what is added to the loss of a setting before it is looked at."""
    changes = int(setting.scaling != data.default_scaling) + int(setting.n_landmarks != data.n_landmarks)
    changes += count_changes(setting)
    doubt = data.options.prior_losses[setting.head] + data.options.change_loss * changes
    return (1 - evidence_weight(data)) * doubt


def shrink_loss(data: SearchData, setting: Setting, loss: float) -> float:
    """Return the loss, drawn towards what is known beforehand when few labels were judged."""
    return evidence_weight(data) * loss + prior_doubt(data, setting)


def evidence_weight(data: SearchData) -> float:
    """Return how much a judgement counts against what is known beforehand, from 0 to 1."""
    return data.n_judged / (data.n_judged + data.options.prior_rows)


def judge(data: SearchData, settings: list[Setting]) -> None:
    """Judge settings that share their codes; those already judged are skipped."""
    embeddings: Embeddings = {}
    for setting in settings:
        if setting in data.judged:
            continue
        start = time.perf_counter()
        with one_blas_thread():
            judgement = _judge_one(data, setting, embeddings)
        judgement = replace(judgement, seconds=time.perf_counter() - start)
        data.judged[setting] = judgement
        data.report(judgement)


def _judge_one(data: SearchData, setting: Setting, embeddings: Embeddings) -> Judgement:
    judged = hold_out(data.folds, len(data.rows), _judge_of(data, setting, embeddings))
    accuracies = [
        mean_of(scores.argmax(axis=1) == data.class_ids[hidden], data.weights_of(data.rows[hidden]))
        for hidden, scores in zip(judged.folds, judged.scores, strict=True)
    ]
    rows, weights = data.judged_rows, data.judged_weights
    scores, class_ids = judged.mean()[rows], data.class_ids[rows]
    temperature = choose_temperature(scores, class_ids, AnyClass(weights))
    held_out = softmax(scores / temperature, axis=1)
    loss = mean_of(log_loss(held_out, class_ids), weights)
    shrunk_loss = shrink_loss(data, setting, loss)
    accuracy = mean_of(scores.argmax(axis=1) == class_ids, weights)
    return Judgement(setting, loss, accuracy, tuple(accuracies), temperature, 0.0, shrunk_loss, held_out)


def _judge_of(data: SearchData, setting: Setting, embeddings: Embeddings) -> Callable[[int, Rows, Rows], Matrix]:
    """Return what scores the rows of a fold by those outside it."""
    if setting.head in ON_GRAPH:
        graph = data.graph(setting)
        visible = [data.visible(fold) for fold in range(len(data.folds))]  # spread together: one pass over the graph
        labels = [(part.rows, part.class_ids) for part in visible]
        if setting.head == "spread":
            scores = share_scores(graph.spread(labels, data.n_classes, setting.strength))
        else:
            scores = graph.potential(labels, data.n_classes, setting.strength)
        return lambda fold, hidden, _: scores[fold][np.searchsorted(graph.members, data.rows[hidden])]
    if setting.head in ON_FEATURES:
        rows = data.known_features(setting).stacked()
    else:
        rows = data.judged_codes(setting).of(data.known_rows)
    key = (setting.l1, setting.ridge, setting.must_link_weight)
    known = embeddings.setdefault(key, []) if setting.head in ON_EMBEDDING else []

    def judge(fold: int, hidden: Rows, _: Rows) -> Matrix:
        visible, embedding = data.visible(fold), None
        if setting.head in ON_EMBEDDING:
            if fold == len(known):
                known.append(data.embed(setting, visible, known[-1] if known else None))
            embedding = known[fold]
        features = to_space(SPACES[setting.head], rows, embedding)
        shown = np.searchsorted(data.known_rows, visible.rows)
        reader = fit_reader(data, setting, features[shown], visible)
        return reader.scores(features[np.searchsorted(data.known_rows, data.rows[hidden])])

    return judge


def fit_reader(data: SearchData, setting: Setting, rows: Any, visible: VisibleLabels) -> Reader:
    """Fit the reader of a setting on the labelled rows that it may see."""
    class_ids, weights = visible.class_ids, visible.weights
    if setting.head == "nearest":
        return fit_plain_neighbours(rows, class_ids, "nearest", 1, weights)
    if setting.head == "knn":
        return fit_plain_neighbours(rows, class_ids, "knn", setting.n_votes, weights)
    if setting.head == "views":
        return _fit_views(data, setting, rows, visible)
    return fit_linear(rows, class_ids, data.n_classes, setting.strength, weights, reads=SPACES[setting.head])


def _fit_views(data: SearchData, setting: Setting, rows: Any, visible: VisibleLabels) -> Reader:
    """Fit a regression on each view, but for views that another scaling treats alike."""
    scaler, seen = data.source(setting).scaler, visible.regressions
    keys = [(id(one), setting.view_weights, setting.strength) for one in scaler.scalers]
    known = {number: seen[key][1] for number, key in enumerate(keys) if key in seen}
    options = data.n_classes, setting.strength, visible.weights, known
    reader = fit_view_regressions(rows, scaler.sizes, visible.class_ids, *options)
    # Scalers are kept with their regressions: another one could get the same id otherwise.
    seen.update(zip(keys, zip(scaler.scalers, reader.views, strict=True), strict=True))
    return reader
