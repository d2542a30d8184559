"""What the command prints: names from files are shown, never obeyed.

A class, a column or a file may be named so that a terminal would change its title, its colours or what stands above:
whatever is printed goes through here, and control characters are shown as Python writes them.
"""

from __future__ import annotations

import json
from typing import Any

import typer

from ..core.printable import printable


def say(text: str, *, err: bool = False) -> None:
    """Print lines."""
    typer.echo(printable(text, keep="\n"), err=err)


def say_json(value: Any, *, indent: int | None = None) -> None:
    """Print JSON, in which control characters are escapes as well."""
    typer.echo(json.dumps(value, indent=indent).replace("\x7f", "\\u007f"))


def in_markup(text: str) -> str:
    """Return text for rich, which is to show its brackets rather than obey them."""
    from rich.markup import escape

    return escape(printable(text))
