"""A labelling session on a few digits, its model in a thread, and a server for it in this process."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anchorview.app.label_journal.journal import Header, Journal
from anchorview.app.labelling.given import GivenLabels
from anchorview.app.labelling.live_model import LiveModel
from anchorview.app.labelling.rows import PageRows, fill_places
from anchorview.app.labelling.session import Session
from anchorview.app.labelling.state import Figures, State, no_figures, no_state

HEADER = Header("run", "ids", 0)
TOKEN = "secret-token"
HTML = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"


class FixedModel:
    """A model that says nothing, at once."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows, self.seen, self.wait = n_rows, list[GivenLabels](), 0.0

    def update(self, given: GivenLabels) -> State:
        self.seen.append(given)
        time.sleep(self.wait)
        return dataclasses.replace(no_state(self.n_rows), version=len(self.seen))

    def judge(self, given: GivenLabels) -> Iterator[Figures]:
        suggested = [(row, "why") for row in range(self.n_rows) if row not in given.labels]
        yield dataclasses.replace(no_figures(self.n_rows), suggested=suggested)

    def save(self, form: str) -> bytes:
        raise ValueError("There is no model yet.")

    def close(self) -> None:
        pass


def plain_rows(n_rows: int = 60, contents: Any = None, folder: Path | None = None) -> PageRows:
    rng = np.random.RandomState(0)
    coordinates = rng.normal(size=(n_rows, 4)).astype(np.float32)
    coordinates /= np.linalg.norm(coordinates, axis=1, keepdims=True)
    ids = [f"r{row}" for row in range(n_rows)]
    return PageRows(ids, fill_places(rng.normal(size=(n_rows, 2))), coordinates, contents, folder)


def plain_session(path: Path, n_rows: int = 60, contents: Any = None, classes: tuple[str, ...] = ("a", "b")) -> Session:
    """A session on rows without features."""
    rows = plain_rows(n_rows, contents, path.parent)
    return Session(rows, Journal(path, HEADER), FixedModel(n_rows), no_state(n_rows), classes)


def nasty_table(n_rows: int = 60) -> Any:
    """Cells that would break a page that takes them for HTML."""
    return pa.table({"text": [f"{HTML} row {row} {'long ' * 20}" for row in range(n_rows)], HTML: ["x"] * n_rows})


def digits_session(path: Path, digits: Any, model: Any, classes: tuple[str, ...]) -> Session:
    """A session on the digits, with no label yet; `model` is a fit that gives the codes."""
    from anchorview.readers.plane import map_to_plane

    codes = model._places_of_rows()
    n = len(codes)
    rows = PageRows([str(row) for row in range(n)], fill_places(map_to_plane(codes, n_landmarks=200)), codes)
    learner = LiveModel(digits.views, codes, 0, 1)
    return Session(rows, Journal(path, HEADER), learner, no_state(n), classes)


@contextlib.contextmanager
def served(session: Session, port: int = 0) -> Iterator[str]:
    """Serve a session in a thread; give the address with its token."""
    import uvicorn

    from anchorview.app.labelling.running import open_socket
    from anchorview.app.labelling.server import make_app

    found = open_socket(port)
    number = found.getsockname()[1]
    app = make_app(session, TOKEN, number)
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run(sockets=[found]), daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{number}/#token={TOKEN}&who=ann"
    finally:
        server.should_exit = True
        thread.join(10)
        found.close()


def wait_until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "never true"
        time.sleep(0.02)
