"""Who may talk to the server: this machine's browser, on the server's own page, with the token it was opened with.

A page of another site can send requests to a server on this machine, and by DNS rebinding even read the answers. So the
Host is compared exactly (a rebound name is another one), the Origin too, everything but the empty page needs the token,
and only JSON is taken, which a foreign form cannot send.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection
from typing import Any

MOST_BYTES = 8_000_000
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """Refuses requests before anything else sees them.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    hosts : collection of str
        Values of Host that are the server's own, with the port; empty if any will do.
    token : str or None
        The secret; None if none is needed.
    open_paths : collection of str
        Paths, or beginnings that end in "/", that need no token: they hold nothing of the user's.
    kinds : collection of str
        Types of bodies that are taken.
    most_bytes : int
        The largest body.
    """

    def __init__(
        self,
        app: Any,
        hosts: Collection[str],
        token: str | None,
        open_paths: Collection[str] = (),
        kinds: Collection[str] = ("application/json",),
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._app, self._hosts, self._token, self._kinds = app, hosts, token, kinds
        self._open = open_paths
        self._most = most_bytes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is not None:
            status, text = refused
            body = json.dumps({"error": text}).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": [*headers, *_HEADERS]})
            await send({"type": "http.response.body", "body": body})
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refuse(self, scope: Any) -> tuple[int, str] | None:
        named: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            named.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if self._hosts:
            if len(named.get("host", [])) != 1 or named["host"][0] not in self._hosts:
                return 403, "This server answers to its own address only."
            origin = named.get("origin", [])
            if origin and (len(origin) != 1 or origin[0] not in [f"http://{host}" for host in self._hosts]):
                return 403, "Requests of other pages are refused."
            if named.get("sec-fetch-site", ["none"])[0] not in ("same-origin", "none"):
                return 403, "Requests of other pages are refused."
        is_open = any(scope["path"] == path or (path.endswith("/") and path != "/" and scope["path"].startswith(path))
                      for path in self._open)  # fmt: skip
        if self._token is not None and not is_open:
            shown = named.get("authorization", [""])[0]
            if not hmac.compare_digest(shown.encode(), f"Bearer {self._token}".encode()):
                return 401, "The token is missing or wrong; open the address that the command printed."
        if scope["method"] == "POST":
            kind = named.get("content-type", [""])[0].partition(";")[0].strip().lower()
            if kind not in self._kinds:
                return 415, f"The body must be {' or '.join(self._kinds)}."
            length = named.get("content-length", [""])[0]
            if not length.isdigit():
                return 411, "The length of the body must be given."
            if int(length) > self._most:
                return 413, f"The body is larger than {self._most:,} bytes; send fewer rows at a time."
        return None
