"""The page's server: a thin layer of HTTP over a session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .answers import BadRequest
from .assets import MODULES, read_asset
from .exporting import FORMS, export_file
from .guard import Guard
from .session import Session
from .wire import pack_map, pack_state

ASSETS = {
    **dict.fromkeys(["page.css", "shell.css"], "text/css"),
    **dict.fromkeys([*MODULES, "main.js", "server_model.js"], "text/javascript"),
}
_MOST_ROWS = 200_000  # of a search
_BEAT = 15.0  # seconds between signs of life of an event stream
Handler = Callable[[Request], Awaitable[Response]]


def make_app(session: Session, token: str, port: int) -> Guard:
    """Return the application.

    Parameters
    ----------
    session : Session
        What it shows.
    token : str
        The secret that every request but that for the empty page carries.
    port : int
        Where it listens: part of its address.
    """
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    return Guard(make_routes(session), hosts, token, open_paths=("/", "/assets/", "/favicon.ico"))


def make_routes(session: Session) -> Starlette:
    """Return the application without its guard."""
    to = _Routes(session)
    routes = [
        Route("/", to.page),
        Route("/favicon.ico", to.icon),
        Route("/assets/{name}", to.asset),
        Route("/start", to.start),
        Route("/map.bin", to.places),
        Route("/state.bin", to.state),
        Route("/queue", to.queue),
        Route("/overview", to.overview),
        Route("/rows/{row:int}", to.row),
        Route("/similar/{row:int}", to.similar),
        Route("/image/{row:int}", to.image),
        Route("/search", to.search),
        Route("/disputed", to.disputed),
        Route("/groups", to.groups),
        Route("/events", to.events),
        Route("/export", to.export),
        Route("/labels", to.labels, methods=["POST"]),
        Route("/undo", to.undo, methods=["POST"]),
        Route("/classes", to.classes, methods=["POST"]),
        Route("/sample", to.sample, methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers={BadRequest: _bad, OSError: _failed})


class _Routes:
    """One method for each address."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._packed: tuple[Any, bytes] | None = None
        self._map: bytes | None = None

    async def page(self, request: Request) -> Response:
        return Response(read_asset("page.html"), media_type="text/html")

    async def icon(self, request: Request) -> Response:
        return Response(status_code=204)  # browsers ask for it, without the token

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:  # a list of names: no path of the browser's reaches the disk
            return JSONResponse({"error": "There is no such file."}, 404)
        return Response(read_asset(name), media_type=ASSETS[name])

    async def start(self, request: Request) -> Response:
        who = _who(request)
        note = self._session.journal.note
        forms = [{"form": form, "name": one.name, "about": one.about} for form, one in FORMS.items()]
        shown = {"guidelines": self._session.guidelines, "note": note, "forms": forms}
        return JSONResponse({**self._session.overview(who), **shown})

    async def places(self, request: Request) -> Response:
        if self._map is None:
            self._map = pack_map(self._session.rows.places)
        return _binary(self._map)

    async def state(self, request: Request) -> Response:
        now = self._session.state, self._session.figures
        if self._packed is None or self._packed[0] != now:
            self._packed = now, pack_state(*now, self._session.labels().labels)
        return _binary(self._packed[1])

    async def queue(self, request: Request) -> Response:
        return JSONResponse({"queue": self._session.queue(_who(request))})

    async def overview(self, request: Request) -> Response:
        return JSONResponse(self._session.overview(_who(request)))

    async def row(self, request: Request) -> Response:
        return JSONResponse(self._session.describe(request.path_params["row"], who=_who(request)))

    async def similar(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._session.similar, request.path_params["row"]))

    async def image(self, request: Request) -> Response:
        row = request.path_params["row"]
        found = self._session.rows.picture(row) if row < len(self._session.rows) else None
        if found is None:
            return JSONResponse({"error": "The picture of this row cannot be read."}, 404)
        return Response(found[0], media_type=found[1])

    async def search(self, request: Request) -> Response:
        text = request.query_params.get("q", "")[:200]
        rows = await run_in_threadpool(self._session.rows.search, text)
        return JSONResponse({"rows": rows[:_MOST_ROWS], "more": max(0, len(rows) - _MOST_ROWS)})

    async def disputed(self, request: Request) -> Response:
        return JSONResponse(self._session.describe_disputed())

    async def groups(self, request: Request) -> Response:
        return JSONResponse(self._session.groups())

    async def export(self, request: Request) -> Response:
        form = request.query_params.get("form", "csv")
        if form not in FORMS:
            raise BadRequest(f"form must be one of {', '.join(FORMS)}.")
        data = await run_in_threadpool(export_file, self._session, form)
        named = {"content-disposition": f'attachment; filename="{FORMS[form].file}"'}
        return Response(data, media_type=FORMS[form].kind, headers=named)

    async def labels(self, request: Request) -> Response:
        body = await _json(request)
        items = body.get("events")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise BadRequest("events must be a list of events.")
        # Written here, not in a thread: an fsync takes a fraction of a millisecond, and the answer must wait for it.
        overview = self._session.take(_name(body.get("who")), items)
        return JSONResponse({**overview, "queue": self._session.queue(_name(body.get("who")))})

    async def undo(self, request: Request) -> Response:
        body = await _json(request)
        who, key = _name(body.get("who")), body.get("key")
        overview = await run_in_threadpool(self._session.undo, who, key if isinstance(key, str) else None)
        return JSONResponse({**overview, "queue": self._session.queue(who)})

    async def classes(self, request: Request) -> Response:
        body = await _json(request)
        return JSONResponse(self._session.add_class(_name(body.get("who")), body.get("name")))

    async def sample(self, request: Request) -> Response:
        rows = (await _json(request)).get("rows")
        if not isinstance(rows, list) or not all(
            type(row) is int and 0 <= row < len(self._session.rows) for row in rows
        ):
            raise BadRequest("rows must be a list of numbers of rows.")
        return JSONResponse(await run_in_threadpool(self._session.sample, rows))

    async def events(self, request: Request) -> Response:
        loop, who = asyncio.get_running_loop(), _who(request)
        waiting: asyncio.Queue[str] = asyncio.Queue()

        def hear(what: str) -> None:
            loop.call_soon_threadsafe(waiting.put_nowait, what)

        stop = self._session.subscribe(hear)

        async def stream() -> AsyncIterator[str]:
            try:
                yield _message("hello", self._session.overview(who))
                while True:
                    try:
                        what = await asyncio.wait_for(waiting.get(), _BEAT)
                    except TimeoutError:
                        yield ": still here\n\n"
                        continue
                    while not waiting.empty():
                        what = "state" if "state" in (what, waiting.get_nowait()) else what
                    yield _message(what, self._session.overview(who))
            finally:
                stop()

        return StreamingResponse(stream(), media_type="text/event-stream")


def _message(name: str, value: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(value)}\n\n"


def _binary(data: bytes) -> Response:
    return Response(data, media_type="application/octet-stream")


def _who(request: Request) -> str:
    return _name(request.query_params.get("who"))


def _name(who: Any) -> str:
    return who.strip()[:60] if isinstance(who, str) and who.strip() else "you"


async def _json(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    return body


async def _bad(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"{error} The label was not taken."}, 507)
