"""Settings judged on hidden labels.

Every setting is judged by the same splits: a fold's labels are hidden, the landmarks' embedding and the head are
learned from the others, and the hidden rows are scored. Landmarks, products, Gram matrices and codes do not depend on
labels and are shared by all settings that agree on them; a setting then costs a few small eigen-problems or
regressions.

The probabilities that settings gave to hidden rows can be averaged, and the mean is judged as they were (`join`). The
embedding always takes part where it may: readers that replaced it were chosen by chance too often, while a mean loses
little where one of them is poor (docs/lab/accuracy.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import softmax

from ..core.arrays import ClassIds, Matrix, Rows, Weights, temper
from ..engine.blocks import one_blas_thread
from ..features.view_weights import ViewWeights
from ..readers.base import Reader, Space, to_space
from ..readers.graph import share_scores
from ..readers.held_out import hold_out
from ..readers.linear import fit_linear
from ..readers.plain_neighbours import fit_plain_neighbours
from ..readers.temperature import AnyClass, average_temperature, choose_temperature, log_loss, mean_of
from ..readers.view_regressions import fit_view_regressions
from .coded_rows import CodedRows, VisibleLabels
from .links import pass_on
from .settings import FOR_FSSMSC, ON_FEATURES, ON_GRAPH, Scaling, Setting, count_changes

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
BESIDE = {"linear": "features", "poisson": "poisson"}  # readers of E, and the heads that they are judged as


@dataclass(frozen=True)
class Judgement:
    """How a setting did on the hidden labels."""

    setting: Setting
    loss: float  # mean log loss, probabilities at the best temperature
    accuracy: float
    split_accuracies: tuple[float, ...]
    temperature: float
    seconds: float
    shrunk_loss: float  # loss, drawn towards what is known beforehand when few labels were judged
    held_out: Matrix  # class probabilities of the judged rows, each without its own label


@dataclass(kw_only=True)
class SearchData(CodedRows):
    """The data of a search: rows, the labels that are hidden in turn, and what was judged."""

    class_ids: ClassIds  # class numbers of the labelled rows
    n_landmarks: int
    other_n_landmarks: list[int]  # that are tried too
    default_scaling: Scaling
    folds: list[Rows]
    report: Callable[[Judgement], None] | None = None
    judged: dict[Setting, Judgement] = field(default_factory=dict)
    planned: set[Setting] = field(default_factory=set)  # settings that the search expects to judge, judged ones too
    _visible: dict[int, VisibleLabels] = field(default_factory=dict)

    @property
    def judged_rows(self) -> Rows:
        """Positions, among the labelled rows, of those that some fold hides."""
        return np.unique(np.concatenate(self.folds))

    @property
    def judged_weights(self) -> Weights:
        """Weights of those."""
        return self.weights_of(self.rows[self.judged_rows])

    @property
    def n_judged(self) -> float:
        """How many those are, weights counted."""
        weights = self.judged_weights
        return float(len(self.judged_rows) if weights is None else weights.sum())

    def weights_of(self, rows: Rows) -> Weights:
        """Sample weights of some rows."""
        return None if self.sample_weights is None else self.sample_weights[rows]

    def visible(self, fold: int | None = None) -> VisibleLabels:
        """Return what a fit may see: everything, or nothing about the rows that a fold hides.

        Pairs with a hidden row are left out: a must-link with a labelled row would tell its label.
        """
        key = -1 if fold is None else fold
        if key not in self._visible:
            hidden = np.empty(0, dtype=np.intp) if fold is None else self.folds[fold]
            shown = np.setdiff1d(np.arange(len(self.rows)), hidden)
            rows, class_ids, pairs = self.rows[shown], self.class_ids[shown], self.pairs
            if pairs is not None:
                left_out = np.zeros(len(self.views), dtype=bool)
                left_out[self.rows[hidden]] = True
                pairs = pairs.without(left_out)
                everyone = pass_on(np.where(left_out, -1, self.labels()), pairs)
                rows = np.flatnonzero(everyone >= 0)
                class_ids = everyone[rows]
            about_rows = self.weights_of(rows), pairs, self.sample_weights
            self._visible[key] = VisibleLabels(rows, class_ids, *about_rows, len(self.views), self.n_classes)
        return self._visible[key]

    def labels(self) -> ClassIds:
        """Class numbers of all rows: −1 but for the labelled rows that count."""
        result = np.full(len(self.views), -1, dtype=np.intp)
        result[self.rows] = self.class_ids
        return result

    def forget(self, kept: set[Scaling]) -> None:
        """Free what belongs to scalings that are out of the race, but for those of good settings."""
        best_first = sorted(self.judged, key=lambda setting: self.judged[setting].shrunk_loss)
        self.keep_scalings({setting.scaling for setting in best_first[: self.options.n_kept]} | kept)


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
        if data.report is not None:
            data.report(judgement)


def _judge_one(data: SearchData, setting: Setting, embeddings: Embeddings) -> Judgement:
    rows, weights = data.judged_rows, data.judged_weights
    judged = hold_out(data.folds, len(data.rows), _judge_of(data, setting, embeddings))
    scores, class_ids = judged.mean()[rows], data.class_ids[rows]
    accuracies = [
        mean_of(own.argmax(axis=1) == data.class_ids[hidden], data.weights_of(data.rows[hidden]))
        for hidden, own in zip(judged.folds, judged.scores, strict=True)
    ]
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


@dataclass(frozen=True)
class Joined:
    """Settings whose readers are averaged."""

    parts: tuple[Setting, ...]  # that of the embedding first, if it takes part
    beside: tuple[str, ...]  # the readers of E that take part
    shrunk_loss: float  # loss of the mean, drawn towards what is known beforehand
    losses: Matrix  # log losses of the judged labels


def join(
    data: SearchData,
    scalings: Sequence[Scaling],
    forms: Sequence[tuple[str, ...]],
    *,
    with_rule: bool,
    view_weights: ViewWeights = None,
) -> list[Joined]:
    """Return the best settings of each scaling in each of the forms, best first; some setting of each was judged.

    Parameters
    ----------
    forms : sequence of tuple
        Readings of E that stand beside the embedding.
    with_rule : bool
        Whether the embedding takes part.
    """
    result = []
    for scaling, form in product(scalings, forms):
        source = scaling, view_weights
        judged = [found for one, found in data.judged.items() if (one.scaling, one.view_weights) == source]
        kinds = [*([FOR_FSSMSC] if with_rule else []), *((BESIDE[name],) for name in form)]
        best = [
            min((j for j in judged if j.setting.head in heads), key=lambda j: j.shrunk_loss, default=None)
            for heads in kinds
        ]
        found = [judgement for judgement in best if judgement is not None]
        if len(found) == len(kinds):
            parts = tuple(judgement.setting for judgement in found)
            result.append(Joined(parts, form, *_judge_mean(data, found)))
    return sorted(result, key=attrgetter("shrunk_loss"))


def _judge_mean(data: SearchData, parts: Sequence[Judgement]) -> tuple[float, Matrix]:
    """Return the shrunk loss of the mean of some readers, and the losses of its labels.

    The shrunk loss is its loss, and the mean of their prior doubts.
    """
    class_ids, weights = data.class_ids[data.judged_rows], data.judged_weights
    if len(parts) == 1:
        return parts[0].shrunk_loss, log_loss(parts[0].held_out, class_ids)
    held_out = np.mean([judgement.held_out for judgement in parts], axis=0)
    losses = log_loss(temper(held_out, average_temperature(held_out, class_ids, weights)), class_ids)
    loss = mean_of(losses, weights)
    return float(np.mean([shrink_loss(data, judgement.setting, loss) for judgement in parts])), losses
