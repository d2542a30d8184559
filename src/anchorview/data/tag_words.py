"""The parts of cells with several values: lists of words, e-mail addresses, web addresses."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np

TAGS, EMAIL, URL = "tags", "email", "url"
_MOST_PARTS = 12  # of a web address: what comes later are ids
_ADDRESS = re.compile(r"(?:.*<)?\s*([\w.+%'-]+@(?:[\w-]+\.)+[a-z]{2,})\s*>?", re.IGNORECASE)
_WEB = re.compile(r"(?:(?:https?|ftp)://|www\.)\S+\.\S+", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3,}")


def is_address(text: str) -> bool:
    """Tell an e-mail address, alone or as ``Ann <ann@example.org>``."""
    return _ADDRESS.fullmatch(text) is not None


def is_web_address(text: str) -> bool:
    """Tell a web address."""
    return _WEB.fullmatch(text) is not None


def read_tags(cell: Any) -> list[str] | None:
    """Return a list of words, as JSON or Python write it; None for anything else.

    Examples
    --------
    >>> read_tags('["red", "blue"]'), read_tags("['red']"), read_tags(["a", "b"]), read_tags("[1, 2]")
    (['red', 'blue'], ['red'], ['a', 'b'], None)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if not (text.startswith("[") and text.endswith("]")):
            return None
        for parse in (json.loads, ast.literal_eval):
            try:
                cell = parse(text)
                break
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    if not isinstance(cell, list | tuple | np.ndarray) or not all(isinstance(one, str) for one in cell):
        return None
    return [str(one) for one in cell]


def _address_parts(cell: Any) -> list[str] | None:
    found = _ADDRESS.fullmatch(str(cell).strip())
    if found is None:
        return None
    address = found[1].lower()
    return [address, f"@{address.rpartition('@')[2]}"]


def _web_parts(cell: Any) -> list[str] | None:
    text = str(cell).strip()
    if not is_web_address(text):
        return None
    try:
        split = urlsplit(text if "://" in text else f"http://{text}")
        host = (split.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    ends = host.split(".")
    parts = [host, ".".join(ends[-2:]), *(word.lower() for word in _WORD.findall(split.path))]
    return list(dict.fromkeys(parts))[:_MOST_PARTS]


TAG_READERS: dict[str, Callable[[Any], list[str] | None]] = {
    TAGS: read_tags,
    EMAIL: _address_parts,
    URL: _web_parts,
}
