"""What a model says at one moment; every field is plain, so that it travels between processes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...core.arrays import ClassIds, Matrix
from ...readers.audit import ExpectedAccuracy

TARGET = 0.95  # accuracy that is promised of trusted rows


@dataclass(frozen=True, eq=False)
class State:
    """The label of each row: what every key may change, so it must come soon.

    Parameters
    ----------
    class_ids : ndarray of int of shape (n_rows,)
        Class of each row as a place in `GivenLabels.classes`, −1 for none.
    confidence : ndarray of float32 of shape (n_rows,)
        Probability of that class.
    share_changed : float or None
        Share of the rows without a label whose class is another one than in the state before.
    disputed : list of (int, str)
        Labelled rows, and the class that the model prefers.
    seconds : float
        Time that the update took.
    version : int
        Which state it is.
    """

    class_ids: ClassIds
    confidence: Matrix
    share_changed: float | None = None
    disputed: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0.0
    version: int = 0


@dataclass(frozen=True, eq=False)
class Figures:
    """What takes longer to compute than a key may take: how good the labels are, and which to ask for next.

    Parameters
    ----------
    novelty : ndarray of float32 of shape (n_rows,)
        Probability that a row belongs to none of the labelled classes.
    accuracy : ExpectedAccuracy or None
        What to expect of rows without a label.
    n_trusted : int
        Rows of which at least `TARGET` are right.
    n_more : int or None
        Random labels that are still needed for such a promise, if all are right; None if that is not known.
    gain : float or None
        What the next 50 labels are expected to add to the accuracy; None if that cannot be told.
    suggested : list of (int, str)
        Rows to label next, with the reason.
    groups : list of (list of int, list of int)
        Groups of rows that are unlike all labelled ones, each with its most typical rows.
    is_judged : bool
        Whether the accuracy, and what rests on it, is known.
    """

    novelty: Matrix
    accuracy: ExpectedAccuracy | None = None
    n_trusted: int = 0
    n_more: int | None = None
    gain: float | None = None
    suggested: list[tuple[int, str]] = field(default_factory=list)
    groups: list[tuple[list[int], list[int]]] = field(default_factory=list)
    is_judged: bool = False

    def with_accuracy_of(self, other: Figures) -> Figures:
        """Return these figures with the accuracy of others, and what rests on it."""
        named = ("accuracy", "n_trusted", "n_more", "gain", "is_judged")
        return replace(self, **{name: getattr(other, name) for name in named})


def no_state(n_rows: int) -> State:
    """Return the state before anything is known."""
    return State(np.full(n_rows, -1, dtype=np.intp), np.zeros(n_rows, dtype=np.float32))


def no_figures(n_rows: int) -> Figures:
    """Return the figures before anything is known."""
    return Figures(np.zeros(n_rows, dtype=np.float32))
