"""What a model knows of the single rows of its fit: apart from it, so that a file or another machine can do without."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class OfRows(Generic[Value]):
    """An attribute about the rows of the fit, kept in ``_rows``, a dict; an error that tells why if it is not there.

    A value that is set goes into a new dict: the old one may be that of a model to go back to.

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
            return rows[self._name]
        about = f"{owner.__name__!r} object has no attribute {self._name!r}"
        if rows is None and "classes_" in vars(model):
            about = (
                f"This {owner.__name__} was loaded from a file without the rows of its fit, so there is no "
                f"{self._name} (nor what rests on it, such as suggest_labels). To keep it, save the fitted model by "
                "anchorview.save(model, path, rows=True)."
            )
        raise AttributeError(about)

    def __set__(self, model: Any, value: Value) -> None:
        model._rows = {**(vars(model).get("_rows") or {}), self._name: value}


def names_of_rows(kind: type) -> tuple[str, ...]:
    """Return the names of the attributes of a class that are about the rows of the fit."""
    return tuple(sorted(name for name in dir(kind) if isinstance(getattr(kind, name, None), OfRows)))
