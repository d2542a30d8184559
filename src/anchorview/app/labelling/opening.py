"""A session on the folder of a run."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...core.arrays import Matrix
from ...files.sources import TABLES, suffix_of
from ...files.tables import read_table, table_names
from ...readers.audit import audit_order
from ..errors import CommandError, DataError
from ..exporting import read_codes
from ..label_journal.journal import Header, ids_key, journal_path, open_journal
from ..run_folder import MARK
from ..run_record import LABELS, read_record
from ..settings import NO_ID
from .live_model import Learner, LiveModel, State
from .rows import PageRows, fill_places
from .session import Session
from .updating import RemoteModel

MAP = "map.npy"


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
        np.zeros(len(ids), dtype=np.float32),
    )
    rows = PageRows(ids, fill_places(_places(run, codes)), codes, *_contents(run, record))
    header = Header(hashlib.sha256((run / MARK).read_bytes()).hexdigest()[:32], ids_key(ids), _seed())
    journal = open_journal(journal_path(run), header)
    try:
        seed = int(record["settings"].get("seed") or 0)
        model = RemoteModel(make_live_model, run, journal.header.audit_seed, seed, n_jobs)
        return Session(rows, journal, model, first, classes if has_labels else (), given, guidelines)
    except BaseException:
        journal.close()
        raise


def make_live_model(run: Path, audit_seed: int, seed: int, n_jobs: int | None) -> Learner:
    """Read the views of a run again, for the process that updates the model."""
    from ..inputs.gathering import gather
    from ..settings import read_settings

    views = gather(read_settings(run / "run.toml")).views
    codes = read_codes(run)
    if len(views) != len(codes):
        raise CommandError(f"The files of {run} have {len(views):,} rows now, and had {len(codes):,}; fit again.")
    return LiveModel(views, codes, audit_order(len(codes), audit_seed), seed, n_jobs)


def _seed() -> int:
    """Return the seed of the audit: drawn when the journal is made, which then keeps it."""
    return int.from_bytes(os.urandom(4), "little") % 2**31


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
    """Return the cells of the run's table, if it is still there, and its folder."""
    settings = record["settings"]
    path = None if settings["table"] is None else Path(os.path.normpath(run / settings["table"]))
    if path is None or not path.is_file() or suffix_of(path) not in TABLES:
        return None, None
    hidden = {settings["id"], settings["label"]} - {NO_ID}
    columns = [name for name in table_names(path) if name not in hidden and not name.startswith("emb_")][:200]
    table = read_table(path, columns) if columns else None
    return (table, path.parent) if table is not None and table.num_rows == record["rows"] else (None, None)
