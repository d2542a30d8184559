"""Errors about views: rows without any, views in no row, other features than those of the fit; names of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Presence, Weights, is_sparse
from .views import Views


def raise_other_features(n_features: int, expected: int, estimator: Any) -> NoReturn:
    """Raise the error for one table of another width than that of the fit; views may leave out some of it."""
    sizes = dict(zip(estimator.view_names_, estimator.view_sizes_, strict=True))
    raise ValueError(
        f"X has {n_features} features, but {type(estimator).__name__} is expecting {expected} features as input "
        f"({len(sizes)} view{'s' if len(sizes) > 1 else ''}: {sizes}). Give the same columns, in the order of the fit; "
        "a view that is missing is left out by name, of a dict or Views of arrays."
    )


def raise_other_sizes(views: Views, estimator: Any) -> NoReturn:
    """Raise the error for views of other sizes, or another number of views without names, than in the fit."""
    names, sizes = estimator.view_names_, estimator.view_sizes_
    start = (
        f"X has {sum(views.sizes)} features, but {type(estimator).__name__} is expecting {sum(sizes)} features as input"
    )
    if sum(views.sizes) == sum(sizes):
        start = f"X has {sum(sizes)} features, as in the fit, but they are cut into other views"
    if len(views.sizes) == len(sizes):
        places = [number for number, size in enumerate(sizes) if views.sizes[number] != size]
        name, got, expected = names[places[0]], views.sizes[places[0]], sizes[places[0]]
        raise ValueError(
            f"{start}: view {name!r}{views.place(places[0])} has {got} and was fitted with {expected}. Give the same "
            "columns, in the order of the fit, or as a table with column names."
        )
    fitted = dict(zip(names, sizes, strict=True))
    if len(views.sizes) == 1 and sum(views.sizes) == sum(sizes):
        raise ValueError(
            f"X has 1 view, but {type(estimator).__name__} was fitted with {len(sizes)}: {fitted}. Cut it: "
            f"Views(X, views={fitted})."
        )
    raise ValueError(
        f"{start} ({len(sizes)} views: {fitted}). X has {len(views.sizes)} without names, so that it is open which "
        f"these are: pass a dict with some of the names {names}, or a list with None in the place of each view that "
        "is missing."
    )


def check_no_empty(present: Presence, ids: npt.NDArray[Any] | None = None) -> None:
    """Raise an error naming the first rows that have no view at all."""
    if present is None or present.any(axis=1).all():
        return
    empty = np.flatnonzero(~present.any(axis=1))
    more = ", …" if len(empty) > 5 else ""
    shown = ", ".join(map(str, empty[:5].tolist())) + more
    known = "" if ids is None else f" (ids {', '.join(map(repr, ids[empty[:5]].tolist()))}{more})"
    raise ValueError(
        f"{len(empty)} row{'s have' if len(empty) > 1 else ' has'} no view at all: {shown}{known}; "
        'remove such rows, or pass on_empty="drop".'
    )


def check_no_empty_view(present: Mask, names: list[str], weights: Weights = None) -> None:
    """Raise an error naming the views that are missing in every row; rows of weight 0 do not count."""
    counted = present if weights is None else present[weights > 0]
    for name, column in zip(names, counted.T, strict=True):
        if not column.any():
            where = "every row" if weights is None else "every row of positive weight"
            raise ValueError(f"View {name!r} is missing in {where}; leave it out, or check its mask, ids or values.")


def name_cell(views: Views, number: int, row: int) -> str:
    """Return in words where the first NaN or infinity of a row is; nothing if neither row nor column has a name."""
    features = views.features[number]
    if views.ids is None and features is None:
        return ""
    cells = views.arrays[number][[row]]
    cells = cells.toarray()[0] if is_sparse(cells) else cells[0]
    column = int(np.argmin(np.isfinite(cells)))
    label = "" if views.ids is None else f" (index label {views.ids[[row]].tolist()[0]!r})"
    named = column if features is None else repr(features[column])
    return f" The first is in view {views.names[number]!r}, row {row}{label}, column {named}."


class NotFiniteError(ValueError):
    """A view holds NaN or infinity; who knows the names of rows and columns adds them.

    It is given the first rows that do, at least one, each with whether it holds NaN. Five are named.
    """

    def __init__(self, view: str, found: Sequence[tuple[int, bool]], remedy: str) -> None:
        rows, nan = [row for row, _ in found[:5]], [is_nan for _, is_nan in found[:5]]
        what = "NaN" if all(nan) else "NaN and infinity" if any(nan) else "infinity"
        super().__init__(
            f"View {view!r} contains {what} in row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows))}"
            f"{', …' if len(rows) == 5 else ''}; {remedy} those values before fitting."
        )
        self.row = rows[0]
