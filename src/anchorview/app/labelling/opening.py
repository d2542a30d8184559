"""A session on the folder of a run."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...core.arrays import ClassIds, Matrix
from ...files.sources import PHOTOS, TABLES, check_readable, folder_of, map_files, suffix_of
from ...files.tables import read_table, table_names
from ..errors import CommandError, DataError
from ..exporting import read_codes
from ..label_journal.journal import Header, ids_key, journal_path, open_journal
from ..run_folder import MARK
from ..run_record import LABELS, read_record
from ..settings import NO_ID
from .live_model import Learner, LiveModel
from .model_files import AboutRows
from .rows import PageRows, fill_places
from .session import Session
from .state import State
from .updating import RemoteModel

MAP = "map.npy"
_MOST_COLUMNS = 200
_MOST_COMPARED = 5000  # rows that tell which columns differ between classes
AUDIT_SEED = 0  # the order of `FSSMSC.audit_rows`: a fit with the journal goes on with the same audit


def open_session(run: Path, guidelines: str = "", n_jobs: int | None = None) -> Session:
    """Open a run for labelling; the model is loaded in a process of its own while the page can be used already."""
    run = run.resolve()
    record = read_record(run)
    table = read_table(run / LABELS)
    if table.num_rows == 0:
        raise DataError(f"{run} has no rows, so there is nothing to label.")
    ids = [str(value) for value in table.column("id").to_pylist()]
    classes = [str(value) for value in record["class_values"]]
    has_labels = bool(record["labels"])
    labels = [None if value is None else str(value) for value in table.column("label").to_pylist()]
    sources = table.column("source").to_pylist()
    given = {
        row: str(labels[row]) for row, source in enumerate(sources) if source == "given" and labels[row] is not None
    }
    place = {name: number for number, name in enumerate(classes)}
    codes = read_codes(run)
    if len(codes) != len(ids):
        raise DataError(f"{run} has codes of {len(codes):,} rows and labels of {len(ids):,}; make the run again.")
    first = State(
        np.array([place.get(name, -1) if has_labels and name is not None else -1 for name in labels], dtype=np.intp),
        np.asarray(table.column("confidence").to_numpy(), dtype=np.float32) * (1 if has_labels else 0),
    )
    contents, folder = _contents(run, record)
    if contents is not None:
        contents = _telling_first(contents, first.class_ids)
    rows = PageRows(ids, fill_places(_places(run, codes)), codes, contents, folder)
    header = Header(hashlib.sha256((run / MARK).read_bytes()).hexdigest()[:32], ids_key(ids), AUDIT_SEED)
    journal = open_journal(journal_path(run), header)
    try:
        seed = int(record["settings"].get("seed") or 0)
        model = RemoteModel(make_live_model, run, seed, n_jobs)
        return Session(rows, journal, model, first, classes if has_labels else (), given, guidelines, run.name)
    except BaseException:
        journal.close()
        raise


def make_live_model(run: Path, seed: int, n_jobs: int | None) -> Learner:
    """Read the views of a run again, for a process that updates the model."""
    from ..inputs.contents import read_contents
    from ..inputs.gathering import gather
    from ..settings import read_settings

    data = gather(read_settings(run / "run.toml"))
    codes = read_codes(run)
    if len(data.views) != len(codes):
        raise CommandError(f"The files of {run} have {len(data.views):,} rows now, and had {len(codes):,}; fit again.")
    id_column = None if data.settings.id == NO_ID else data.settings.id
    shown = read_contents(data), _places(run, codes), f"Labels of {run.name}"
    about = AboutRows(data.table, id_column, data.ids, *shown)
    return LiveModel(data.views, codes, seed, n_jobs, about=about)


def _places(run: Path, codes: Matrix) -> Matrix:
    """Return places that know no label and stay: made once, and kept with the run."""
    path = run / MAP
    with suppress(OSError, ValueError, EOFError):
        places: Matrix = np.load(path, allow_pickle=False)
        if places.shape == (len(codes), 2):
            return places
    from ...readers.plane import map_to_plane

    known = np.isfinite(codes).all(axis=1)
    places = np.full((len(codes), 2), np.nan, dtype=np.float32)
    places[known] = map_to_plane(codes[known])
    with suppress(OSError):  # a run that cannot be written to: the map is made again next time
        np.save(path, places)
    return places


def _contents(run: Path, record: dict[str, Any]) -> tuple[Any, Path | None]:
    """Return the cells of the run's table, if it is still there, and the folder of its pictures."""
    settings = record["settings"]
    if settings["table"] is None:
        return None, None
    path = map_files(Path(settings["table"]), lambda file: Path(os.path.normpath(run / file)))
    try:
        check_readable(path)
    except DataError:
        return None, None
    if suffix_of(path) not in TABLES:
        return None, None
    is_photos = suffix_of(path) == PHOTOS
    hidden = {settings["label"]} if is_photos else {settings["id"], settings["label"]} - {NO_ID}
    columns = [name for name in table_names(path) if name not in hidden and not name.startswith("emb_")][:_MOST_COLUMNS]
    table = read_table(path, columns) if columns else None
    folder = folder_of(path)
    return (table, folder) if table is not None and table.num_rows == record["rows"] else (None, None)


def _telling_first(table: Any, class_ids: ClassIds) -> Any:
    """Return a table with the columns first that tell most about the classes of some of its rows."""
    from ...report.row_cells import telling_columns

    sample = np.arange(0, table.num_rows, max(1, table.num_rows // _MOST_COMPARED))
    order = telling_columns(table.take(sample), class_ids[sample])
    return table.select([*order, *(name for name in table.column_names if name not in order)])
