"""Rows of new files labelled by a model, block by block; a run that was interrupted goes on where it ended."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arrays import Mask, Matrix
from ..core.partial_results import PartialResults
from ..core.progress import time_left, watch
from ..data.table_views import TableViews, describe_columns
from ..data.validation import find_present
from ..data.views import Views
from ..files.sources import LINES, TABLES, check_readable, files_of, folder_of, import_extra, split_part, suffix_of
from ..files.tables import FIRST_LINE, count_rows, table_blocks, table_names
from .errors import DataError, UsageError
from .inputs.columns import column_matrix
from .inputs.gathering import gather
from .inputs.matrices import table_ids
from .inputs.row_places import RowPlaces
from .label_parts import label_parts, put_together, save_part
from .model_file import ModelFileError, load
from .output_path import check_output_path
from .progress import Reporter
from .results import predicted_labels
from .settings import NO_ID, RunSettings
from .view_spec import choose_columns, parse_views

Encoded = tuple[Views, dict[str, Any]]  # views, and what was ignored in them
Block = tuple[str, Any, Callable[[], Encoded]]  # file, ids, and what reads the rest if the block is not done already


class Predictor:
    """A model from a file, and how tables become its views.

    Parameters
    ----------
    path : Path
        The model file.
    views : list of str
        Views by columns, each ``NAME=SPEC``; by default the columns of the fit.
    id_column : str, optional
        The column of ids.
    """

    def __init__(self, path: Path, views: list[str], id_column: str | None) -> None:
        check_readable(path)
        try:
            model = load(path)
        except ModelFileError as error:
            raise DataError(str(error)) from None
        self.path = path
        self.min_confidence = 0.0  # rows of which the model is less sure get no label
        self.table: TableViews | None = None
        if hasattr(model, "steps"):
            self.table, model = model.steps[0][1], model.steps[-1][1]
        self.model = model
        self._specs = parse_views(views)
        of_fit: str | None = getattr(model if self.table is None else self.table, "_id_column", None)
        self._is_own_id = id_column is None
        self._id = of_fit if id_column is None else id_column
        self.notes: list[str] = []

    @property
    def id_column(self) -> str | None:
        """The column of ids: the one that was named, else that of the fit."""
        return self._id

    def choose_ids(self, paths: list[Path]) -> None:
        """Leave out the column of ids of the fit if a file lacks it, and one called none: rows are then numbered."""
        if self._id is None:
            return
        without = [path for path in paths if self._id not in table_names(path)]
        if without and self._is_own_id:
            self.notes.append(f"{without[0]} has no column {self._id!r}, the ids of the fit; its rows are numbered.")
            self._id = None
        elif without and self._id == NO_ID:
            self._id = None

    def _ids(self, table: Any, path: Path, start: int) -> Any:
        """Return the ids of a block of rows."""
        if self._id is None:
            return np.arange(start, start + table.num_rows)
        try:
            return table_ids(table, self._id, str(path), start)
        except DataError as error:
            raise DataError(f"{error} To number the rows instead: --id none.") from None

    def blocks(self, paths: list[Path], n_rows: int) -> Iterator[Block]:
        """Iterate over the rows of tables, so many at a time."""
        self.choose_ids(paths)
        for path in paths:
            columns, text = self._columns(path)
            wanted = [*columns, *([self._id] if self._id and self._id not in columns else [])]
            start = 0
            for table in table_blocks(path, wanted, [*text, *([self._id] if self._id else [])], n_rows):
                yield str(path), self._ids(table, path, start), partial(self._views, table, path, start)
                start += table.num_rows

    def probabilities(self, views: Views) -> Matrix:
        """Return the class probabilities of some rows; what is wrong with them is an error of the data."""
        try:
            probabilities: Matrix = self.model.predict_proba(views)
        except ValueError as error:
            raise DataError(" ".join(str(error).split())) from None
        return probabilities

    def label(self, ids: Any, views: Views, probabilities: Matrix | None = None) -> Any:
        """Return the table of labels of some rows; their probabilities are computed unless they are given."""
        probabilities = self.probabilities(views) if probabilities is None else probabilities
        present = find_present(views)
        has_none: Mask = np.zeros(len(views), dtype=bool)
        if present is not None:
            has_none = np.logical_not(present.any(axis=1))
        return predicted_labels(self.model, probabilities, ids, has_none, self.min_confidence)

    def _columns(self, path: Path) -> tuple[list[str], list[str]]:
        """Return the columns to read of a table, and those of them that are text."""
        if self.table is not None:
            names = table_names(path)
            used = {name: found for name, found in self.table.columns_.items() if found.used}
            missing = [name for name in used if name not in names]
            if len(missing) == len(used):
                raise DataError(f"{path} has no column of the fit; it has {', '.join(names[:10])}.")
            if missing:
                unknown = [name for name in names if name not in self.table.columns_ and name != self._id]
                self.notes.append(f"{path}: {describe_columns(missing, unknown)}")
            used = {name: found for name, found in used.items() if name in names}
            return list(used), [name for name, found in used.items() if found.storage != "number"]
        return list(dict.fromkeys(name for group in self._groups(path).values() for name in group)), []

    def _groups(self, path: Path) -> dict[str, list[str]]:
        """Return the columns of each view."""
        if self._specs:
            names, reserved = table_names(path), [self._id] if self._id else []
            return {
                spec.name: choose_columns(spec.selector, names, spec.name, str(path), reserved) for spec in self._specs
            }
        named = dict(zip(self.model.view_names_, self.model._view_features, strict=True))
        unnamed = [name for name, features in named.items() if features is None]
        if unnamed:
            raise UsageError(
                f"The model does not know the columns of view {unnamed[0]!r}, which came from an array or a column of "
                f"lists; say where it is: --view {unnamed[0]}=SPEC."
            )
        return {name: [str(feature) for feature in features] for name, features in named.items()}

    def _views(self, table: Any, path: Path, start: int) -> Encoded:
        if self.table is not None:
            self.table.image_folder = folder_of(path)
            try:
                encoded = self.table.encode(table)
            except ValueError as error:
                last = start + table.num_rows - 1
                message = RowPlaces(path, last + 1).add_to(str(error), start)
                raise DataError(f"{path}, rows {start} to {last}: {message}") from None
            return encoded.views, {name: [one.what, one.count, one.total] for name, one in encoded.unseen.items()}
        line = start + FIRST_LINE if suffix_of(path) in LINES[:2] else 0
        groups = self._groups(path)
        arrays = {name: column_matrix(table, group, str(path), line) for name, group in groups.items()}
        views = Views(arrays)
        views.features = [group if arrays[name].shape[1] == len(group) else None for name, group in groups.items()]
        return views, {}


@dataclass(frozen=True)
class Request:
    """What is to be labelled, and how.

    Parameters
    ----------
    model : Path
        The model file.
    files : list of Path
        Tables to label.
    views : list of str
        Or views, each ``NAME=SPEC``.
    id : str or None
        The column of ids.
    block_rows : int
        Rows per block.
    order : str or None
        Whose order files without ids have: a view, or a file of ids.
    assume_order : bool
        Whether they have that of the first file with ids.
    image_encoder : Path or None
        The network that encodes photos, if one did so at the fit.
    text_encoder : str or None
        The folder of the model that encodes text, if one did so at the fit.
    min_confidence : float
        Rows of which the model is less sure get no label.
    """

    model: Path
    files: list[Path]
    views: list[str]
    id: str | None
    block_rows: int
    order: str | None = None
    assume_order: bool = False
    image_encoder: Path | None = None
    text_encoder: str | None = None
    min_confidence: float = 0.0

    def fingerprint(self) -> str:
        """Return what changes if the model, a file, or what is read of it does."""
        files = [split_part(file)[0] for path in self.files for file in files_of(path)]
        paths = [self.model, *files, *(spec.path for spec in parse_views(self.views) if spec.path is not None)]
        known = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths if path.exists()]
        return hashlib.sha256(
            json.dumps([known, self.views, self.id, self.block_rows, self.order, self.min_confidence]).encode()
        ).hexdigest()


def run_predict(request: Request, output: Path, force: bool, reporter: Reporter) -> dict[str, Any]:
    """Label the rows of files, and write one table of labels; what was done before an interrupt is not done again."""
    import_extra("pyarrow", "Labels are written by pyarrow")
    _check_paths(request, output, force)
    with reporter.working():
        predictor = Predictor(request.model, request.views, request.id)
        predictor.min_confidence = request.min_confidence
        if predictor.table is not None and request.image_encoder is not None:
            predictor.table.image_encoder = str(request.image_encoder)
        if predictor.table is not None and request.text_encoder is not None:
            predictor.table.text_encoder = request.text_encoder
        blocks = predictor.blocks(request.files, request.block_rows) if request.files else _gathered(request, predictor)
        n_rows, n_new, n_blocks, start = 0, 0, 0, time.perf_counter()
        n_all = count_rows(request.files)
        reporter.step(f"labelling about {n_all:,} rows" if n_all else "labelling rows")
        with (
            watch(reporter.line),
            label_parts(output, request.fingerprint()) as parts,
            _telling_how_to_go_on(parts),
        ):
            if parts.differs:
                parts.clear()
            label = partial(_label_block, predictor, len(request.files) > 1)
            for (_, ids, _), is_new in parts.fill(blocks, label, save_part):
                n_new += len(ids) if is_new else 0
                n_blocks += 1
                n_rows += len(ids)
                reporter.line(rows_labelled(n_rows, n_all, n_new, time.perf_counter() - start))
            return put_together(parts, n_blocks) | {"notes": predictor.notes}


def rows_labelled(n_done: int, n_all: int, n_new: int, seconds: float) -> str:
    """Say how far the work is; rows that are not new were labelled before an interrupt.

    Examples
    --------
    >>> rows_labelled(2000, 10_000, 1000, 5.0)
    '2,000 of about 10,000 rows labelled, about 40 s left'
    """
    if n_all < n_done or not n_new:
        return f"{n_done:,} rows labelled"
    return f"{n_done:,} of about {n_all:,} rows labelled, {time_left((n_all - n_done) * seconds / n_new)}"


def _check_paths(request: Request, output: Path, force: bool) -> None:
    """Refuse what cannot be read or written, before anything is."""
    if output.suffix.lower() not in (".csv", ".parquet"):
        raise UsageError(f"{output} must end in .csv or .parquet.")
    check_output_path(output, force)
    wrong = [path for path in request.files if suffix_of(path) not in TABLES]
    if wrong:
        raise UsageError(f"{wrong[0]} is not a table; name it in a view: --view NAME={wrong[0]}.")
    for path in request.files:
        check_readable(path)
    has_files = any(spec.path is not None for spec in parse_views(request.views))
    if bool(request.files) == has_files:
        raise UsageError("Name tables to label (anchorview predict MODEL rows.csv …), or views with files: --view.")


@contextmanager
def _telling_how_to_go_on(parts: PartialResults) -> Iterator[None]:
    """Say on an interrupt that what is done is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if not parts.n_kept:
            raise
        raise KeyboardInterrupt("What is done is kept: the same command goes on from there.") from None


def _gathered(request: Request, predictor: Predictor) -> Iterator[Block]:
    """Read the views of several files, aligned by ids, and iterate over blocks of rows."""
    id_column = request.id
    tables = [spec.path for spec in parse_views(request.views) if spec.path and suffix_of(spec.path) in TABLES]
    if id_column is None and any(predictor.id_column in table_names(path) for path in tables):
        id_column = predictor.id_column
    settings = RunSettings(views=request.views, id=id_column, order=request.order, assume_order=request.assume_order)
    data = gather(settings)
    predictor.notes += data.notes
    ids = np.arange(len(data.views)) if data.ids is None else data.ids
    for start in range(0, len(data.views), request.block_rows):
        block = slice(start, start + request.block_rows)
        yield "", ids[block], lambda rows=data.views[block]: (rows, {})  # type: ignore[misc]


def _label_block(predictor: Predictor, names_file: bool, block: Block) -> tuple[Any, dict[str, Any]]:
    """Return the table of labels of a block, with the name of its file if there are several, and what was ignored."""
    import pyarrow as pa

    file, ids, read = block
    rows, unseen = read()
    table = predictor.label(ids, rows)
    return table.add_column(0, "file", pa.array([file] * table.num_rows)) if names_file else table, unseen
