"""The search: settings judged on hidden labels, from the coarse choices to the fine ones.

Every setting is judged by the same splits: a fold's labels are hidden, the landmarks' embedding and the head are
learned from the others, and the hidden rows are scored. Landmarks, products, Gram matrices and codes do not depend on
labels and are shared by all settings that agree on them; a setting then costs a few small eigen-problems or
regressions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.parallel import one_blas_thread
from ..inference import softmax
from ..scaling import Presence
from ..views import Views
from .experts import Expert, ExpertGroup, fit_head, head_features, stack_features
from .heads import Codes, choose_temperature, log_loss
from .representation import CodeSet, Representation, embed_landmarks, encode, represent
from .settings import Setting, heads_of

N_FINALISTS = 2  # scalings that are searched further
_RIDGES = (0.3, 3.0)
_L1S = (0.05,)
_FEATURE_STRENGTHS = (1.0, 10.0, 100.0)
_PRIOR_ROWS = 20.0  # judged rows at which evidence and prior belief weigh the same
# Prior belief in a head, in units of log loss: with next to no labels the nearest labelled row is hard to beat, and
# regressions on many features have little to go by.
_PRIOR_LOSS = {"nearest": 0.0, "embedding": 0.1, "knn": 0.2, "features": 0.4, "codes": 0.5}


@dataclass(frozen=True)
class Judgement:
    """How a setting did on the hidden labels."""

    setting: Setting
    loss: float  # mean log loss, probabilities at the best temperature
    accuracy: float
    split_accuracies: tuple[float, ...]
    temperature: float
    seconds: float
    belief: float  # loss, drawn towards what is known beforehand when few labels were judged


@dataclass
class Task:
    """The data of a search."""

    views: Views
    present: Presence
    weights: npt.NDArray[np.float64] | None
    rows: npt.NDArray[np.intp]  # labelled rows
    classes: Codes  # their class numbers
    n_classes: int
    n_landmarks: int
    folds: list[npt.NDArray[np.intp]]
    seed: int
    n_threads: int
    report: Callable[[str], None]
    judged: dict[Setting, Judgement] = field(default_factory=dict)
    _sources: dict[Any, Representation] = field(default_factory=dict)
    _codes: dict[Any, CodeSet] = field(default_factory=dict)

    def source(self, setting: Setting) -> Representation:
        """Scaling and landmarks of a setting."""
        key = (setting.scaling, setting.n_landmarks)
        if key not in self._sources:
            rng = np.random.RandomState(self.seed)
            self._sources[key] = represent(
                self.views, setting.choice, setting.n_landmarks, rng, self.n_threads, self.present, self.weights
            )
        return self._sources[key]

    def code_set(self, setting: Setting) -> CodeSet:
        """Codes of a setting."""
        key = (setting.scaling, setting.n_landmarks, setting.l1, setting.ridge)
        if key not in self._codes:
            self._codes[key] = encode(self.source(setting), setting.l1, setting.ridge, self.n_threads)
        return self._codes[key]

    def forget(self, kept: set[str | tuple[str, ...]]) -> None:
        """Free what belongs to scalings that are out of the race, but for the codes of good settings."""
        best = {s.scaling for s in sorted(self.judged, key=lambda s: self.judged[s].belief)[:20]} | kept
        self._codes = {key: value for key, value in self._codes.items() if key[0] in best}
        self._sources = {key: value for key, value in self._sources.items() if key[0] in best}


def search(task: Task, base: Setting, scalings: list[str | tuple[str, ...]]) -> Iterator[list[Judgement]]:
    """Judge settings stage by stage, yielding the judgements of each step; those already judged are skipped."""
    for scaling in scalings:
        first = replace(base, scaling=scaling)
        yield _judge(task, heads_of(first))
        yield _judge(task, [replace(first, head="features", strength=c) for c in _FEATURE_STRENGTHS])
    finalists = sorted(scalings, key=lambda scaling: _best_belief(task, scaling))[:N_FINALISTS]
    task.forget(set(finalists))
    for scaling in finalists:
        for ridge in _RIDGES:
            yield _judge(task, heads_of(replace(base, scaling=scaling, ridge=ridge)))
    best = min((s for s in task.judged if s.head != "features"), key=lambda s: task.judged[s].belief)
    for l1 in _L1S:
        yield _judge(task, heads_of(replace(best, l1=l1)))
    for weight in (1e3, 1e5):
        yield _judge(task, [s for s in heads_of(replace(best, must_link_weight=weight)) if s.head != "codes"])


def _best_belief(task: Task, scaling: str | tuple[str, ...]) -> float:
    return min(judgement.belief for setting, judgement in task.judged.items() if setting.scaling == scaling)


def _judge(task: Task, settings: list[Setting]) -> list[Judgement]:
    """Judge settings that share their codes."""
    new = [setting for setting in settings if setting not in task.judged]
    embeddings: dict[Any, list[npt.NDArray[np.float64]]] = {}
    found = []
    for setting in new:
        start = time.perf_counter()
        with one_blas_thread():
            judgement = _judge_one(task, setting, embeddings)
        judgement = replace(judgement, seconds=time.perf_counter() - start)
        task.judged[setting] = judgement
        found.append(judgement)
        task.report(f"{_name(setting)}: accuracy {judgement.accuracy:.3f}, log loss {judgement.loss:.3f}")
    return found


def _name(setting: Setting) -> str:
    return f"{setting.scaling}, ridge {setting.ridge:g}, l1 {setting.l1:g}, {setting.head}"


def _judge_one(task: Task, setting: Setting, embeddings: dict[Any, list[npt.NDArray[np.float64]]]) -> Judgement:
    n_labelled = len(task.rows)
    needs_embedding = setting.head in ("nearest", "knn", "embedding")
    if setting.head == "features":
        rows = stack_features(task.source(setting).scaler.scale(task.views, task.rows, task.present))
    else:
        rows = task.code_set(setting).codes[task.rows]
    key = (setting.l1, setting.ridge, setting.must_link_weight)
    if needs_embedding and key not in embeddings:
        embeddings[key] = _fold_embeddings(task, setting)
    scores = np.zeros((n_labelled, task.n_classes))
    times = np.zeros(n_labelled)
    accuracies = []
    for number, hidden in enumerate(task.folds):
        shown = np.setdiff1d(np.arange(n_labelled), hidden)
        embedding = embeddings[key][number] if needs_embedding else None
        features = head_features(setting.head, rows, embedding)
        head = fit_head(setting, features[shown], task.classes[shown], task.n_classes)
        found = head.scores(features[hidden])
        scores[hidden] += found
        times[hidden] += 1
        accuracies.append(float(np.mean(found.argmax(axis=1) == task.classes[hidden])))
    judged = np.flatnonzero(times > 0)
    scores, classes = scores[judged] / times[judged, None], task.classes[judged]
    temperature = choose_temperature(scores, classes)
    loss = float(log_loss(softmax(scores / temperature), classes).mean())
    prior = _PRIOR_LOSS[setting.head]
    weight = len(judged) / (len(judged) + _PRIOR_ROWS)
    belief = weight * loss + (1 - weight) * prior
    accuracy = float(np.mean(scores.argmax(axis=1) == classes))
    return Judgement(setting, loss, accuracy, tuple(accuracies), temperature, 0.0, belief)


def _fold_embeddings(task: Task, setting: Setting) -> list[npt.NDArray[np.float64]]:
    """Embeddings of the landmarks, each learned without the labels of one fold."""
    code_set = task.code_set(setting)
    everything = np.arange(len(task.rows))
    start = None
    found = []
    for hidden in task.folds:
        shown = np.setdiff1d(everything, hidden)
        embedding = embed_landmarks(
            code_set, task.rows[shown], task.classes[shown], task.n_classes, setting.must_link_weight, start
        )
        start = embedding if start is None else start
        found.append(embedding)
    return found


def finish(task: Task, chosen: list[Judgement]) -> list[ExpertGroup]:
    """Fit the chosen settings with all labels and put together those that share their work."""
    groups: dict[Any, ExpertGroup] = {}
    encoders: dict[Any, list[Expert]] = {}
    embeddings: dict[Any, npt.NDArray[np.float64]] = {}
    for judgement in chosen:
        setting = judgement.setting
        source = task.source(setting)
        group = groups.setdefault(
            (setting.scaling, setting.n_landmarks), ExpertGroup(source.scaler, source.landmarks, [], [])
        )
        if setting.head == "features":
            rows = stack_features(source.scaler.scale(task.views, task.rows, task.present))
            with one_blas_thread():
                head = fit_head(setting, rows, task.classes, task.n_classes)
            group.on_features.append(Expert(setting, head, judgement.temperature, None))
            continue
        code_set = task.code_set(setting)
        key = (setting.scaling, setting.n_landmarks, setting.l1, setting.ridge)
        if key not in encoders:
            encoders[key] = []
            group.on_codes.append((code_set.encoder, encoders[key]))
        embedding = None
        if setting.head != "codes":
            place = (*key, setting.must_link_weight)
            if place not in embeddings:
                embeddings[place] = embed_landmarks(
                    code_set, task.rows, task.classes, task.n_classes, setting.must_link_weight, tol=1e-6
                )
            embedding = embeddings[place]
        features = head_features(setting.head, code_set.codes[task.rows], embedding)
        with one_blas_thread():
            head = fit_head(setting, features, task.classes, task.n_classes)
        encoders[key].append(Expert(setting, head, judgement.temperature, embedding))
    return list(groups.values())
