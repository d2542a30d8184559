"""What a reader is: fitted, it turns rows of one kind of space into one score per class, larger for likelier.

Which readers there are as a parameter, and which go together.

The second class of each row: what a row would most likely be, if not what it is taken for. What models that did not
see a label said of its row: the evidence for accuracy, confusion and doubtful labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Rows, Weights, is_sparse, softmax_at, unit_rows, unit_sparse_rows
from ..engine.blocks import row_blocks

# What readers read of a row: its embedding, as `transform` gives it, or at unit length; its code at unit length; its
# scaled features; its products with the landmarks (E); the weights of its nearest rows in a graph.
Space = Literal["embedding", "unit_embedding", "unit_codes", "features", "products", "graph"]

RULES = ("nearest", "euclidean", "knn", "paper")  # "paper" is "euclidean" from the codes of the joint problem
OF_PRODUCTS = ("linear", "poisson")  # readers of the products with the landmarks; those of the embedding are `RULES`
JOINABLE = ("nearest", "knn")  # readers of the embedding that go together with these
COMBINATIONS: tuple[tuple[str, ...], ...] = (
    *((name,) for name in (*RULES, *OF_PRODUCTS)),
    OF_PRODUCTS,
    *((first, *others) for first in JOINABLE for others in (("linear",), ("poisson",), OF_PRODUCTS)),
)

READ_LABELS = 20_000  # of which the regression learns; it has at most as many coefficients a class as landmarks
# Rows of a graph that reads labels: their neighbours cost half a second, and any other row 5,000 short distances; half
# of them may be labelled, the others show where the rows are.
READ_GRAPH = 5000


class Reader(Protocol):
    """A fitted reader."""

    @property
    def reads(self) -> Space:
        """What the rows that it is given hold."""
        ...

    @property
    def temperature(self) -> float:
        """By which scores are divided to become the logits of class probabilities."""
        ...

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return one number per row and class."""
        ...


def class_probabilities(reader: Reader, rows: Any, n_threads: int = 1) -> Matrix:
    """Return the class probabilities of rows."""
    return softmax_at(reader.scores(rows, n_threads), reader.temperature)


def to_space(space: Space, rows: Any, embedding: Matrix | None) -> Any:
    """Turn codes into what a reader reads of them; scaled rows, and weights of rows of a graph, stay as they are."""
    if space == "unit_codes":
        return unit_sparse_rows(rows) if is_sparse(rows) else unit_rows(rows)
    if embedding is None:
        return rows
    return unit_rows(rows @ embedding.T)


_ROWS = 4096  # looked at together: no copy of all probabilities is made


def runner_up(probabilities: Matrix, class_ids: ClassIds) -> tuple[ClassIds, Matrix]:
    """Return the likeliest class of each row other than its own, and its probability; −1 and 0 if there is no other.

    Examples
    --------
    >>> runner_up(np.array([[0.7, 0.2, 0.1], [0.4, 0.1, 0.5]]), np.array([0, 2]))
    (array([1, 0]), array([0.2, 0.4]))
    """
    seconds = np.full(len(probabilities), -1, dtype=np.intp)
    values = np.zeros(len(probabilities), dtype=probabilities.dtype)
    if probabilities.shape[1] < 2:
        return seconds, values
    for block in row_blocks(len(probabilities), _ROWS):
        others = probabilities[block].copy()
        rows = np.arange(len(others))
        others[rows, class_ids[block]] = -1.0
        seconds[block] = others.argmax(axis=1)
        values[block] = others[rows, seconds[block]]
    return seconds, values


@dataclass(frozen=True)
class TopTwo:
    """The two likeliest classes of each row, and their probabilities; −1 and 0 where there is only one class.

    Examples
    --------
    >>> found = TopTwo.of(np.array([[0.7, 0.2, 0.1], [0.4, 0.1, 0.5]]))
    >>> found.class_ids, found.confidence
    (array([0, 2]), array([0.7, 0.5]))
    >>> found.other_than(np.array([0, 0]))  # the second row was given its second class
    (array([1, 2]), array([0.2, 0.5]))
    """

    class_ids: ClassIds
    confidence: Matrix
    seconds: ClassIds
    second_confidence: Matrix

    @classmethod
    def of(cls, probabilities: Matrix) -> TopTwo:
        """Return those of rows of probabilities."""
        first = probabilities.argmax(axis=1)
        return cls(first, probabilities.max(axis=1), *runner_up(probabilities, first))

    @classmethod
    def joined(cls, parts: Iterable[TopTwo], n_rows: int) -> TopTwo:
        """Return those of all rows from those of blocks, at least one: each is copied as it comes, and freed."""
        whole: TopTwo | None = None
        start = 0
        for part in parts:
            arrays = [getattr(part, field.name) for field in fields(cls)]
            whole = cls(*(np.empty(n_rows, array.dtype) for array in arrays)) if whole is None else whole
            stop = start + len(part.class_ids)
            for field, array in zip(fields(cls), arrays, strict=True):
                getattr(whole, field.name)[start:stop] = array
            start = stop
        assert whole is not None and start == n_rows
        return whole

    def renumbered(self, places: Callable[[ClassIds], ClassIds]) -> TopTwo:
        """Return the same with other numbers for the classes."""
        return replace(self, class_ids=places(self.class_ids), seconds=places(self.seconds))

    def other_than(self, class_ids: ClassIds) -> tuple[ClassIds, Matrix]:
        """Return the likeliest class of each row other than the one it has, and its probability."""
        is_first = class_ids == self.class_ids
        others = np.where(is_first, self.seconds, self.class_ids)
        return others, np.where(is_first, self.second_confidence, self.confidence)


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Labelled rows whose labels were hidden in turn, and the probabilities that they got without them.

    Attributes
    ----------
    rows : ndarray of int of shape (n_judged,)
        Numbers of the rows in the fit. A label that is the only one of its class is never hidden.
    class_ids : ndarray of int of shape (n_judged,)
        Their labels, as places in ``classes_``.
    probabilities : ndarray of shape (n_judged, n_classes)
        Of each class, by a model that did not see the row's label.
    weights : ndarray of shape (n_judged,), or None
        Their sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> hidden = HeldOutLabels(np.array([3, 8]), np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    >>> hidden.right, hidden.confidence
    (array([ True, False]), array([0.9, 0.6]))
    """

    rows: Rows
    class_ids: ClassIds
    probabilities: Matrix
    weights: Weights = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def guessed(self) -> ClassIds:
        """The likeliest class of each row."""
        likeliest: ClassIds = self.probabilities.argmax(axis=1)
        return likeliest

    @property
    def right(self) -> Mask:
        """Whether that is the label given."""
        found: Mask = self.guessed == self.class_ids
        return found

    @property
    def confidence(self) -> Matrix:
        """Its probability."""
        sure: Matrix = np.max(self.probabilities, axis=1)
        return sure
