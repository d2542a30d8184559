"""Everything a run is given, put together: views, ids, labels, and what is to be said about them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.column_kinds import recognise
from ...data.columns import Column
from ...data.image_views import UNREADABLE
from ...data.leaks import leaking_columns
from ...data.table_views import TableViews
from ...data.views import Views
from ...files.sources import PHOTO, PHOTOS, TABLES, check_readable, folder_of, suffix_of
from ...files.tables import notes_on_files, read_table, table_names
from ..errors import CommandError, DataError, UsageError
from ..settings import NO_ID, RunSettings
from ..view_spec import ViewSpec, choose_columns, parse_views
from .alignment import align, find_order, give_ids
from .columns import read_columns
from .id_column import find_ids
from .labels import RowNames, RunLabels, labels_of_column, labels_of_file
from .matrices import FILES, Loaded, load_annotated, load_view, table_ids
from .merging import columns_of_the_last_run, merge_labels, refuse_labels_as_features
from .row_places import RowPlaces

_NAMED = 3  # photos that notes name
_OLD = {".xls": " Open it in Excel and save it as .xlsx.", ".ods": " Save it as .xlsx."}


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
    settings : RunSettings
        What was asked for, with the columns of ids and labels that were found.
    table : TableViews or None
        What turned the raw table into views.
    notes : list of str
        What the user should know about the data.
    file : Path or None
        The table that has the rows in this order.
    unread : list of str
        Its columns that nobody reads: ids, labels, and what views are made of.
    empty_cells : dict of str to int
        Of a raw table, how many cells of each column are empty.
    """

    views: Views
    ids: npt.NDArray[Any] | None
    labels: RunLabels
    settings: RunSettings
    table: TableViews | None = None
    notes: list[str] = field(default_factory=list)
    file: Path | None = None
    unread: list[str] = field(default_factory=list)
    empty_cells: dict[str, int] = field(default_factory=dict)


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
        if path == table_path and (path.is_dir() or not path.suffix):
            check_readable(path)  # says that it is not there, or that a folder has no photos in it
        if suffix_of(path) not in FILES:
            remedy = _OLD.get(suffix_of(path), "")
            raise UsageError(f"{path} is not of a kind that can be read: {', '.join(FILES)} (.csv.gz, …).{remedy}")
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
    if suffix_of(path) == PHOTOS:
        if not (settings.labels or settings.labels_from_folders or settings.clusters is not None):
            raise DataError(  # before thousands of photos are read
                "There are no labels; give some (--labels FILE, or --labels-from-folders if folders are classes), or "
                "cluster: --clusters K (a number, or auto)."
            )
        settings = dataclasses.replace(settings, id=PHOTO, columns={**settings.columns, PHOTO: "image"})
    names = table_names(path)
    settings, notes = columns_of_the_last_run(settings, names)
    notes += notes_on_files(path)
    _check_columns(settings, path, names)
    reserved = [name for name in _reserved(settings) if name in names]
    table = read_table(path, text=reserved)
    kept = [settings.id] if settings.columns.get(settings.id or "", "ignore") != "ignore" else []  # an id that is read
    features = table.drop_columns([name for name in reserved if name not in kept])
    unknown = [name for name in settings.columns if name not in names]
    if unknown:
        raise DataError(f"{path} has no column {unknown[0]!r} to read as {settings.columns[unknown[0]]!r}.")
    kinds = {name: kind for name, kind in settings.columns.items() if name in features.column_names}
    folder = folder_of(path)
    encoder = None if settings.image_encoder is None else str(settings.image_encoder)
    text, cache = (
        None if named == "none" else named or "auto" for named in (settings.text_encoder, settings.text_cache)
    )
    transformer = TableViews(
        kinds=kinds or None, image_folder=folder, image_encoder=encoder, text_encoder=text, text_cache=cache
    )
    labels = None
    if settings.id is not None:  # what is wrong with labels is said before anything is encoded
        ids = table_ids(table, settings.id, str(path)) if settings.id in names else None
        is_said = settings.id not in names or settings.assume_order or settings.order is not None
        labels = _labels(settings, table, path, RowNames(ids, table.num_rows, _in_file(settings), is_said))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", f".*{UNREADABLE}")  # it is a note, which the record keeps
            views = transformer.fit_transform(features)
    except ImportError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        raise DataError(f"{path}: {RowPlaces(path, features.num_rows).add_to(str(error))}") from None
    notes += _unreadable(transformer)
    if labels is None:
        name, ids = find_ids(transformer.columns_, path)
        if name is not None:
            settings = dataclasses.replace(settings, id=name)
            notes.append(f"Rows are named by column {name!r}, which holds an id for each; --id none numbers them.")
        # With ids that nobody asked for, files without ids are in the order of the table.
        labels = _labels(settings, table, path, RowNames(ids, table.num_rows, _in_file(settings), True))
    used = {name: Column(name, features.column(name)) for name, found in transformer.columns_.items() if found.used}
    if settings.labels:
        classes = list(labels.counts)
        notes += refuse_labels_as_features(transformer.columns_, used, classes, settings, path)
    notes += _leaks(transformer, used, labels, settings)
    notes += _hints(transformer, Column(name, table.column(name)) if (name := settings.id) in names else None)
    views = Views(views, ids=ids) if ids is not None else views
    empty = {name: int((~column.has_cell()).sum()) for name, column in used.items()}
    unread = [*reserved, *([settings.id] if settings.id in names and settings.id not in reserved else [])]
    return RunData(views, ids, labels, settings, transformer, notes, path, unread, empty)


def _unreadable(transformer: TableViews) -> list[str]:
    """Return how many photos could not be read, and the first of them."""
    failed = transformer.unreadable_
    shown = "; ".join(f"{name}: {why}" for name, why in list(failed.items())[:_NAMED])
    more = "; …" if len(failed) > _NAMED else ""
    if not failed:
        return []
    count = (
        "1 photo cannot be read and lacks" if len(failed) == 1 else f"{len(failed):,} photos cannot be read and lack"
    )
    return [f"{count} these views ({shown}{more})."]


def _leaks(transformer: TableViews, used: Mapping[str, Column], labels: RunLabels, settings: RunSettings) -> list[str]:
    """Name columns that give the label away, but for those whose kind the user has named."""
    open_ones = {name: column for name, column in used.items() if name not in settings.columns}
    if labels.values is None:
        return []
    return [
        f"Column {name!r} gives the label away: {how}. Unless it is known for new rows too, leave it out: --column "
        f"{name}=ignore."
        for name, how in leaking_columns(open_ones, transformer.columns_, labels.values.tolist()).items()
    ]


def _hints(transformer: TableViews, ids: Column | None) -> list[str]:
    """Return how to use columns that were left out but may tell something; the column of ids is one of them."""
    found = {name: one.hint for name, one in transformer.columns_.items()}
    if ids is not None and ids.name not in found:
        found[ids.name] = recognise(ids).hint
    names = [name for name, hint in found.items() if hint]
    return [
        f"Column {name!r} is not used as a feature. If parts of it are informative, read it as text: --column "
        f"{name}=text."
        for name in names
    ]


def _gather_views(settings: RunSettings, path: Path | None, specs: list[ViewSpec]) -> RunData:
    """Read views: columns of one table, by files, or both; aligned by ids where they have such."""
    loaded: dict[str, Loaded] = {}
    own_ids, in_views, table = None, list[str](), None
    notes: list[str] = []
    settings = dataclasses.replace(settings, id=None) if settings.id == NO_ID else settings
    if path is not None:
        names = table_names(path)
        settings, notes = columns_of_the_last_run(settings, names)
        notes += notes_on_files(path)
        _check_columns(settings, path, names)
        reserved = _reserved(settings)
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
            loaded[spec.name] = load_view(spec, settings.id, _reserved(settings))
    loaded = {spec.name: loaded[spec.name] for spec in specs}
    order = find_order(settings, loaded)
    views = align(give_ids(loaded, order, notes), notes)
    rows = RowNames(views.ids, len(views))
    if order is not None:
        rows = RowNames(views.ids, len(views), order.ids, order.is_said)
    labels = _labels(settings, table, path, rows)
    is_file = path is not None and (views.ids is None or (own_ids is not None and np.array_equal(views.ids, own_ids)))
    unread = [*_reserved(settings), *in_views]
    return RunData(views, views.ids, labels, settings, None, notes, path if is_file else None, unread)


def _gather_annotated(settings: RunSettings, path: Path, specs: Sequence[ViewSpec]) -> RunData:
    from ...data.annotated import read_column

    if any(spec.path is not None for spec in specs):
        raise UsageError(f"Views of {path} are named without a file: --view NAME=obsm:X_pca.")
    data = load_annotated(path)
    try:
        views = Views(data, views={spec.name: spec.selector for spec in specs} or None)
        column = None if settings.label is None else read_column(data, settings.label, "--label")
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    ids = None if views.ids is None else np.array([str(value) for value in views.ids.tolist()], dtype=str)
    views = Views(views, ids=ids) if ids is not None else views
    sources = []
    if column is not None:
        place = f"{path}, obs[{settings.label!r}]"
        sources = [labels_of_column(column.tolist(), place, f"column {settings.label}", settings.unlabelled)]
    rows = RowNames(ids, len(views), _in_file(settings), settings.assume_order or settings.order is not None)
    sources += [labels_of_file(file, settings, rows, column is not None) for file in settings.labels]
    return RunData(views, ids, merge_labels(sources, ids, settings.on_conflict), settings)


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
    notes = []
    if settings.labels or settings.clusters is not None:
        labels = _labels(settings, None, path, RowNames(None, len(data.views)))
        if settings.labels:
            notes.append(f"The labels in {path.name} are not used, since there is a file of labels.")
    else:
        labels = labels_of_column(data.target.tolist(), f"{path}, its labels", path.name, settings.unlabelled)
    return RunData(data.views, None, labels, settings, None, notes)


def _reserved(settings: RunSettings) -> list[str]:
    return [name for name in (settings.id, settings.label) if name is not None]


def _check_columns(settings: RunSettings, path: Path, names: list[str]) -> None:
    wanted = {"--id": settings.id, "--label": None if settings.labels else settings.label}
    for option, name in wanted.items():
        if name is not None and name not in names and (option, name) != ("--id", NO_ID):
            shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            title = " If that is a title, delete the rows above the names of the columns." if len(names) == 1 else ""
            raise DataError(f"{path} has no column {name!r} ({option}); it has {shown}.{title}")


def _in_file(settings: RunSettings) -> npt.NDArray[Any] | None:
    """Return the ids of the lines of files without ids, if the user names a file with them."""
    order = find_order(settings, {}) if settings.order is not None else None
    return None if order is None else order.ids


def _labels(settings: RunSettings, table: Any, path: Path | None, rows: RowNames) -> RunLabels:
    """Return the labels of the column and of all files, the later source before the earlier."""
    sources = []
    in_table = table is not None and settings.label in table.column_names
    if in_table:
        place = f"{path}, column {settings.label!r}"
        cells = table.column(settings.label).to_pylist()
        sources.append(labels_of_column(cells, place, f"column {settings.label}", settings.unlabelled))
    elif settings.label is not None and not settings.labels:
        raise UsageError(f"--label {settings.label} names a column, but there is no table; give --labels FILE.")
    if settings.labels_from_folders:
        if path is None or rows.ids is None or suffix_of(path) != PHOTOS:
            raise UsageError("--labels-from-folders needs a folder of photos.")
        folders = [Path(name).parent.name for name in rows.ids.tolist()]
        sources.append(labels_of_column(folders, f"{path}, names of folders", "folders", settings.unlabelled))
    sources += [labels_of_file(file, settings, rows, in_table) for file in settings.labels]
    return merge_labels(sources, rows.ids, settings.on_conflict)
