"""Settings judged on hidden labels.

Every setting is judged by the same splits: a fold's labels are hidden, the landmarks' embedding and the head are
learned from the others, and the hidden rows are scored. Landmarks, products, Gram matrices and codes do not depend on
labels and are shared by all settings that agree on them; a setting then costs a few small eigen-problems or
regressions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.parallel import one_blas_thread
from ..inference import softmax
from .experts import fit_head, head_features, stack_features
from .graph import propagate, share_scores
from .heads import choose_temperature, log_loss
from .representation import embed_landmarks
from .settings import Setting, count_changes
from .task import Judgement, Task

Embeddings = dict[Any, list[npt.NDArray[np.float64]]]
ON_EMBEDDING = ("nearest", "knn", "embedding")
_PRIOR_ROWS = 20.0  # judged rows at which evidence and prior belief weigh the same
# Prior belief in a head, in units of log loss: with next to no labels the nearest labelled row and the graph are hard
# to beat, and regressions on many features have little to go by.
_PRIOR_LOSS = {"nearest": 0.0, "graph": 0.0, "embedding": 0.1, "knn": 0.2, "features": 0.4, "codes": 0.5}
_CHANGE_LOSS = 0.1  # for each value that is not the default's


def prior_doubt(task: Task, setting: Setting) -> float:
    """Return how much the belief in a setting is worse than its loss, before the loss is looked at."""
    changes = int(setting.scaling != task.default_scaling) + int(setting.n_landmarks != task.n_landmarks)
    changes += count_changes(setting)
    return (1 - _weight(len(task.judged_rows))) * (_PRIOR_LOSS[setting.head] + _CHANGE_LOSS * changes)


def _weight(n_judged: int) -> float:
    return n_judged / (n_judged + _PRIOR_ROWS)


def judge(task: Task, settings: list[Setting]) -> None:
    """Judge settings that share their codes; those already judged are skipped."""
    embeddings: Embeddings = {}
    for setting in settings:
        if setting in task.judged:
            continue
        start = time.perf_counter()
        with one_blas_thread():
            judgement = _judge_one(task, setting, embeddings)
        judgement = replace(judgement, seconds=time.perf_counter() - start)
        task.judged[setting] = judgement
        task.report(f"{_name(setting)}: accuracy {judgement.accuracy:.3f}, log loss {judgement.loss:.3f}")


def _name(setting: Setting) -> str:
    return f"{setting.scaling}, ridge {setting.ridge:g}, l1 {setting.l1:g}, {setting.head}"


def _judge_one(task: Task, setting: Setting, embeddings: Embeddings) -> Judgement:
    scores = np.zeros((len(task.rows), task.n_classes))
    times = np.zeros(len(task.rows))
    accuracies = []
    for hidden, found in _hidden_scores(task, setting, embeddings):
        scores[hidden] += found
        times[hidden] += 1
        accuracies.append(float(np.mean(found.argmax(axis=1) == task.classes[hidden])))
    judged = task.judged_rows
    scores, classes = scores[judged] / times[judged, None], task.classes[judged]
    temperature = choose_temperature(scores, classes)
    held_out = softmax(scores / temperature)
    loss = float(log_loss(held_out, classes).mean())
    belief = _weight(len(judged)) * loss + prior_doubt(task, setting)
    accuracy = float(np.mean(scores.argmax(axis=1) == classes))
    return Judgement(setting, loss, accuracy, tuple(accuracies), temperature, 0.0, belief, held_out)


def _hidden_scores(
    task: Task, setting: Setting, embeddings: Embeddings
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.floating]]]:
    """Yield each fold and the scores of its rows by those outside it."""
    splits = task.splits
    if setting.head == "graph":
        labels = [(task.rows[shown], task.classes[shown]) for _, shown in splits]
        spread = propagate(task.graph(setting).edges, labels, task.n_classes, setting.strength)
        for (hidden, _), shares in zip(splits, spread, strict=True):
            yield hidden, share_scores(shares[task.rows[hidden]])
        return
    if setting.head == "features":
        rows = stack_features(task.source(setting).scaler.scale(task.views, task.rows, task.present))
    else:
        rows = task.code_set(setting).codes[task.rows]
    key = (setting.l1, setting.ridge, setting.must_link_weight)
    if setting.head in ON_EMBEDDING and key not in embeddings:
        embeddings[key] = _fold_embeddings(task, setting)
    for number, (hidden, shown) in enumerate(splits):
        embedding = embeddings[key][number] if setting.head in ON_EMBEDDING else None
        features = head_features(setting.head, rows, embedding)
        head = fit_head(setting, features[shown], task.classes[shown], task.n_classes)
        yield hidden, head.scores(features[hidden])


def _fold_embeddings(task: Task, setting: Setting) -> list[npt.NDArray[np.float64]]:
    """Embeddings of the landmarks, each learned without the labels of one fold."""
    code_set = task.code_set(setting)
    place = (setting.scaling, setting.n_landmarks)
    found = []
    for _, shown in task.splits:
        rows, classes, start = task.rows[shown], task.classes[shown], task.starts.get(place)
        embedding = embed_landmarks(code_set, rows, classes, task.n_classes, setting.must_link_weight, start)
        task.starts.setdefault(place, embedding)
        found.append(embedding)
    return found
