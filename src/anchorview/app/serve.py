"""The command `anchorview serve`: a model that labels rows over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .errors import DataError, UsageError
from .speaking import say

_LOOPBACK = "127.0.0.1"


def serve(
    model: Annotated[Path, typer.Argument(help="The model file, or the folder of a run.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on, for other machines; requires --token.", show_default=False),
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="ANCHORVIEW_TOKEN", help="Secret that clients send as a bearer token.")
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1000, help="Largest size of a request, in bytes.")] = 32_000_000,
) -> None:
    """Serve predictions over HTTP (POST /predict) until Ctrl-C.

    Rows are JSON records or CSV, with the columns of the fit: curl -H 'Content-Type: application/json' -d '[{"text":
    "..."}]' http://127.0.0.1:8000/predict. Missing columns count as missing values; GET /model lists all.
    """
    if host is not None and not token:
        raise UsageError("--host lets other machines in; protect the model by a secret: --token SECRET.")
    path = model / "model.anchorview" if model.is_dir() else model
    if not path.is_file():
        raise DataError(f"There is no model {path}; name a .anchorview file, or the folder of a run.")
    from .labelling.running import open_socket
    from .labelling.running import serve_app as run_server

    try:
        from .serving import make_prediction_app
    except ImportError:
        raise UsageError("The server needs starlette and uvicorn: pip install 'anchorview[serve]'") from None
    found = open_socket(port, host or _LOOPBACK)
    try:
        number = found.getsockname()[1]
        hosts = [] if host is not None else [f"{_LOOPBACK}:{number}", f"localhost:{number}"]
        app = make_prediction_app(path, token, hosts, max_bytes)
        run_server(app, found, lambda: say(f"Serving {path} at http://{host or _LOOPBACK}:{number}/predict"))
    finally:
        found.close()
