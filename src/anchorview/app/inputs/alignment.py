"""Views of several files brought to the same rows, by ids; files without ids need somebody to say their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.views import Views
from ...files.sources import TABLES, check_readable, suffix_of
from ...files.tables import read_table, table_names
from ..errors import DataError, UsageError
from ..settings import RunSettings
from .matrices import Loaded, table_ids

_NAMED = 3  # ids that are told
Ids = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Order:
    """Ids in the order of files that have none, where they are from, and whether somebody said that this is the order.

    Parameters
    ----------
    ids : ndarray of str
        The ids.
    place : str
        The file.
    is_said : bool
        Whether the user said so (`--order`, `--assume-order`).
    """

    ids: Ids
    place: str
    is_said: bool


def find_order(settings: RunSettings, loaded: Mapping[str, Loaded]) -> Order | None:
    """Return the order of files without ids: as the user says, else that of the first file with ids, if there is one.

    Parameters
    ----------
    settings : RunSettings
        What was asked for.
    loaded : mapping of str to Loaded
        The views.
    """
    if settings.order is not None:
        return Order(*_order_of(settings.order, settings, loaded), True)
    first = next((view for view in loaded.values() if view.ids is not None), None)
    if first is not None and first.ids is not None:
        return Order(first.ids, first.place, settings.assume_order)
    if settings.id is None:
        return None
    for path in settings.labels:  # one line for each row names the rows as well
        if suffix_of(path) in TABLES and settings.id in table_names(path):
            ids = _ids_of_table(path, settings.id)
            n_rows = {view.array.shape[0] for view in loaded.values()}
            if n_rows == {len(ids)}:
                return Order(ids, str(path), settings.assume_order)
            raise DataError(
                f"No view has the column {settings.id!r} (--id), and {path} has {len(ids)} rows where the views have "
                f"{', '.join(map(str, sorted(n_rows)))}: give a table with the ids of all rows, or a line for each row "
                "in the file of labels."
            )
    raise DataError(f"No file has the column {settings.id!r} (--id).")


def give_ids(loaded: Mapping[str, Loaded], order: Order | None, notes: list[str]) -> dict[str, Loaded]:
    """Return the views, those without ids with the ids of the order; refused unless somebody has said it."""
    without = [name for name, view in loaded.items() if view.ids is None]
    if order is None or not without:
        return dict(loaded)
    for name in without:
        view = loaded[name]
        if view.array.shape[0] != len(order.ids):
            raise DataError(
                f"View {name!r} ({view.place}) has {view.array.shape[0]} rows and no ids; the ids are "
                f"{len(order.ids)}. Its rows must be in the order of the ids."
            )
    if not order.is_said:
        name = without[0]
        raise UsageError(
            f"View {name!r} ({loaded[name].place}) has no ids, and {order.place} has: whose order do its rows have? "
            f"Say --assume-order if it is that of {order.place}, or name a file that has it: --order FILE."
        )
    several = len(without) > 1
    notes.append(
        f"View{'s' if several else ''} {', '.join(map(repr, without))} {'have' if several else 'has'} no ids; rows are "
        f"taken to be in the order of {order.place}."
    )
    return {
        name: dataclasses.replace(view, ids=order.ids) if view.ids is None else view for name, view in loaded.items()
    }


def align(loaded: Mapping[str, Loaded], notes: list[str]) -> Views:
    """Bring the views to the same rows, and note which rows lack which."""
    arrays = {name: view.array for name, view in loaded.items()}
    of_view = {name: view.ids for name, view in loaded.items() if view.ids is not None}
    if not of_view:
        sizes = {name: array.shape[0] for name, array in arrays.items()}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise DataError(
                f"The views have different numbers of rows ({listed}) and no ids; give a column of ids: --id."
            )
        views = Views(arrays)
    else:
        ids = next(iter(of_view.values()))
        first = set(ids.tolist())
        for name, own in of_view.items():
            if not first.intersection(own.tolist()):
                raise DataError(
                    f"View {name!r} ({loaded[name].place}) has no id in common with the others: '{own[0]}', … there, "
                    f"'{ids[0]}', … here."
                )
        same = all(np.array_equal(own, ids) for own in of_view.values())
        views = Views(arrays, ids=ids if same else of_view)
    views.features = [view.features for view in loaded.values()]
    if views.present is not None:
        for number, name in enumerate(views.names):
            lacking = np.flatnonzero(~views.present[:, number])
            if len(lacking):
                notes.append(
                    f"View {name!r} is missing in {len(lacking):,} of {len(views):,} rows{_named(views.ids, lacking)}."
                )
    return views


def _named(ids: Ids | None, rows: npt.NDArray[np.intp]) -> str:
    """Return the ids of some rows, in brackets: a typo in one is seen at once."""
    if ids is None:
        return ""
    listed = ", ".join(repr(str(ids[row])) for row in rows[:_NAMED])
    return f" ({listed}{', …' if len(rows) > _NAMED else ''})"


def _order_of(order: str, settings: RunSettings, loaded: Mapping[str, Loaded]) -> tuple[Ids, str]:
    """Return the ids of a view or a file that the user names, and what it is called."""
    if order in loaded:
        view = loaded[order]
        if view.ids is None:
            raise UsageError(f"--order {order}: this view has no ids, so it cannot tell the order; name another.")
        return view.ids, view.place
    path = Path(order)
    if suffix_of(path) in TABLES:
        names = table_names(path)
        if settings.id is None or settings.id not in names:
            wanted = "the column of ids (--id)" if settings.id is None else f"a column {settings.id!r} (--id)"
            raise DataError(f"--order {path} needs {wanted}; it has {', '.join(names[:10])}.")
        return _ids_of_table(path, settings.id), str(path)
    check_readable(path)
    try:
        if path.suffix.lower() == ".npy":
            listed = [str(value) for value in np.load(path, allow_pickle=False).ravel().tolist()]
        elif path.suffix.lower() == ".txt":
            listed = path.read_text(encoding="utf-8-sig").splitlines()
        else:
            raise UsageError(f"--order {path} must be a view, a table ({', '.join(TABLES)}), or ids: .txt, .npy.")
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    ids = np.array([text.strip() for text in listed], dtype=str)
    if len(set(ids.tolist())) < len(ids) or "" in ids.tolist():
        raise DataError(f"{path} must hold one id a line, each of them once.")
    return ids, str(path)


def _ids_of_table(path: Path, column: str) -> Ids:
    return table_ids(read_table(path, [column], text=[column]), column, str(path))
