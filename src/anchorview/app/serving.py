"""A model behind HTTP: rows in, labels out; read-only."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..data.views import Views
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

    def read(self, records: pa.Table) -> tuple[Views, list[str], list[str]]:
        """Return the views of rows, names of columns that are missing, and of those that nobody asked for."""
        missing = [name for name in self.columns if name not in records.column_names]
        known = {*self.columns, self._predictor.id_column}
        unknown = [name for name in records.column_names if name not in known]
        if len(missing) == len(self.columns):
            raise DataError(f"No column of the model is there; it has {', '.join(list(self.columns)[:10])}.")
        for name in missing:
            records = records.append_column(name, pa.nulls(records.num_rows, self._type(name)))
        if self._predictor.table is not None:
            for name, storage in self._storage.items():
                column = records.column(name)
                if storage != "number" and not pa.types.is_string(column.type) and not pa.types.is_list(column.type):
                    place = records.column_names.index(name)
                    records = records.set_column(place, name, column.cast(pa.string()))
            try:
                return self._predictor.table.encode(records.select(list(self.columns))).views, missing, unknown
            except ValueError as error:
                raise DataError(str(error)) from None
        arrays = {}
        for name, group in self._groups.items():
            absent = [one for one in group if one in missing]
            if len(absent) == len(group):  # the whole view: rows lack it
                size = dict(zip(self._predictor.model.view_names_, self._predictor.model.view_sizes_, strict=True))
                arrays[name] = np.full((records.num_rows, size[name]), np.nan)
            else:
                arrays[name] = column_matrix(records, group, "the request")
        views = Views(arrays)
        views.features = list(self._predictor.model._view_features)
        return views, missing, unknown

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
    try:
        names = dict.fromkeys(name for one in records for name in one)
        return pa.table({name: [one.get(name) for one in records] for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"A column holds values of several kinds: {error}.") from None


class _Routes:
    def __init__(self, predictor: Predictor) -> None:
        self._predictor, self._reader = predictor, RowReader(predictor)
        self._lock, self._start = threading.Lock(), time.time()
        storage = getattr(self._reader, "_storage", {})
        self._text = [name for name, kind in storage.items() if kind != "number"]

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok", "seconds": round(time.time() - self._start, 1)})

    async def model(self, request: Request) -> Response:
        model = self._predictor.model
        about = {"model": type(model).__name__, "classes": model.classes_.tolist(), "columns": self._reader.columns}
        return JSONResponse({**about, "id": self._predictor.id_column})

    async def predict(self, request: Request) -> Response:
        kind = request.headers["content-type"].partition(";")[0].strip().lower()
        body = await request.body()
        return JSONResponse(await run_in_threadpool(self._predict, body, kind))

    def _predict(self, body: bytes, kind: str) -> dict[str, Any]:
        records = parse(body, kind, self._text)
        views, missing, unknown = self._reader.read(records)
        name = self._predictor.id_column
        ids = records.column(name).to_pylist() if name in records.column_names else range(records.num_rows)
        with self._lock:  # a model shares its threads between the rows of one request, not between requests
            labels = self._predictor.label(np.array([str(one) for one in ids]), views)
        rows = labels.drop_columns(["id"]).to_pylist()
        shown = [{"id": one, **row} for one, row in zip(ids, rows, strict=True)]
        return {"predictions": shown, "missing_columns": missing, "unknown_columns": unknown}


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
    found = _Routes(Predictor(model, [], None))
    routes = [
        Route("/health", found.health),
        Route("/model", found.model),
        Route("/predict", found.predict, methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers={DataError: _bad})
    return Guard(app, hosts, token, open_paths=("/health",), kinds=_KINDS, most_bytes=most_bytes)


async def _bad(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)
