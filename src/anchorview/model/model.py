"""A fitted model: all that predictions need, and nothing else. Values that can be pickled, saved and hashed.

What a model knows of the single rows of its fit: apart from it, so that a file or another machine can do without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..features.scaled import ViewsScaler
from ..readers.base import Reader, TopTwo
from ..readers.graph import FittedRows
from ..solver.result import Encoder


@dataclass(frozen=True, eq=False)
class Member:
    """One reader in the average, with what makes of a row what it reads.

    Parameters
    ----------
    reader : Reader
        Turns rows into scores of the classes.
    weight : float
        In the average.
    encoder : Encoder or None
        Makes codes of products with the landmarks, for readers of codes and of the embedding.
    embedding : ndarray of shape (n_components, n_landmarks), or None
        Of the landmarks, for readers of the embedding.
    graph : FittedRows or None
        For readers of a graph.
    saw_guesses : bool
        Whether it has learned from rows that the other members were sure of. Such members help to choose the class; how
        sure the average is, only the others tell.
    """

    reader: Reader
    weight: float = 1.0
    encoder: Encoder | None = None
    embedding: Matrix | None = None
    graph: FittedRows | None = None
    saw_guesses: bool = False


@dataclass(frozen=True, eq=False)
class Branch:
    """One scaling, its landmarks, and the members that read from it.

    Parameters
    ----------
    completer : Encoder or None
        Completes rows that lack views, for readers of products and of a graph; None if they are read as they are.
    """

    scaler: ViewsScaler
    landmarks: Matrix
    members: tuple[Member, ...] = ()
    completer: Encoder | None = None


@dataclass(frozen=True, eq=False)
class Embedder:
    """What `transform` gives: scaling, landmarks, codes and their embedding."""

    scaler: ViewsScaler
    landmarks: Matrix
    encoder: Encoder
    embedding: Matrix  # of the landmarks

    def embed(self, codes: sparse.csr_array) -> Matrix:
        """Return the embedding of codes."""
        embedded: Matrix = (codes @ self.embedding.T).astype(self.scaler.dtype)
        return embedded


@dataclass(frozen=True, eq=False)
class Model:
    """All that predictions need.

    Parameters
    ----------
    branches : tuple of Branch
        What is averaged.
    temperature : float or None
        Of the average; None if it is of one member, whose probabilities are taken as they are.
    classes : ndarray
        The classes, sorted.
    order : ndarray of int, or None
        The number, in the fit, of each of them; None if they are the same. A fit numbers classes by their first rows,
        so that their names make no difference.
    embedder : Embedder
        What `transform` gives.
    """

    branches: tuple[Branch, ...]
    temperature: float | None
    classes: npt.NDArray[np.generic]
    order: Rows | None
    embedder: Embedder

    @property
    def members(self) -> list[Member]:
        """All of them."""
        return [member for branch in self.branches for member in branch.members]

    def by_class(self, probabilities: Matrix) -> Matrix:
        """Bring columns from the order of the fit to that of `classes`."""
        return probabilities if self.order is None else probabilities[:, self.order]

    def places(self, class_ids: ClassIds) -> ClassIds:
        """Turn numbers of classes in the fit, −1 for none, into places in `classes`."""
        if self.order is None:
            return class_ids
        places: ClassIds = np.append(np.argsort(self.order), -1)[class_ids]
        return places

    def top_two(self, probabilities: Matrix) -> TopTwo:
        """Return the likeliest two of `classes`; of equal ones that of the first labelled row, whatever its name."""
        if self.order is None:
            return TopTwo.of(probabilities)
        return TopTwo.of(probabilities[:, np.argsort(self.order)]).renumbered(self.places)

    def labels(self, class_ids: ClassIds, empty: Mask | None) -> npt.NDArray[np.generic]:
        """Return the labels of rows given by places in `classes`; those that are empty have none."""
        found = self.classes[class_ids]
        return found if empty is None else mark_unknown(found, empty)


def sort_classes(classes: npt.NDArray[np.generic]) -> tuple[npt.NDArray[np.generic], Rows | None]:
    """Return the classes of a fit in order, and the number in the fit of each; None if they are the same."""
    order = np.argsort(classes)
    return classes[order], None if np.array_equal(order, np.arange(len(order))) else order


def mark_unknown(labels: npt.NDArray[np.generic], empty: Mask) -> npt.NDArray[np.generic]:
    """Label rows about which nothing is known: -1, or "" among text."""
    labels = labels.copy()
    if labels.dtype.kind in "US":
        labels[empty] = ""
        return labels
    if labels.dtype.kind in "bu":
        labels = labels.astype(np.int64)
    labels[empty] = -1
    return labels


Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Later:
    """A value about rows that is computed when somebody first asks for it."""

    compute: Callable[[], Any]


class OfRows(Generic[Value]):
    """An attribute about the rows of the fit, kept in ``_rows``, a dict; an error that tells why if it is not there.

    A value that is set goes into a new dict: the old one may be that of a model to go back to. One that is set
    `Later` is computed when it is first read.

    Examples
    --------
    >>> class Model:
    ...     labels_ = OfRows[list[int]]()
    >>> model = Model()
    >>> model.labels_ = [0, 1]
    >>> model._rows
    {'labels_': [0, 1]}
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, model: None, owner: type) -> OfRows[Value]: ...

    @overload
    def __get__(self, model: object, owner: type) -> Value: ...

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        rows = vars(model).get("_rows")
        if rows is not None and self._name in rows:
            return _now(rows, self._name)
        about = f"{owner.__name__!r} object has no attribute {self._name!r}"
        if rows is None and "classes_" in vars(model):
            about = (
                f"This {owner.__name__} was loaded from a file without the rows of its fit, so there is no "
                f"{self._name} (nor what rests on it, such as suggest_labels). To keep it, save the fitted model by "
                "anchorview.save(model, path, rows=True)."
            )
        raise AttributeError(about)

    def __set__(self, model: Any, value: Value | Later) -> None:
        model._rows = {**(vars(model).get("_rows") or {}), self._name: value}

    def __delete__(self, model: Any) -> None:
        self.__get__(model, type(model))  # an error if it is not there
        model._rows = {name: value for name, value in model._rows.items() if name != self._name}


def _now(rows: dict[str, Any], name: str) -> Any:
    match rows[name]:
        case Later(compute):
            rows[name] = compute()
    return rows[name]


def values_of_rows(model: Any) -> dict[str, Any] | None:
    """Return all that a model knows of the rows of its fit, for a file or a copy; None if it knows nothing."""
    rows: dict[str, Any] | None = vars(model).get("_rows")
    return None if rows is None else {name: _now(rows, name) for name in list(rows)}


class OfProcess(Generic[Value]):
    """An attribute that only the process of a fit needs: never pickled or copied, kept under its own name.

    Until it is set it is the default, if there is one.

    Examples
    --------
    >>> class Model:
    ...     _audit = OfProcess["int | None"](None)
    >>> model = Model()
    >>> model._audit is None, names_declared(Model, OfProcess)
    (True, ('_audit',))
    """

    def __init__(self, *default: Value) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, model: None, owner: type) -> OfProcess[Value]: ...

    @overload
    def __get__(self, model: object, owner: type) -> Value: ...

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        if self._name not in vars(model) and not self._default:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")
        return vars(model).get(self._name, *self._default)

    def __set__(self, model: Any, value: Value) -> None:
        vars(model)[self._name] = value

    def __delete__(self, model: Any) -> None:
        vars(model).pop(self._name, None)


class OfAnswer(OfProcess[Value]):
    """Such an attribute that follows from rows and labels: who takes over the answers of another model takes it too."""


def names_declared(kind: type, descriptor: type) -> tuple[str, ...]:
    """Return the names of the attributes that a class declares by a descriptor, such as `OfRows`."""
    return tuple(sorted(name for name in dir(kind) if isinstance(getattr(kind, name, None), descriptor)))
