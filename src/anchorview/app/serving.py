"""A model behind HTTP: rows in, labels out; read-only."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..data.views import Views
from .batching import Batcher
from .errors import DataError
from .inputs.columns import column_matrix
from .labelling.guard import Guard
from .predicting import Predictor

MOST_BYTES = 32_000_000
_KINDS = ("application/json", "text/csv")


class RowReader:
    """Turns what a client sends into the views of a model.

    Parameters
    ----------
    predictor : Predictor
        The model.
    """

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        model, table = predictor.model, predictor.table
        self.columns: dict[str, str] = {}  # name, and what it must hold
        self._groups: dict[str, list[str]] = {}
        if table is not None:
            self.columns = {name: str(found.kind) for name, found in table.columns_.items() if found.used}
            self._storage = {name: found.storage for name, found in table.columns_.items() if found.used}
            return
        for name, features, size in zip(model.view_names_, model._view_features, model.view_sizes_, strict=True):
            named = [name] if features is None else [str(feature) for feature in features]
            self._groups[name] = named
            kind = f"list of {size} numbers" if features is None else "number"
            self.columns |= dict.fromkeys(named, kind)

    def complete(self, records: pa.Table) -> tuple[pa.Table, list[str], list[str]]:
        """Return the model's columns of rows, names of those that are missing, and of columns that nobody asked for."""
        missing = [name for name in self.columns if name not in records.column_names]
        known = {*self.columns, self._predictor.id_column}
        unknown = [name for name in records.column_names if name not in known]
        if len(missing) == len(self.columns):
            raise DataError(f"No column of the model is there; it has {', '.join(list(self.columns)[:10])}.")
        for name in missing:
            records = records.append_column(name, pa.nulls(records.num_rows, self._type(name)))
        records = records.select(list(self.columns))
        for place, name in enumerate(self.columns):
            column = records.column(name)
            kind = pa.list_(pa.float64()) if pa.types.is_list(column.type) else self._type(name)
            if column.type != kind:
                with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):  # whoever reads it says what is wrong
                    records = records.set_column(place, name, column.cast(kind))
        return records, missing, unknown

    def views(self, records: pa.Table) -> Views:
        """Return the views of rows that have all columns."""
        if self._predictor.table is not None:
            try:
                return self._predictor.table.encode(records).views
            except ValueError as error:
                raise DataError(str(error)) from None
        arrays = {}
        size_of = dict(zip(self._predictor.model.view_names_, self._predictor.model.view_sizes_, strict=True))
        for name, group in self._groups.items():
            is_missing = all(records.column(one).null_count == records.num_rows for one in group)
            if is_missing:  # rows lack the whole view
                arrays[name] = np.full((records.num_rows, size_of[name]), np.nan)
            else:
                arrays[name] = column_matrix(records, group, "the request")
        views = Views(arrays)
        views.features = list(self._predictor.model._view_features)
        return views

    def _type(self, name: str) -> Any:
        if self._predictor.table is None:
            return pa.float64()
        return pa.float64() if self._storage[name] == "number" else pa.string()


def parse(body: bytes, kind: str, text_columns: Collection[str] = ()) -> pa.Table:
    """Return the rows of a body: a JSON list of objects (or one under "records"), or CSV with a header."""
    if kind == "text/csv":
        from pyarrow import csv

        try:
            options = csv.ConvertOptions(column_types=dict.fromkeys(text_columns, pa.string()))
            return csv.read_csv(pa.BufferReader(body), convert_options=options)
        except pa.ArrowInvalid as error:
            raise DataError(f"The body is no CSV with a header: {error}.") from None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise DataError("The body is not JSON.") from None
    records = value.get("records") if isinstance(value, dict) else value
    if not isinstance(records, list) or not records or not all(isinstance(one, dict) for one in records):
        raise DataError('The body must be a list of records, such as [{"text": "…"}], with one record at least.')
    columns = {}
    for name in dict.fromkeys(name for one in records for name in one):
        try:
            columns[name] = pa.array([one.get(name) for one in records])
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(f"Column {name!r} holds values of several kinds: {error}") from None
    return pa.table(columns)


@dataclass(frozen=True, eq=False)
class _Request:
    body: bytes
    kind: str


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a request."""

    ids: list[Any]
    records: pa.Table
    missing: list[str]
    unknown: list[str]


class Labeller:
    """Labels the rows of requests, those of several at once.

    Parameters
    ----------
    predictor : Predictor
        The model.
    """

    def __init__(self, predictor: Predictor) -> None:
        self._predictor, self.reader = predictor, RowReader(predictor)
        storage = getattr(self.reader, "_storage", {})
        self._text = [name for name, kind in storage.items() if kind != "number"]
        self.why_no_novelty: str | None = None
        try:
            predictor.model._novelty_of_rows()
        except (AttributeError, ValueError) as error:
            self.why_no_novelty = str(error)

    def answer(self, requests: list[_Request]) -> list[Any]:
        """Return the answer to each request, or the error that it gets."""
        read = [self._read(request) for request in requests]
        good = [rows for rows in read if isinstance(rows, _Rows)]
        labelled: list[Any]
        try:
            labelled = self._label(good)
        except Exception:  # one request spoils the batch: each for itself
            labelled = []
            for rows in good:
                try:
                    labelled += self._label([rows])
                except Exception as error:
                    labelled.append(error)
        answers = iter(labelled)
        return [next(answers) if isinstance(rows, _Rows) else rows for rows in read]

    def _read(self, request: _Request) -> _Rows | Exception:
        try:
            records = parse(request.body, request.kind, self._text)
            name = self._predictor.id_column
            ids = records.column(name).to_pylist() if name in records.column_names else list(range(records.num_rows))
            return _Rows(ids, *self.reader.complete(records))
        except Exception as error:
            return error

    def _label(self, requests: list[_Rows]) -> list[dict[str, Any]]:
        if not requests:
            return []
        records = pa.concat_tables([rows.records for rows in requests])
        views = self.reader.views(records)
        probabilities = self._predictor.probabilities(views)
        ids = np.arange(records.num_rows)
        table = self._predictor.label(ids, views, probabilities=probabilities).drop_columns(["id"])
        novelty = [None] * records.num_rows
        if self.why_no_novelty is None:
            with suppress(ValueError):  # two classes have no label, or all rows have one
                sure = probabilities.max(axis=1)
                novelty = np.round(self._predictor.model._novelty_of_new(views, sure), 4).tolist()
        labelled = [
            {name: round(cell, 6) if isinstance(cell, float) else cell for name, cell in row.items()}
            for row in table.to_pylist()
        ]
        start, answers = 0, []
        for rows in requests:
            shown = [
                {"id": name, **labelled[start + number], "novelty": novelty[start + number]}
                for number, name in enumerate(rows.ids)
            ]
            start += len(rows.ids)
            answers.append({"predictions": shown, "missing_columns": rows.missing, "unknown_columns": rows.unknown})
        return answers


class _Routes:
    def __init__(self, predictor: Predictor) -> None:
        self._predictor, self._labeller = predictor, Labeller(predictor)
        self._batcher, self._start = Batcher(self._labeller.answer), time.time()

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok", "seconds": round(time.time() - self._start, 1)})

    async def model(self, request: Request) -> Response:
        model = self._predictor.model
        about = {"model": type(model).__name__, "classes": model.classes_.tolist()}
        columns = {"columns": self._labeller.reader.columns, "id": self._predictor.id_column}
        return JSONResponse({**about, **columns, "no_novelty": self._labeller.why_no_novelty})

    async def predict(self, request: Request) -> Response:
        kind = request.headers["content-type"].partition(";")[0].strip().lower()
        return JSONResponse(await self._batcher.ask(_Request(await request.body(), kind)))


def make_prediction_app(model: Path, token: str | None, hosts: Collection[str], most_bytes: int = MOST_BYTES) -> Guard:
    """Return the application that answers with a model's labels.

    Parameters
    ----------
    model : Path
        The model file.
    token : str or None
        The secret that clients send as a bearer token; None if none is needed.
    hosts : collection of str
        Values of Host that are the server's own; empty if any will do.
    most_bytes : int
        The largest body.
    """
    to = _Routes(Predictor(model, [], None))
    routes = [
        Route("/health", to.health),
        Route("/model", to.model),
        Route("/predict", to.predict, methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers={DataError: _bad})
    return Guard(app, hosts, token, open_paths=("/health",), kinds=_KINDS, most_bytes=most_bytes)


async def _bad(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)
