"""What a browser says that a person did, checked before anything is kept."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from ..label_journal.journal import Event

KINDS = ("label", "skip", "flag", "none")
WHYS = ("lasso", "search", "review", "group", "import")  # what a browser may say; the rest the session knows
_LONGEST_NAME, _LONGEST_KEY = 200, 100


class BadRequest(ValueError):
    """Something that cannot be taken; nothing was changed."""


def read_answer(item: dict[str, Any], n_rows: int, labelled: Container[int]) -> Event:
    """Return an answer as an event without its person; an error if anything in it is wrong.

    Many rows at once never replace what somebody said of a single row: rows that have a label are left out.
    """
    kind, rows, label, why = (item.get(name) for name in ("kind", "rows", "label", "why"))
    if kind not in KINDS:
        raise BadRequest(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    if not isinstance(rows, list) or not rows or not all(type(row) is int for row in rows):
        raise BadRequest("rows must be a list of numbers of rows.")
    strange = [row for row in rows if not 0 <= row < n_rows]
    if strange:
        raise BadRequest(f"There is no row {strange[0]}; rows are numbered from 0 to {n_rows - 1}.")
    if kind == "label":
        label = check_name(label)
    elif label is not None:
        raise BadRequest(f"{kind} takes no label.")
    if why is not None and why not in WHYS:
        raise BadRequest(f"why must be one of {', '.join(WHYS)}; got {why!r}.")
    if len(rows) > 1 and why != "review":
        rows = [row for row in rows if row not in labelled]
        if not rows:
            raise BadRequest("All of these rows have a label already.")
    ms, key = item.get("ms"), item.get("key")
    if (ms is not None and type(ms) is not int) or (key is not None and not is_key(key)):
        raise BadRequest(f"ms must be a whole number, and key a text of at most {_LONGEST_KEY} characters.")
    return Event(kind, tuple(rows), label=label, why=why, ms=ms, key=key)


def is_key(key: Any) -> bool:
    """Tell whether something can name an event."""
    return isinstance(key, str) and len(key) <= _LONGEST_KEY


def check_name(name: Any) -> str:
    """Return the name of a class, without blanks around it.

    Examples
    --------
    >>> check_name(" cat ")
    'cat'
    """
    if not isinstance(name, str) or not name.strip():
        raise BadRequest("A class needs a name.")
    name = str(name).strip()
    if len(name) > _LONGEST_NAME or name == "-1":
        raise BadRequest(
            f"{name[:20]!r} cannot be the name of a class: at most {_LONGEST_NAME} characters, and not -1."
        )
    return str(name)
