"""How good each given label is, by two cheap models that have not seen it; and labels that had better be others.

Whatever reads the labels of a fit, all of them are judged in the same way, by rows of E alone:

- a ridge regression on the classes, which needs no folds to leave a row out (`leave_one_out`): what holds for all rows;
- Poisson learning on a graph of at most 2,000 rows, a fifth of the labels hidden at a time: what holds among near ones,
  unlabelled ones included.

The mean of both, at the temperature that suits the labels (`readers.wrong_labels`), ranks them. The regression learns
from at most 10,000 labels; the others are judged by it as new rows are. So many labels cost a time in proportion to
their number, and their products with the landmarks are held for one block at a time.

A ridge regression on the classes of labelled rows, and what it says of each without its own label.

For a regression that is linear in the labels, hiding one of them needs no new fit: with h the weight that a row's own
label has in its fitted value, the value without it is (fitted − h · own) / (1 − h), exactly. One eigen-decomposition
serves all rows and all strengths of the penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from ..core.arrays import ClassIds, Mask, Matrix, Rows, Weights
from ..data.labels import split_labels
from ..engine.blocks import row_blocks
from ..features.representation import Representation
from ..readers.graph import N_DIRECTIONS, Graph, GraphSpace, join_rows
from ..readers.product_readers import draw_graph_rows, keep_labels, thin, whole_space
from ..readers.temperature import Mistakes, choose_temperature, log_loss
from ..readers.wrong_labels import LabelVerdicts, WrongLabels, estimate_wrong, keep_every_class
from .options import JUDGED_FOLDS, JUDGED_GRAPH, JUDGED_LABELS, JUDGED_TOGETHER

_MOST_JUDGING = 2000  # labels that strength, temperatures and the share of wrong ones are chosen by
_ALPHA = 0.99  # as for the reader
_ROUNDS = 3  # a corrected label helps to judge the others


class LabelJudge:
    """Two models over the labelled rows of a fit, ready for any labels of these rows.

    Parameters
    ----------
    source : Representation
        Rows and landmarks.
    rows : ndarray
        The labelled rows, ascending.
    class_ids : ndarray
        Their class numbers.
    row_weights : ndarray of shape (n_rows,), or None
        Weights of all rows; those of weight 0 are judged, but teach nothing.
    """

    def __init__(
        self,
        source: Representation,
        rows: Rows,
        class_ids: ClassIds,
        row_weights: Weights = None,
        n_threads: int = 1,
        *,
        on_cluster: bool = False,
    ) -> None:
        self.source, self.rows, self.given = source, rows, class_ids
        self.n_classes = int(class_ids.max()) + 1
        self._features = whole_space(source.landmarks, len(source.scaler.sizes))
        weights = np.ones(len(rows)) if row_weights is None else row_weights[rows]
        speaking = np.flatnonzero(weights > 0)
        self._learned = thin(speaking, class_ids, JUDGED_LABELS)
        self._weights = np.zeros(len(rows))
        self._weights[self._learned] = weights[self._learned]
        self._can_be_judged = _has_others(class_ids, self._weights > 0)
        self._judging = thin(np.flatnonzero(self._can_be_judged), class_ids, _MOST_JUDGING)
        labelled = keep_labels(rows[speaking], class_ids[speaking], row_weights, None)
        draw = np.random.RandomState(0)  # the draws of a fit stay what they are
        self._members = draw_graph_rows(source.cross.n_rows, labelled, draw, JUDGED_GRAPH, with_others=not on_cluster)
        features = self._features.coordinates(source.cross.take(rows[self._learned]))
        self._space: RidgeSpace = make_ridge_space(features, None if row_weights is None else weights[self._learned])
        self._coordinates = self._space.coordinates(features)
        space = GraphSpace(self._features.weights[:, -N_DIRECTIONS:])  # the leading ones
        graph_weights = None if row_weights is None else row_weights[self._members]
        points = space.coordinates(source.cross.take(self._members))
        self._graph: Graph = join_rows(points, space, graph_weights, n_threads)

    def judge(self, class_ids: ClassIds) -> LabelVerdicts:
        """Judge the labels given by models that learn from these labels of the same rows."""
        models = _Models(self, class_ids)
        quality, wrong = np.full(len(class_ids), np.nan), np.zeros(len(class_ids))
        preferred = self.given.copy()
        for block in row_blocks(len(class_ids), JUDGED_TOGETHER):
            places = np.arange(block.start, block.stop)[self._can_be_judged[block]]
            if not len(places):
                continue
            given, each = self.given[places], np.arange(len(places))
            found = models.wrong.sharpen(models.probabilities(places))
            quality[places], preferred[places] = found[each, given], found.argmax(axis=1)
            told = models.wrong.given_too(found, given)[each, preferred[places]]
            wrong[places] = np.where(preferred[places] != given, told, 0.0)
        return LabelVerdicts(quality, preferred, wrong)

    def correct(self, threshold: float) -> ClassIds:
        """Return the labels, those changed for which another class has more than this probability."""
        corrected = self.given.copy()
        for _ in range(_ROUNDS):
            verdicts = self.judge(corrected)
            changed = keep_every_class(self.given, verdicts.wrong > threshold)
            found = np.where(changed, verdicts.preferred, self.given)
            if np.array_equal(found, corrected):
                break
            corrected = found
        return corrected


class _Models:
    """The two models with labels, and how sure they may be."""

    def __init__(self, judge: LabelJudge, class_ids: ClassIds) -> None:
        self.judge, self.class_ids = judge, class_ids
        self._set_potentials()
        places, given = judge._judging, judge.given[judge._judging]
        products = judge.source.cross.take(judge.rows[places])
        coordinates = judge._space.coordinates(judge._features.coordinates(products))
        learned, weights = judge._learned, judge._weights
        space = judge._space
        moments, shares = fit_moments(space, judge._coordinates, class_ids[learned], judge.n_classes, weights[learned])

        def judged(strength: float) -> tuple[float, LeaveOneOut, float, Matrix]:
            model = LeaveOneOut(space, moments, shares, space.penalty(strength))
            scores = model.scores(coordinates, class_ids[places], weights[places])
            temperature = choose_temperature(scores, given, Mistakes())
            found: Matrix = softmax(scores / temperature, axis=1)
            return float(log_loss(found, given).mean()), model, temperature, found

        _, self._ridge, self._ridge_temperature, by_ridge = min(map(judged, STRENGTHS), key=lambda found: found[0])
        near = self._graph_scores(places, products)
        self._graph_temperature = choose_temperature(near, given, Mistakes())
        mean = (by_ridge + softmax(near / self._graph_temperature, axis=1)) / 2
        self.wrong: WrongLabels = estimate_wrong(mean, given)

    def _set_potentials(self) -> None:
        """Spread the labels over the graph, a fold of them hidden each time and, last, none."""
        judge = self.judge
        inside = np.flatnonzero(np.isin(judge.rows, judge._members))  # labelled rows in the graph
        folds = [inside[fold] for fold in split_labels(judge.given[inside], JUDGED_FOLDS, np.random.RandomState(0))]
        shown = [np.setdiff1d(inside, fold) for fold in [*folds, np.empty(0, dtype=np.intp)]]
        labels = [(np.searchsorted(judge._members, judge.rows[some]), self.class_ids[some]) for some in shown]
        self._potentials: npt.NDArray[np.float32] = judge._graph.potential(labels, judge.n_classes, _ALPHA)
        self._fold_of = np.full(len(judge.rows), len(folds), dtype=np.intp)
        for number, fold in enumerate(folds):
            self._fold_of[fold] = number

    def _graph_scores(self, places: Rows, products: Matrix) -> Matrix:
        """Return the potential of the classes at labelled rows, without their labels."""
        near, scores = self.judge._graph.rows.weights(products), np.empty((len(places), self.judge.n_classes))
        for fold, here in _groups(self._fold_of[places]):
            scores[here] = near[here] @ self._potentials[fold]
        return scores

    def probabilities(self, places: Rows) -> Matrix:
        """Return the probabilities of labelled rows without their labels."""
        judge = self.judge
        products = judge.source.cross.take(judge.rows[places])
        coordinates = judge._space.coordinates(judge._features.coordinates(products))
        scores = self._ridge.scores(coordinates, self.class_ids[places], judge._weights[places])
        by_graph = softmax(self._graph_scores(places, products) / self._graph_temperature, axis=1)
        result: Matrix = (softmax(scores / self._ridge_temperature, axis=1) + by_graph) / 2
        return result


def make_label_judge(
    source: Representation,
    rows: Rows,
    class_ids: ClassIds,
    row_weights: Weights,
    n_threads: int,
    *,
    on_cluster: bool = False,
) -> LabelJudge | None:
    """Return what judges the labels of some rows; None if there are no two classes, or no class has a second label.

    Parameters are those of `LabelJudge`.
    """
    speaking = np.ones(len(rows), dtype=bool) if row_weights is None else row_weights[rows] > 0
    if len(np.unique(class_ids[speaking])) < 2 or not _has_others(class_ids, speaking).any():
        return None
    return LabelJudge(source, rows, class_ids, row_weights, n_threads, on_cluster=on_cluster)


def _has_others(class_ids: ClassIds, speaking: Mask) -> Mask:
    """Return which labels have another one of their class beside them that counts."""
    sizes = np.bincount(class_ids[speaking], minlength=int(class_ids.max()) + 1)
    found: Mask = sizes[class_ids] > speaking
    return found


def _groups(numbers: Rows) -> Iterator[tuple[int, Rows]]:
    """Return each number with the places where it is."""
    for number in np.unique(numbers):
        yield int(number), np.flatnonzero(numbers == number)


STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # of the penalty, in units of the mean square of the rows
_SLIGHT = 1e-10  # part of the largest variance below which a direction holds nothing but rounding


@dataclass(frozen=True)
class RidgeSpace:
    """Labelled rows along their principal directions.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Mean of the rows.
    directions : ndarray of shape (n_features, r)
        Principal directions.
    squares : ndarray of shape (r,)
        Sums of squares along them.
    total : float
        Number of rows, by weight.
    """

    mean: Matrix
    directions: Matrix
    squares: Matrix
    total: float

    def coordinates(self, rows: Matrix) -> Matrix:
        """Return rows along the directions."""
        return np.asarray((rows - self.mean) @ self.directions)

    def penalty(self, strength: float) -> float:
        """Return the penalty of a strength; positive even if all rows are the same."""
        return max(strength * float(self.squares.sum()) / self.total, 1e-300)


def make_ridge_space(rows: Matrix, weights: Weights) -> RidgeSpace:
    """Return the space of labelled rows, of which at least one has a positive weight."""
    wide = np.asarray(rows, dtype=np.float64)
    mean = np.average(wide, axis=0, weights=weights)
    centred = wide - mean
    if weights is not None:
        centred *= np.sqrt(weights)[:, None]
    n_rows, n_features = centred.shape
    values, vectors = np.linalg.eigh(centred @ centred.T if n_rows < n_features else centred.T @ centred)
    kept = values > _SLIGHT * max(float(values[-1]), 1e-300)
    values, vectors = values[kept], vectors[:, kept]
    directions = centred.T @ (vectors / np.sqrt(values)) if n_rows < n_features else vectors
    return RidgeSpace(mean, directions, values, float(n_rows if weights is None else weights.sum()))


@dataclass(frozen=True)
class LeaveOneOut:
    """A fitted regression of one strength: scores of rows without their own labels."""

    space: RidgeSpace
    moments: Matrix  # of shape (r, n_classes): what the labels say along the directions
    shares: Matrix  # of the classes
    penalty: float

    def scores(self, coordinates: Matrix, class_ids: ClassIds, weights: Matrix) -> Matrix:
        """Return one score per row and class.

        Parameters
        ----------
        coordinates : ndarray of shape (n_rows, r)
            Of the rows.
        class_ids : ndarray of shape (n_rows,)
            The labels that it was fitted with.
        weights : ndarray of shape (n_rows,)
            How much each row counted in the fit; 0 if it was not there.
        """
        shrunk = 1 / (self.space.squares + self.penalty)
        fitted = coordinates @ (shrunk[:, None] * self.moments) + self.shares
        own_weight = weights * (1 / self.space.total + np.square(coordinates) @ shrunk)
        fitted[np.arange(len(class_ids)), class_ids] -= own_weight
        return np.asarray(fitted / np.maximum(1 - own_weight, 1e-9)[:, None])


def fit_moments(
    space: RidgeSpace, coordinates: Matrix, class_ids: ClassIds, n_classes: int, weights: Matrix
) -> tuple[Matrix, Matrix]:
    """Return what labels say along the directions, and the share of each class: all that a regression needs of them."""
    shares = np.bincount(class_ids, weights, minlength=n_classes) / space.total
    moments = np.zeros((coordinates.shape[1], n_classes))
    for number in range(n_classes):
        rows: Rows = np.flatnonzero(class_ids == number)
        moments[:, number] = weights[rows] @ coordinates[rows]
    return moments - np.outer(weights @ coordinates, shares), shares
