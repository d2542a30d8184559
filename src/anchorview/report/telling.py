"""What tells a class from the others: its words, its categories, its numbers; or the view, where features are unnamed.

Words and categories are ranked by class tf-idf, as BERTopic does: how often they occur in the class, times the
logarithm of how rare they are. Only those count that occur more than twice as often in the class as elsewhere, and not
by chance (the log-likelihood ratio of Dunning, "Accurate methods for the statistics of surprise and coincidence",
1993). Numbers are ranked by the difference of the means in standard deviations. Rows are those of the class as the
model has them; with very many, a sample.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Mask, Matrix, is_sparse
from ..data.image_descriptors import DESCRIPTOR_WORDS
from ..data.views import Views
from ..readers.plane import draw_from_classes
from .markup import one_line

MOST_CLASSES = 500  # that are looked at, the largest: as many as a page lists
_MOST_ROWS = 20_000
N_WORDS, N_OTHERS = 6, 2
_LEAST_RATIO = 10.8  # of log-likelihoods: chance gives that to one word in a thousand
_LEAST_SHARE = 0.03  # of the rows of the class: a word in fewer says little about it
_LEAST_DIFFERENCE = 0.8  # standard deviations: a large effect, by Cohen's rule
_AT_A_TIME = 32  # classes, so that a table of classes and words stays small
_CHARACTERS = ":characters"  # views of n-grams, which nobody reads


@dataclass(frozen=True)
class ClassFeatures:
    """What tells a class from the others, the strongest first."""

    words: tuple[str, ...] = ()  # of texts
    values: tuple[str, ...] = ()  # of categories and tags: "shop: north"
    numbers: tuple[str, ...] = ()  # "high price"
    view: str = ""  # in which it differs most, if no feature has a name

    def __str__(self) -> str:
        named = [*self.words, *self.values, *self.numbers]
        seen_in = DESCRIPTOR_WORDS.get(self.view.rpartition(":")[2], f"the view {self.view}")
        return ", ".join(named) or (f"mostly {seen_in}" if self.view else "")

    def __bool__(self) -> bool:
        return bool(str(self))


def class_features(
    X: Any, class_ids: ClassIds, n_classes: int, n_words: int = N_WORDS, n_others: int = N_OTHERS
) -> list[ClassFeatures]:
    """Return for each class what tells it from the others; nothing where nothing does.

    Parameters
    ----------
    X : Views
        The rows; nothing is said of anything else.
    class_ids : ndarray of int of shape (n_rows,)
        The class of each row, -1 for none.
    n_classes : int
        Number of classes.
    n_words : int
        Words of a class.
    n_others : int
        Values of a class, and numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from anchorview import TableViews
    >>> table = pd.DataFrame({"text": ["a fast red car", "an old car"] * 8 + ["some red wine", "an old wine"] * 8})
    >>> views = TableViews(kinds={"text": "text"}, text_encoder=None).fit_transform(table)
    >>> [str(one) for one in class_features(views, np.repeat([0, 1], 16), 2)]
    ['car, a, fast', 'wine, some']
    """
    found = [ClassFeatures() for _ in range(n_classes)]
    if not isinstance(X, Views) or len(X) != len(class_ids) or n_classes < 2:
        return found
    sizes = np.bincount(class_ids[class_ids >= 0], minlength=n_classes)
    largest = np.argsort(-sizes, kind="stable")[:MOST_CLASSES]
    known = np.flatnonzero(np.isin(class_ids, largest[sizes[largest] > 1]))
    if len(known) > _MOST_ROWS:
        known = np.sort(known[draw_from_classes(class_ids[known], _MOST_ROWS, np.random.RandomState(0))])
    if not len(known):
        return found
    views, own = X[known].in_memory(), class_ids[known]
    words, values, numbers, apart = _Ranking(n_words), _Ranking(n_others), _Ranking(n_others), _Ranking(1)
    for number, (name, array) in enumerate(zip(X.names, views.arrays, strict=True)):
        features = X.features[number]
        present = np.ones(len(known), dtype=bool) if views.present is None else views.present[:, number]
        if features is None or all(str(one).isdigit() for one in features):
            apart.add([one_line(str(name))], *_view_distance(array, own, present))
        elif is_sparse(array):
            if not (name.endswith(_CHARACTERS) and len(X.names) > 1):
                is_text = not any("=" in str(one) for one in features)
                ranking = words if is_text else values
                ranking.add([_category(str(one)) for one in features], *_class_tfidf(array, own))
        else:
            kept = [place for place, one in enumerate(features) if not _is_shadow(str(one))]
            names = [str(features[place]) for place in kept]
            differences = _number_differences(np.asarray(array)[:, kept], own, present)
            numbers.add([f"high {name}" for name in names], *differences)
            numbers.add([f"low {name}" for name in names], differences[0], -differences[1])
    for number in largest:
        named = tuple(words.best(number)), tuple(values.best(number)), tuple(numbers.best(number))
        found[number] = ClassFeatures(*named, view="" if any(named) else "".join(apart.best(number)))
    return found


class _Ranking:
    """The best few features of each class, over all views."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.found: dict[int, list[tuple[float, str]]] = {}

    def add(self, names: list[str], classes: ClassIds, scores: Matrix) -> None:
        """Take in a view's scores of shape (n_classes, n_features); those of 0 or less are no candidates."""
        for row, number in enumerate(classes.tolist()):
            best = np.argsort(-scores[row], kind="stable")[: self.most]
            found = self.found.setdefault(number, [])
            found += [(float(scores[row, place]), names[place]) for place in best if scores[row, place] > 0]

    def best(self, number: int) -> list[str]:
        """Return the names of a class's best features, each once: several columns may hold the same word."""
        ranked = sorted(self.found.get(int(number), []), key=lambda pair: -pair[0])
        return list(dict.fromkeys(one_line(name) for _, name in ranked))[: self.most]


def _class_tfidf(array: Any, class_ids: ClassIds) -> tuple[ClassIds, Matrix]:
    """Return for each class and word its class tf-idf; 0 where the class may have the word by chance."""
    counts = sparse.csr_array(array, dtype=np.float64)
    has = counts.copy()
    has.data = (has.data != 0).astype(np.float64)
    classes, places = np.unique(class_ids, return_inverse=True)
    total, n_rows = np.asarray(has.sum(axis=0)).ravel(), float(len(places))
    often = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log1p(often.sum() / len(classes) / np.maximum(often, 1))
    result = np.zeros((len(classes), has.shape[1]), dtype=np.float32)
    for start in range(0, len(classes), _AT_A_TIME):
        part = np.arange(start, min(start + _AT_A_TIME, len(classes)))
        member = sparse.csr_array((places[None, :] == part[:, None]).astype(np.float64))
        inside = (member @ has).toarray()
        size = np.asarray(member.sum(axis=1)).reshape(-1, 1)
        outside, rest = total - inside, n_rows - size
        everywhere = total / n_rows
        ratio = 2 * (
            _log_likelihood(inside, size, inside / size)
            + _log_likelihood(outside, rest, outside / np.maximum(rest, 1))
            - _log_likelihood(inside, size, everywhere)
            - _log_likelihood(outside, rest, everywhere)
        )
        more = (
            (inside / size > 2 * outside / np.maximum(rest, 1))
            & (inside >= np.maximum(2, _LEAST_SHARE * size))
            & (ratio > _LEAST_RATIO)
        )
        of_class = (member @ counts).toarray()
        share = of_class / np.maximum(of_class.sum(axis=1, keepdims=True), 1)
        result[part] = np.where(more, share * rarity, 0)
    return classes, result


def _log_likelihood(count: Matrix, n: Matrix, share: Matrix) -> Matrix:
    share = np.clip(share, 1e-12, 1 - 1e-12)
    likelihood: Matrix = count * np.log(share) + (n - count) * np.log1p(-share)
    return likelihood


def _class_means(values: Matrix, class_ids: ClassIds) -> tuple[ClassIds, Matrix, Matrix]:
    """Return the classes, their means less those of the other rows, and their numbers of rows."""
    classes, places = np.unique(class_ids, return_inverse=True)
    sums = np.zeros((len(classes), values.shape[1]))
    np.add.at(sums, places, values)
    size = np.bincount(places).astype(np.float64)[:, None]
    rest = np.maximum(len(places) - size, 1)
    return classes, sums / size - (values.sum(axis=0) - sums) / rest, size


def _number_differences(array: Matrix, class_ids: ClassIds, present: Mask) -> tuple[ClassIds, Matrix]:
    """Return the differences of means in standard deviations, 0 where they are small."""
    values = np.nan_to_num(np.asarray(array[present], dtype=np.float64))
    if len(values) < 3 or not values.shape[1]:
        return np.empty(0, dtype=np.intp), np.empty((0, values.shape[1]))
    spread = values.std(axis=0)
    classes, differences, size = _class_means(values, class_ids[present])
    differences = differences / np.where(spread > 0, spread, 1)
    return classes, np.where((np.abs(differences) >= _LEAST_DIFFERENCE) & (size >= 3), differences, 0)


def _view_distance(array: Any, class_ids: ClassIds, present: Mask) -> tuple[ClassIds, Matrix]:
    """Return how far the mean of each class lies from the other rows, by the spread of the view: one column."""
    rows = array[np.flatnonzero(present)]
    if rows.shape[0] < 3:
        return np.empty(0, dtype=np.intp), np.empty((0, 1))
    values = np.nan_to_num(np.asarray(rows.todense() if is_sparse(rows) else rows, dtype=np.float64))
    spread = float(((values - values.mean(axis=0)) ** 2).sum() / len(values))
    classes, differences, _ = _class_means(values, class_ids[present])
    return classes, (differences**2).sum(axis=1, keepdims=True) / max(spread, 1e-300)


def _category(name: str) -> str:
    """Return "column=value" as a person writes it."""
    column, equals, value = name.partition("=")
    return f"{column}: {value or '(empty)'}" if equals and column else name


def _is_shadow(name: str) -> bool:
    """Tell what TableViews adds to a number: its opposite, and where it is empty."""
    return bool(re.match(r"1-.", name)) or name.endswith(":empty")
