"""Everything a run is given, put together: views, ids, labels, and what is to be said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.table_views import TableViews
from ...data.views import Views
from ..errors import DataError, UsageError
from ..settings import RunSettings
from ..view_spec import ViewSpec, choose_columns, parse_views
from .columns import read_columns
from .labels import RunLabels, labels_of_column, labels_of_file
from .matrices import FILES, Loaded, load_annotated, load_view, table_ids
from .tables import TABLES, read_table, suffix_of, table_names


@dataclass
class RunData:
    """What a run works on.

    Parameters
    ----------
    views : Views
        The rows.
    ids : ndarray of str, or None
        Their ids, if there are any.
    labels : RunLabels
        What is known of their classes.
    table : TableViews or None
        What turned the raw table into views.
    notes : list of str
        What the user should know about the data.
    file : Path or None
        The table that has the rows in this order.
    unread : list of str
        Its columns that nobody reads: ids, labels, and what views are made of.
    """

    views: Views
    ids: npt.NDArray[Any] | None
    labels: RunLabels
    table: TableViews | None = None
    notes: list[str] = field(default_factory=list)
    file: Path | None = None
    unread: list[str] = field(default_factory=list)


def gather(settings: RunSettings) -> RunData:
    """Read every file that a run names."""
    specs = parse_views(settings.views)
    table_path = settings.table
    of_table = [spec.name for spec in specs if spec.path is None]
    if table_path is None and not specs:
        raise UsageError("Name a table (anchorview fit rows.csv …) or views (--view image=emb.npy …).")
    if table_path is None and of_table:
        raise UsageError(f"--view {of_table[0]} takes columns of a table, but no table is given; name it, or a file.")
    for path in [*([table_path] if table_path else []), *(spec.path for spec in specs if spec.path)]:
        if suffix_of(path) not in FILES:
            raise UsageError(f"{path} is not of a kind that can be read: {', '.join(FILES)} (.csv.gz, .tsv.gz).")
    if table_path is not None and suffix_of(table_path) in (".h5ad", ".h5mu"):
        return _gather_annotated(settings, table_path, specs)
    if table_path is not None and suffix_of(table_path) in (".npz", ".mat"):
        return _gather_data_set(settings, table_path, specs)
    if table_path is not None and suffix_of(table_path) not in TABLES:
        raise UsageError(f"{table_path} has no columns; give it as a view: --view NAME={table_path}.")
    if table_path is not None and not specs:
        return _gather_raw(settings, table_path)
    return _gather_views(settings, table_path, specs)


def _gather_raw(settings: RunSettings, path: Path) -> RunData:
    """Read one table, whose columns are recognised."""
    names, reserved = table_names(path), _reserved(settings)
    _check_columns(settings, path, names)
    table = read_table(path, text=reserved)
    ids = table_ids(table, settings.id, str(path)) if settings.id else None
    labels = _labels(settings, table, path, ids, table.num_rows)
    features = table.drop_columns([name for name in reserved if name in names])
    unknown = [name for name in settings.columns if name not in features.column_names]
    if unknown:
        raise DataError(f"{path} has no column {unknown[0]!r} to read as {settings.columns[unknown[0]]!r}.")
    transformer = TableViews(kinds=dict(settings.columns) or None)
    try:
        views = transformer.fit_transform(features)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    views = Views(views, ids=ids) if ids is not None else views
    return RunData(views, ids, labels, transformer, transformer.describe().splitlines(), path, reserved)


def _gather_views(settings: RunSettings, path: Path | None, specs: list[ViewSpec]) -> RunData:
    """Read views: columns of one table, by files, or both; aligned by ids where they have such."""
    loaded: dict[str, Loaded] = {}
    own_ids, in_views = None, list[str]()
    table, reserved = None, _reserved(settings)
    notes: list[str] = []
    if path is not None:
        names = table_names(path)
        _check_columns(settings, path, names)
        groups = {
            spec.name: choose_columns(spec.selector, names, spec.name, str(path), reserved)
            for spec in specs
            if spec.path is None
        }
        arrays, table = read_columns(path, groups, [name for name in reserved if name in names])
        ids = own_ids = table_ids(table, settings.id, str(path)) if settings.id else None
        for view, columns in groups.items():
            in_views += columns
            features = columns if arrays[view].shape[1] == len(columns) else None
            loaded[view] = Loaded(arrays[view], features, ids, str(path))
    for spec in specs:
        if spec.path is not None:
            loaded[spec.name] = load_view(spec, settings.id, reserved)
    loaded = {spec.name: loaded[spec.name] for spec in specs}
    ids = _reference_ids(settings, loaded)
    views = _align(loaded, ids, notes)
    ids = views.ids
    labels = _labels(settings, table, path, ids, len(views))
    in_order = path is not None and (ids is None or (own_ids is not None and np.array_equal(ids, own_ids)))
    return RunData(views, ids, labels, None, notes, path if in_order else None, [*reserved, *in_views])


def _gather_annotated(settings: RunSettings, path: Path, specs: Sequence[ViewSpec]) -> RunData:
    from ...data.annotated import read_column

    if any(spec.path is not None for spec in specs):
        raise UsageError(f"Views of {path} are named without a file: --view NAME=obsm:X_pca.")
    data = load_annotated(path)
    try:
        views = Views(data, views={spec.name: spec.selector for spec in specs} or None)
        column = None if settings.label is None or settings.labels else read_column(data, settings.label, "--label")
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    ids = None if views.ids is None else np.array([str(value) for value in views.ids.tolist()], dtype=str)
    views = Views(views, ids=ids) if ids is not None else views
    if column is not None:
        labels = labels_of_column(column.tolist(), f"{path}, obs[{settings.label!r}]", settings.unlabelled)
    else:
        labels = _labels(settings, None, path, ids, len(views))
    return RunData(views, ids, labels)


def _gather_data_set(settings: RunSettings, path: Path, specs: Sequence[ViewSpec]) -> RunData:
    """Read a file of several views and their labels, as the bench has them."""
    from ...datasets._mat import load_mat
    from ...datasets._npz import load_npz

    if specs:
        raise UsageError(f"{path} is one data set of several views; leave --view out, or name a file in each --view.")
    try:
        data = load_npz(path) if suffix_of(path) == ".npz" else load_mat(path)
    except (ValueError, OSError, ImportError) as error:
        raise DataError(f"{path}: {error} (A single matrix is a view: --view NAME={path}.)") from None
    if settings.labels is not None or settings.clusters is not None:
        labels = _labels(settings, None, path, None, len(data.views))
    else:
        labels = labels_of_column(data.target.tolist(), f"{path}, its labels", settings.unlabelled)
    return RunData(data.views, None, labels)


def _reserved(settings: RunSettings) -> list[str]:
    return [name for name in (settings.id, settings.label) if name is not None]


def _check_columns(settings: RunSettings, path: Path, names: list[str]) -> None:
    for option, name in (("--id", settings.id), ("--label", None if settings.labels else settings.label)):
        if name is not None and name not in names:
            shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            raise DataError(f"{path} has no column {name!r} ({option}); it has {shown}.")


def _labels(
    settings: RunSettings, table: Any, path: Path | None, ids: npt.NDArray[Any] | None, n_rows: int
) -> RunLabels:
    if settings.labels is not None:
        return labels_of_file(settings, ids, n_rows)
    if settings.label is None:
        return RunLabels(None, "")
    if table is None:
        raise UsageError(f"--label {settings.label} names a column, but there is no table; give --labels FILE.")
    return labels_of_column(
        table.column(settings.label).to_pylist(), f"{path}, column {settings.label!r}", settings.unlabelled
    )


def _reference_ids(settings: RunSettings, loaded: dict[str, Loaded]) -> npt.NDArray[Any] | None:
    """Return the ids of rows that are known by their position only: those of the first view that has ids.

    If no view has, those of the labels, where there is one for each row.
    """
    known = next((view.ids for view in loaded.values() if view.ids is not None), None)
    if known is None and settings.id is not None:
        if (
            settings.labels is not None
            and suffix_of(settings.labels) in TABLES
            and settings.id in table_names(settings.labels)
        ):
            table = read_table(settings.labels, [settings.id], text=[settings.id])
            n_rows = {view.array.shape[0] for view in loaded.values()}
            if n_rows == {table.num_rows}:
                return table_ids(table, settings.id, str(settings.labels))
            raise DataError(
                f"No view has the column {settings.id!r} (--id), and {settings.labels} has {table.num_rows} rows where "
                f"the views have {', '.join(map(str, sorted(n_rows)))}: give a table with the ids of all rows, or a "
                "line for each row in the file of labels."
            )
        raise DataError(f"No file has the column {settings.id!r} (--id).")
    return known


def _align(loaded: dict[str, Loaded], ids: npt.NDArray[Any] | None, notes: list[str]) -> Views:
    """Bring the views to the same rows, and note how many rows lack which."""
    arrays = {name: view.array for name, view in loaded.items()}
    if ids is None:
        sizes = {name: array.shape[0] for name, array in arrays.items()}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise DataError(
                f"The views have different numbers of rows ({listed}) and no ids; give a column of ids: --id."
            )
        views = Views(arrays)
    else:
        for name, view in loaded.items():
            if view.ids is None and view.array.shape[0] != len(ids):
                raise DataError(
                    f"View {name!r} ({view.place}) has {view.array.shape[0]} rows and no ids; the ids are {len(ids)}. "
                    "Its rows must be in the order of the ids."
                )
        of_view = {name: ids if view.ids is None else view.ids for name, view in loaded.items()}
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
        for name, lacking in zip(views.names, (~views.present).sum(axis=0), strict=True):
            if lacking:
                notes.append(f"View {name!r} is missing in {lacking:,} of {len(views):,} rows.")
    return views
