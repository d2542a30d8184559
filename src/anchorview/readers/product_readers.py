"""Readers of products with the landmarks, and how they are fitted: a linear one, and labels on a graph of some rows.

Less its mean, a row of E = X Uᵀ holds the row's coordinates in the span of the centred landmarks, but for a linear map
(`graph.make_space`).

- *Linear*: a logistic regression on these coordinates; with fewer features than landmarks they are the scaled features,
  rotated. It knows what holds for all rows of a class, where the nearest rows of an embedding are noise.
- *Poisson*: Poisson learning (`poisson`) on the neighbour graph of a sample of the rows, labelled ones first; any row
  takes the mean of its nearest rows of the sample. It knows what holds among neighbours only. The sample is bounded, so
  that time grows with the rows, not with their square.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from ..core.arrays import ClassIds, Matrix, Rows, Weights, squared_norms
from ..features.products import CompletedProducts
from ..features.representation import Representation
from ..solver.elastic_net import ElasticNetEncoder
from .base import READ_GRAPH, READ_LABELS, class_probabilities
from .graph import FittedRows, GraphSpace, PoissonReader, Products, join_rows, make_space
from .graph_members import GraphMembers
from .held_out import folds_to_judge, hold_out, rows_to_judge
from .linear import FoldedReader, LinearReader, fit_linear
from .temperature import Mistakes, choose_temperature, log_loss, usual_temperature

_MOST_JUDGING = 2000  # labels, from which a strength is judged
_STRENGTHS = (1.0, 10.0, 100.0)  # C of the regression, of which hidden labels choose
_USUAL_STRENGTH = 10.0
_MOST_GROWN = 2  # times the usual number of rows, to which labels that come later may enlarge the graph
_ALPHA = 0.99  # how little the potential is damped: walks of some 100 edges count
_EXACT: dict[str, Any] = {"tol": 1e-6, "max_iter": 2000}  # the labels must not hang on where a solver stopped


@dataclass(frozen=True)
class Labelled:
    """The labelled rows that readers are fitted on.

    Parameters
    ----------
    rows : ndarray
        Their numbers, ascending.
    class_ids : ndarray
        Their class numbers; every class has a row.
    n_classes : int
        Number of classes.
    row_weights : ndarray of shape (n_rows,), or None
        Weights of all rows of the fit, positive for labelled ones.
    class_balance : {"balanced"}, optional
        Give every class the same weight in the regression.
    """

    rows: Rows
    class_ids: ClassIds
    n_classes: int
    row_weights: Weights = None
    class_balance: str | None = None

    def weights(self) -> Weights:
        """Return the weights of the labelled rows in the regression."""
        weights = None if self.row_weights is None else self.row_weights[self.rows]
        if self.class_balance is None:
            return weights
        totals = np.bincount(self.class_ids, weights)
        share: Matrix = totals.sum() / (len(totals) * totals[self.class_ids])
        return share if weights is None else weights * share


def keep_labels(rows: Rows, class_ids: ClassIds, row_weights: Weights, class_balance: str | None) -> Labelled:
    """Return labelled rows; one of weight 0, which is there if its class has no others, counts like the lightest."""
    if row_weights is not None and not row_weights[rows].all():
        row_weights = row_weights.copy()
        row_weights[rows] = np.maximum(row_weights[rows], row_weights[row_weights > 0].min())
    return Labelled(rows, class_ids, int(class_ids.max()) + 1, row_weights, class_balance)


@dataclass(frozen=True)
class ProductReaders:
    """Readers of E, and the probabilities that each gives to the rows of `folds_to_judge` without their labels."""

    readers: tuple[FoldedReader | PoissonReader, ...]
    graph: FittedRows | None  # of the one that reads a graph
    held_out: tuple[Matrix, ...]
    labelled: Labelled
    members: GraphMembers | None = None  # rows of the graph, if there is one

    def votes(self, products: Matrix) -> Matrix:
        """Return the sum of the class probabilities that rows of E get."""
        return self.votes_near(products, None if self.graph is None else self.graph.weights(products))

    def votes_near(self, products: Matrix, near: Any) -> Matrix:
        """Return the same of rows whose weights in the graph are known."""
        shares = [class_probabilities(reader, near if reader.reads == "graph" else products) for reader in self.readers]
        result: Matrix = np.sum(shares, axis=0)
        return result


def fit_product_readers(
    names: Sequence[str],
    source: Representation,
    labelled: Labelled,
    rng: np.random.RandomState,
    n_threads: int = 1,
    *,
    encoder: ElasticNetEncoder | None = None,
    members: GraphMembers | None = None,
) -> ProductReaders:
    """Fit readers of E, "linear" or "poisson", at least one; they need no embedding.

    Parameters
    ----------
    encoder : ElasticNetEncoder, optional
        What completes rows that lack views (`complete_products`); needed if there are any.
    members : GraphMembers, optional
        Rows of the graph of an earlier fit, which stay in it; by default they are drawn.
    """
    if "poisson" in names:
        members = _graph_members(source.cross.n_rows, labelled, rng, members)
    cross = source.cross if encoder is None else CompletedProducts(source.cross, encoder)
    fitted: list[tuple[FoldedReader | PoissonReader, Matrix]] = []
    graph = None
    for name in names:
        if name == "linear":
            fitted.append(_fit_linear(source, cross, labelled))
        else:
            reader, shares, graph = _fit_poisson(source.landmarks, cross, labelled, members, n_threads)
            fitted.append((reader, shares))
    readers, held_out = map(tuple, zip(*fitted, strict=True))
    return ProductReaders(readers, graph, held_out, labelled, members if "poisson" in names else None)


def _graph_members(
    n_rows: int, labelled: Labelled, rng: np.random.RandomState, before: GraphMembers | None
) -> GraphMembers:
    """Return the rows of the graph: those of an earlier one and newly labelled ones, or drawn anew if it has grown."""
    if before is not None:
        members = before.with_labelled(labelled.rows)
        if len(members.rows) <= _MOST_GROWN * READ_GRAPH:
            return members
    return GraphMembers(draw_graph_rows(n_rows, labelled, rng), labelled.rows)


def _fit_linear(source: Representation, cross: Products, labelled: Labelled) -> tuple[FoldedReader, Matrix]:
    """Return the regression whose strength and temperature suit hidden labels, and its probabilities of these."""
    space = whole_space(source.landmarks, len(source.scaler.sizes))
    class_ids, weights = labelled.class_ids, labelled.weights()
    learned = thin(np.arange(len(class_ids)), class_ids, READ_LABELS)
    needed = np.union1d(learned, _judged_rows(class_ids))
    rows = space.coordinates(cross.take(labelled.rows[needed]))

    def fit(some: Rows, strength: float, **how: Any) -> LinearReader:
        features, some_weights = rows[np.searchsorted(needed, some)], None if weights is None else weights[some]
        return fit_linear(features, class_ids[some], labelled.n_classes, strength, some_weights, **how)

    def judge(strength: float) -> tuple[float, float, float, Matrix]:
        def scores(asked: Rows, shown: Rows) -> Matrix:
            some = thin(np.intersect1d(shown, learned), class_ids, _MOST_JUDGING)
            return fit(some, strength).scores(rows[np.searchsorted(needed, asked)])

        temperature, probabilities, loss = _hold_out(class_ids, scores)
        return loss, strength, temperature, probabilities

    chosen: tuple[float, float, float, Matrix] = (0.0, _USUAL_STRENGTH, 1.0, np.empty((0, labelled.n_classes)))
    if len(_judged_rows(class_ids)):
        chosen = min(map(judge, _STRENGTHS), key=itemgetter(0))
    fitted = fit(learned, chosen[1], **_EXACT)
    folded = GraphSpace(np.asarray(space.weights @ fitted.coefficients.T, dtype=np.float64))
    return FoldedReader(folded, fitted.intercept, chosen[1], chosen[2]), chosen[3]


def _judged_rows(class_ids: ClassIds) -> Rows:
    """Return the labelled rows that are judged without their labels, ascending; none if no label can be hidden."""
    return np.unique(rows_to_judge(class_ids))


def thin(rows: Rows, class_ids: ClassIds, most: int) -> Rows:
    """Return about so many of the rows at most, evenly, and one of each class at least."""
    if len(rows) <= most:
        return rows
    first = rows[np.unique(class_ids[rows], return_index=True)[1]]
    return np.union1d(rows[:: -(-len(rows) // most)], first)


def whole_space(landmarks: Matrix, n_views: int) -> GraphSpace:
    """Return the space of all landmarks; of one direction in which nothing varies if they are all the same.

    Rows that are scaled have unit length in each view. Longer ones, of features as they are, are made as short: the
    penalty of the regression would mean little to them, and it would stop far from its optimum, wherever rounding led.
    """
    space = make_space(landmarks, len(landmarks))
    if not space.weights.shape[1]:
        return GraphSpace(np.zeros((len(landmarks), 1), dtype=landmarks.dtype))
    length = float(squared_norms(landmarks.astype(np.float64)).mean())
    return space if length <= n_views else GraphSpace(space.weights * np.sqrt(n_views / length))


def _fit_poisson(
    landmarks: Matrix, cross: Products, labelled: Labelled, drawn: GraphMembers | None, n_threads: int
) -> tuple[PoissonReader, Matrix, FittedRows]:
    """Return the potential on the graph of a sample, at a temperature that suits hidden labels; its shares of these."""
    assert drawn is not None
    space, members = make_space(landmarks), drawn.rows
    weights = None if labelled.row_weights is None else labelled.row_weights[members]
    graph = join_rows(space.coordinates(cross.take(members)), space, weights, n_threads)
    is_member = np.isin(labelled.rows, members)

    def potential(shown: Rows) -> npt.NDArray[np.float32]:
        inside = shown[is_member[shown]]
        places = np.searchsorted(members, labelled.rows[inside])
        found: npt.NDArray[np.float32] = graph.potential(
            [(places, labelled.class_ids[inside])], labelled.n_classes, _ALPHA
        )[0]
        return found

    judged, whole = _judged_rows(labelled.class_ids), potential(np.arange(len(labelled.rows)))
    near = graph.rows.weights(cross.take(labelled.rows[judged] if len(judged) else labelled.rows))

    def scores(asked: Rows, shown: Rows) -> Matrix:
        return np.asarray(near[np.searchsorted(judged, asked)] @ potential(shown), dtype=np.float64)

    temperature, probabilities, _ = _hold_out(labelled.class_ids, scores)
    if not len(judged):
        temperature = max(usual_temperature(np.asarray(near @ whole)), 1e-30)
    return PoissonReader(whole, temperature, is_double=True), probabilities, graph.rows


def draw_graph_rows(
    n_rows: int,
    labelled: Labelled,
    rng: np.random.RandomState,
    most: int = READ_GRAPH,
    *,
    with_others: bool = True,
) -> Rows:
    """Return the rows of a graph, ascending: labelled ones, up to half of it, one of each class at least, and others.

    Without unlabelled rows if not `with_others`.
    """
    rows, class_ids = labelled.rows, labelled.class_ids
    if len(rows) > most // 2:
        first = np.unique(class_ids, return_index=True)[1]
        n_others = max(most // 2 - len(first), 0)
        others = rng.choice(np.setdiff1d(np.arange(len(rows)), first), n_others, replace=False)
        rows = np.sort(rows[np.concatenate([first, others])])
    if not with_others:
        return rows
    counts = np.ones(n_rows, dtype=bool) if labelled.row_weights is None else labelled.row_weights > 0
    counts[labelled.rows] = False
    unlabelled = np.flatnonzero(counts)
    if len(unlabelled) > most - len(rows):
        unlabelled = rng.choice(unlabelled, max(most - len(rows), 0), replace=False)
    return np.sort(np.concatenate([rows, unlabelled]))


def _hold_out(class_ids: ClassIds, scores: Callable[[Rows, Rows], Matrix]) -> tuple[float, Matrix, float]:
    """Return the temperature that suits hidden labelled rows, their probabilities with it, and the mean log loss.

    `scores` takes the rows asked for and those whose labels are shown.
    """
    folds, asked = folds_to_judge(class_ids)
    if not folds:
        return 1.0, np.empty((0, int(class_ids.max()) + 1)), 0.0
    found = hold_out(folds, len(class_ids), lambda fold, _, shown: scores(asked[fold], shown)).scores
    logits, truth = np.concatenate(found), class_ids[np.concatenate(asked)]
    temperature = choose_temperature(logits, truth, Mistakes())
    probabilities: Matrix = softmax(logits / temperature, axis=1)
    return temperature, probabilities, float(log_loss(probabilities, truth).mean())
