"""The front end: small modules without a framework or a build step."""

from __future__ import annotations

import re
from importlib import resources

# Each after those that it imports; main.js and server_model.js are of the page alone, notebook_model.js of a notebook.
MODULES = (
    "dom.js",
    "shaders.js",
    "map.js",
    "header.js",
    "picker.js",
    "queue.js",
    "panels.js",
    "keys.js",
    "answers.js",
    "page.js",
)
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def read_asset(name: str) -> bytes:
    """Return a file of the front end."""
    return resources.files(__name__).joinpath(name).read_bytes()


def one_module() -> str:
    """Return the front end as one module, which is what a notebook takes: its files one after another."""
    texts = [read_asset(name).decode() for name in (*MODULES, "notebook_model.js")]
    joined = "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)
    start = "({ model, el }) => render({ model: new NotebookModel(model, el), el })"
    return f"{joined}\nexport default {{ render: {start} }}\n"
