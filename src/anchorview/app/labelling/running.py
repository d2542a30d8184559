"""The server as a process: a free port on this machine, the address with its token, the browser."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from typing import Any

from ..errors import CommandError, UsageError

LOOPBACK = "127.0.0.1"


def open_socket(port: int, host: str = LOOPBACK) -> socket.socket:
    """Return a socket that listens; that the port is in use is an error that says what to do."""
    # With the protocol named, asyncio sends small answers at once; else the system holds each back for 40 ms.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise CommandError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}); choose another by --port, or leave it "
            "out to take a free one."
        ) from None
    return found


def serve_app(app: Any, found: socket.socket, on_start: Callable[[], None]) -> None:
    """Answer requests until the command is ended."""
    try:
        import uvicorn
    except ImportError:
        raise UsageError("The server needs starlette and uvicorn: pip install 'anchorview[serve]'") from None

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    Server(config).run(sockets=[found])


def new_token() -> str:
    """Return a secret that cannot be guessed."""
    return secrets.token_urlsafe(24)


def open_browser(address: str) -> None:
    """Show the page, if there is a browser."""
    webbrowser.open(address)
