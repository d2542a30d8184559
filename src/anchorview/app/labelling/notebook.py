"""The labelling page in a cell of a notebook: the same front end and the same session, without a server."""

from __future__ import annotations

import asyncio
import getpass
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import narwhals as nw
import numpy as np
import numpy.typing as npt

from ...core.checks import shorten
from ...data.tables import is_table
from ..label_journal.journal import Header, ids_key, open_journal
from .assets import one_module, read_asset
from .live_model import LiveModel
from .model_files import AboutRows
from .rows import PageRows, fill_places
from .server import make_routes
from .session import Session
from .state import State

JOURNAL = "notebook.labels.jsonl"


def open_widget(model: Any, X: Any, contents: Any, journal: Any, who: str | None, guidelines: str) -> Any:
    """Return the widget for the rows of a fitted model; `LabelLoop.label` has the parameters."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError("Labelling in a notebook needs anywidget: pip install 'anchorview[notebook]'") from None

    session = open_session_of(model, X, contents, Path(journal or JOURNAL), guidelines)

    class LabelWidget(anywidget.AnyWidget):
        """The page; `labels` are what people have said so far."""

        _esm = one_module()
        _css = read_asset("page.css").decode()
        who = traitlets.Unicode().tag(sync=True)

        def __init__(self) -> None:
            super().__init__(who=who or _user())
            self.session = session
            self._app = make_routes(session)
            self._thread = ThreadPoolExecutor(1)  # the kernel's own thread has a running loop already
            self.on_msg(self._answer)
            session.subscribe(self._tell)

        @property
        def labels(self) -> dict[Any, str]:
            """Labels of rows, by their ids."""
            return {session.rows.ids[row]: label for row, label in session.book.labels.items()}

        def _answer(self, _: Any, question: dict[str, Any], buffers: Any) -> None:
            asked = ask(self._app, question["path"], question.get("body"))
            status, headers, data = self._thread.submit(asyncio.run, asked).result()
            kind = headers.get("content-type", "")
            is_json = kind.startswith("application/json")
            named = headers.get("content-disposition", '"').split('"')[1]
            about = {"id": question["id"], "status": status, "kind": kind, "name": named}
            self.send({**about, "value": json.loads(data) if is_json else None}, None if is_json else [data])

        def _tell(self, what: str) -> None:
            with suppress(Exception):  # the notebook is being closed
                self.send({"event": what, "value": session.overview(self.who)})

        def close(self) -> None:
            """End the page, and let others write the journal."""
            session.close()
            super().close()

    return LabelWidget()


def open_session_of(model: Any, X: Any, contents: Any, journal: Path, guidelines: str) -> Session:
    """Return a session on the rows of a fitted model, which follows the labels."""
    coordinates = model._places_of_rows()
    n_rows = len(coordinates)
    if len(X) != n_rows and not (isinstance(X, list | Mapping) and len(model.view_names_) == len(X)):
        raise ValueError(f"X has {len(X)} rows, and the fit had {n_rows}; give the rows of the fit.")
    if contents is None and is_table(X):
        contents = X
    table = None if contents is None else nw.from_native(contents, eager_only=True).to_arrow()
    if table is not None and table.num_rows != n_rows:
        raise ValueError(f"contents has {table.num_rows} rows, and the fit had {n_rows}; give a row for each.")
    ids = [str(name) for name in (range(n_rows) if model._ids is None else model._ids.tolist())]
    rows = model._labelled_rows()
    given = {int(row): str(label) for row, label in zip(rows, model.labels_[rows], strict=True)}
    classes = [str(name) for name in model.classes_.tolist()] if given else []
    class_ids = np.searchsorted(model.classes_, model.labels_) if given else np.full(n_rows, -1)
    confidence = np.asarray(model.confidence_, dtype=np.float32) if given else np.zeros(n_rows, dtype=np.float32)
    from ...readers.plane import map_to_plane

    places = fill_places(map_to_plane(coordinates))
    key = ids_key(ids)
    opened = open_journal(journal, Header(key, key, 0))
    live = LiveModel(
        None, coordinates, model=model, about=AboutRows(ids=model._ids, contents=table, places=places),
        as_label=_label_reader(model.classes_ if given else np.array([""])),
    )  # fmt: skip
    first = State(class_ids, confidence)
    return Session(PageRows(ids, places, coordinates, table, Path()), opened, live, first, classes, given, guidelines)


def _label_reader(classes: npt.NDArray[Any]) -> Any:
    """Return what turns the name of a class back into a label of the fit."""
    if classes.dtype.kind not in "iuf":
        return str
    names = {str(value): value for value in classes.tolist()}

    def read(name: str) -> Any:
        if name in names:
            return names[name]
        try:
            return int(name) if classes.dtype.kind in "iu" else float(name)
        except ValueError:
            shown = shorten(name)
            raise ValueError(f"The classes of this fit are numbers, so {shown} cannot be one; use a number.") from None

    return read


async def ask(app: Any, path: str, body: Any) -> tuple[int, dict[str, str], bytes]:
    """Ask an application as a server would, and return status, headers and body of its answer."""
    parts, data = urlsplit(path), b"" if body is None else json.dumps(body).encode()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": "GET" if body is None else "POST", "path": parts.path, "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(), "headers": [(b"content-type", b"application/json")],
        "server": ("notebook", 0), "client": None,
    }  # fmt: skip
    status, headers, chunks = 0, dict[str, str](), list[bytes]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update({name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]})
        else:
            chunks.append(message.get("body", b""))

    await app(scope, receive, send)
    return status, headers, b"".join(chunks)


def _user() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return "you"
