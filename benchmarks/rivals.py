"""What a user would pick instead: simple classifiers on the views side by side, tuned on the labels given.

Every rival chooses its parameters by cross-validation on the labelled rows (LabelHidingKFold: a class with one labelled
row is always in training), and with them the scaling of the features, among those that AnchorViewClassifier tries:
each view is
scaled and its rows brought to unit length. Sparse views are reduced to 150 features (LSA); logistic regression may
also choose tf-idf. The rows of LabelSpreading, Poisson and SelfTrainingClassifier include the unlabelled ones. Poisson
learning (Calder et al., 2020) has no implementation among the libraries used here; it is the one of anchorview.tuning.
Average is the mean of the probabilities of logistic regression, SVC and label spreading, each tuned, and of a logistic
regression for each view.

The names that end in "-default" choose nothing: scikit-learn's own defaults, min-max scaling.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from anchorview import LabelHidingKFold, Views
from anchorview.core.arrays import ClassIds, Matrix, Rows, is_sparse
from anchorview.data.labels import encode_labels
from anchorview.engine.blocks import count_threads
from anchorview.features.neighbours import nearest_points
from anchorview.features.scaling import fit_scaling
from anchorview.readers.graph import make_graph, solve_potential

N_FOLDS = 5
SCALINGS = {"dense": ["minmax", "symmetric", "standard", "l2"], "sparse": ["lsa"]}
# Of settings that find as many hidden labels, with the same likelihood, the first is taken: defaults come first.
GRIDS: dict[str, dict[str, list[Any]]] = {
    "LogisticRegression": {"C": [10.0, 1.0, 0.1, 1e2, 1e3, 1e4], "scalings_sparse": ["lsa", "tfidf"]},
    "SVC": {"C": [10.0, 1.0, 1e2, 1e3], "gamma": [1.0, 0.03, 0.1, 0.3, 3.0]},  # gamma: times scikit-learn's "scale"
    "LabelSpreading": {"n_neighbors": [7, 5, 10, 20], "alpha": [0.2, 0.5, 0.8, 0.95]},
    "Poisson": {"alpha": [0.99, 0.999, 0.9]},
    "Average": {},
    "KNeighborsClassifier": {"n_neighbors": [1, 3, 5, 10, 20], "weights": ["distance", "uniform"]},
    "SelfTrainingClassifier": {"threshold": [0.75, 0.6, 0.9, 0.98], "C": [10.0, 1.0, 0.1, 1e2, 1e3, 1e4]},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "LogisticRegression-default": {"C": 1.0},
    "LabelSpreading-default": {"n_neighbors": 7, "alpha": 0.2},
    "Poisson-default": {"alpha": 0.99},
}
TUNING_ROWS = 2000  # unlabelled rows that SelfTrainingClassifier sees while its threshold is tuned
_LEAST = 1e-3  # smallest probability that counts in a likelihood


@dataclass(frozen=True)
class Choice:
    """A setting, and its predictions: ``predict(class_ids, rows)`` learns from the labels and returns probabilities.

    Classes are numbered from 0, and no split hides all rows of one: the columns are the same in every fit.
    """

    setting: dict[str, Any]
    predict: Callable[[ClassIds, Rows], Matrix]


class Rival:
    """A simple method with everything about it chosen by cross-validation on the labelled rows.

    Parameters
    ----------
    kind : str
        Key of ``GRIDS``.
    random_state : int
        Folds of the labelled rows, and LSA.
    """

    def __init__(self, kind: str, random_state: int) -> None:
        self.kind, self.random_state = kind, random_state

    def parameters(self) -> dict[str, Any]:
        """Return what the choice is made from."""
        if self.kind in DEFAULTS:
            return DEFAULTS[self.kind]
        return {"grid": GRIDS[self.kind], "scalings": SCALINGS, "n_folds": N_FOLDS}

    def fit(self, views: Views, y: Any) -> Self:
        """Choose, and label every row: ``labels_``, ``best_params_`` and, of all but SVC, ``confidence_``."""
        classes, class_ids = encode_labels(y, len(views))
        splits = []
        if np.bincount(class_ids[class_ids >= 0]).max() > 1:  # else nothing can be hidden: the first setting is taken
            folds = LabelHidingKFold(N_FOLDS, random_state=self.random_state)
            splits = [test for _, test in folds.split(class_ids, class_ids)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a regression that took all its rounds
            if self.kind in DEFAULTS:
                best = by_default(self.kind, views, class_ids, self.random_state)
            else:
                best = choose(_CHOICES[self.kind](views, class_ids, splits, self.random_state), class_ids, splits)
            probabilities = best.predict(class_ids, np.arange(len(class_ids)))
        guessed = np.where(class_ids >= 0, class_ids, probabilities.argmax(axis=1))
        self.labels_, self.best_params_ = classes[guessed], best.setting
        if self.kind != "SVC":
            self.confidence_ = probabilities.max(axis=1)
        return self


def choose(choices: Iterable[Choice], class_ids: ClassIds, splits: list[Rows]) -> Choice:
    """Return the choice that finds most hidden labels; of equals the one with the largest likelihood of them."""
    best, most = None, (0, 0.0)
    for choice in choices:
        if not splits:
            return choice
        right, likelihood = 0, 0.0
        for hidden in splits:
            shown = class_ids.copy()
            shown[hidden] = -1
            probabilities = choice.predict(shown, hidden)
            right += int((probabilities.argmax(axis=1) == class_ids[hidden]).sum())
            own = probabilities[np.arange(len(hidden)), class_ids[hidden]]
            likelihood += float(np.log(np.maximum(own, _LEAST)).sum())
        if best is None or (right, likelihood) > most:
            best, most = choice, (right, likelihood)
    assert best is not None
    return best


def scaled(views: Views, seed: int, for_sparse: list[str] = SCALINGS["sparse"]) -> Iterator[tuple[list[str], Any]]:
    """Yield each choice of scaling (one per view) and the scaled features of all rows, side by side."""
    is_text = [is_sparse(array) for array in views.arrays]
    pairs = product(SCALINGS["dense"], for_sparse)
    for scaling in dict.fromkeys(tuple(pair[text] for text in is_text) for pair in pairs):
        yield list(scaling), scale(views, list(scaling), seed)


def scale(views: Views, scaling: list[str], seed: int) -> Any:
    """Return the scaled features of all rows; sparse if those of some view are."""
    scaler = fit_scaling(views, scaling, count_threads(None), rng=np.random.RandomState(seed))
    parts = [part for _, part in scaler.read(views, slice(0, len(views))).parts]
    if any(is_sparse(part) for part in parts):
        return sparse.hstack([sparse.csr_array(part) for part in parts]).tocsr()
    return np.hstack(parts)


def within_span(features: Any, labelled: Rows) -> Any:
    """Return coordinates of the rows in the span of the labelled ones, if these are fewer than the features.

    A penalised linear model has its coefficients in that span, whichever of the labelled rows it learns from: with
    X_l X_lᵀ = U Λ Uᵀ nothing is lost by the features X X_lᵀ U Λ^-½.
    """
    rows = features[labelled]
    if len(labelled) >= features.shape[1]:
        return features
    gram = rows @ rows.T
    values, vectors = np.linalg.eigh(np.asarray(gram.toarray() if is_sparse(gram) else gram, dtype=np.float64))
    kept = values > 1e-7 * values[-1]  # the features have single precision
    inner = features @ rows.T
    inner = inner.toarray() if is_sparse(inner) else inner
    return inner @ (vectors[:, kept] / np.sqrt(values[kept]))


def _classify(model: Any, features: Any, and_unlabelled: bool = False) -> Callable[[ClassIds, Rows], Matrix]:
    """Learn from the labelled rows alone, or from all; while tuning, from some of the unlabelled."""

    def predict(class_ids: ClassIds, rows: Rows) -> Matrix:
        used, others = np.flatnonzero(class_ids >= 0), np.flatnonzero(class_ids < 0)
        if and_unlabelled:
            if len(rows) < len(class_ids) and len(others) > TUNING_ROWS:  # the last fit predicts, and sees, all rows
                others = np.random.default_rng(0).choice(others, TUNING_ROWS, replace=False)
            used = np.concatenate([used, others])
        fitted = clone(model).fit(features[used], class_ids[used])
        if hasattr(fitted, "predict_proba"):
            return np.asarray(fitted.predict_proba(features[rows]))
        return np.eye(len(fitted.classes_))[fitted.predict(features[rows])]

    return predict


def _regression(strength: float) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=1000)


def logistic_regression(
    views: Views, class_ids: ClassIds, splits: list[Rows], seed: int, kind: str = "LogisticRegression"
) -> Iterator[Choice]:
    """Multinomial logistic regression."""
    grid = GRIDS[kind]
    for scaling, features in scaled(views, seed, grid.get("scalings_sparse", SCALINGS["sparse"])):
        rows = within_span(features, np.flatnonzero(class_ids >= 0))
        for strength in grid["C"]:
            yield Choice({"scaling": scaling, "C": strength}, _classify(_regression(strength), rows))


def svc(views: Views, class_ids: ClassIds, splits: list[Rows], seed: int) -> Iterator[Choice]:
    """Support vector machine with a Gaussian kernel."""
    for scaling, features in scaled(views, seed):
        unit = 1.0 / (features.shape[1] * float(features.var()))  # scikit-learn's gamma="scale"
        for strength, gamma in product(*GRIDS["SVC"].values()):
            setting = {"scaling": scaling, "C": strength, "gamma": gamma}
            yield Choice(setting, _classify(SVC(C=strength, gamma=gamma * unit), features))


def nearest_neighbours(views: Views, class_ids: ClassIds, splits: list[Rows], seed: int) -> Iterator[Choice]:
    """Vote of the nearest labelled rows."""
    grid = GRIDS["KNeighborsClassifier"]
    fewest = int((class_ids >= 0).sum()) - max((len(hidden) for hidden in splits), default=0)
    for scaling, features in scaled(views, seed):
        for number, weights in product(grid["n_neighbors"], grid["weights"]):
            if number <= fewest:
                setting = {"scaling": scaling, "n_neighbors": number, "weights": weights}
                model = KNeighborsClassifier(number, weights=weights)
                yield Choice(setting, _classify(model, features))


def label_spreading(views: Views, class_ids: ClassIds, splits: list[Rows], seed: int) -> Iterator[Choice]:
    """Labels spread over the graph of nearest rows, which is built once for all settings of a scaling."""
    grid = GRIDS["LabelSpreading"]
    for scaling, features in scaled(views, seed):
        most = min(max(grid["n_neighbors"]), features.shape[0])
        nearest = NearestNeighbors(n_neighbors=most).fit(features).kneighbors(features, return_distance=False)
        for number in dict.fromkeys(min(number, most) for number in grid["n_neighbors"]):
            ends = np.arange(0, features.shape[0] * number + 1, number)
            links = (np.ones(ends[-1]), nearest[:, :number].ravel(), ends)
            graph = sparse.csr_matrix(links, shape=(features.shape[0],) * 2)
            for alpha in grid["alpha"]:
                setting = {"scaling": scaling, "n_neighbors": number, "alpha": alpha}
                yield Choice(setting, _spread(graph, alpha))


def poisson(views: Views, class_ids: ClassIds, splits: list[Rows], seed: int) -> Iterator[Choice]:
    """Poisson learning on the graph of the ten nearest rows, which is built once for all settings of a scaling."""
    for scaling, features in scaled(views, seed):
        graph = make_graph(np.ascontiguousarray(features, dtype=np.float32))
        for alpha in GRIDS["Poisson"]["alpha"]:
            yield Choice({"scaling": scaling, "alpha": alpha}, _potential(graph, alpha))


def _potential(graph: tuple[Any, Matrix], alpha: float) -> Callable[[ClassIds, Rows], Matrix]:
    def predict(class_ids: ClassIds, rows: Rows) -> Matrix:
        labelled = np.flatnonzero(class_ids >= 0)
        labels = [(labelled, class_ids[labelled])]
        potential = solve_potential(*graph, labels, int(class_ids.max()) + 1, alpha)[0]
        unit = max(float(np.abs(potential[labelled]).mean()), 1e-30)
        return softmax(potential[rows] / unit, axis=1)

    return predict


def average(views: Views, class_ids: ClassIds, splits: list[Rows], seed: int) -> Iterator[Choice]:
    """Average three tuned methods and a regression for each view."""
    tuned = [
        choose(_CHOICES[kind](views, class_ids, splits, seed), class_ids, splits)
        for kind in ("LogisticRegression", "SVC", "LabelSpreading")
    ]
    scaling, strength = tuned[0].setting["scaling"], tuned[0].setting["C"]
    single = [Views([array]) for array in views.arrays]
    features = [scale(view, [kind], seed) for view, kind in zip(single, scaling, strict=True)]
    fused = [_classify(_regression(strength), part) for part in features]

    def predict(known: ClassIds, rows: Rows) -> Matrix:
        late = np.mean([fit(known, rows) for fit in fused], axis=0)
        result: Matrix = np.mean([*(choice.predict(known, rows) for choice in tuned), late], axis=0)
        return result

    yield Choice({"of": [choice.setting for choice in tuned]}, predict)


def by_default(kind: str, views: Views, class_ids: ClassIds, seed: int) -> Choice:
    """Return a method with its own defaults, on min-max scaled views."""
    scaling = ["lsa" if is_sparse(array) else "minmax" for array in views.arrays]
    features, setting = scale(views, scaling, seed), DEFAULTS[kind]
    if kind == "LogisticRegression-default":
        return Choice(setting, _classify(_regression(setting["C"]), features))
    points = np.ascontiguousarray(features, dtype=np.float32)
    if kind == "Poisson-default":
        return Choice(setting, _potential(make_graph(points), setting["alpha"]))
    number = min(setting["n_neighbors"], len(points))
    nearest = nearest_points(points, points, number)[0]
    ends = np.arange(0, len(points) * number + 1, number)
    graph = sparse.csr_matrix((np.ones(ends[-1]), nearest.ravel(), ends), shape=(len(points),) * 2)
    return Choice(setting, _spread(graph, setting["alpha"]))


def _spread(graph: Any, alpha: float) -> Callable[[ClassIds, Rows], Matrix]:
    def predict(class_ids: ClassIds, rows: Rows) -> Matrix:
        model = LabelSpreading(kernel=lambda a, b: graph, alpha=alpha, max_iter=50)
        model.fit(np.zeros((len(class_ids), 1)), class_ids)  # the features are in the graph
        return np.asarray(model.label_distributions_[rows])

    return predict


def self_training(views: Views, class_ids: ClassIds, splits: list[Rows], seed: int) -> Iterator[Choice]:
    """Logistic regression that learns from its own sure guesses.

    Scaling and C are those that serve the plain regression best; with them the threshold is tuned.
    """
    plain = choose(logistic_regression(views, class_ids, splits, seed, "SelfTrainingClassifier"), class_ids, splits)
    features = scale(views, plain.setting["scaling"], seed)
    for threshold in GRIDS["SelfTrainingClassifier"]["threshold"]:
        model = SelfTrainingClassifier(_regression(plain.setting["C"]), threshold=threshold)
        yield Choice({**plain.setting, "threshold": threshold}, _classify(model, features, and_unlabelled=True))


_CHOICES: dict[str, Callable[[Views, ClassIds, list[Rows], int], Iterator[Choice]]] = {
    "LogisticRegression": logistic_regression,
    "SVC": svc,
    "LabelSpreading": label_spreading,
    "Poisson": poisson,
    "Average": average,
    "KNeighborsClassifier": nearest_neighbours,
    "SelfTrainingClassifier": self_training,
}
RIVALS = list(_CHOICES)
