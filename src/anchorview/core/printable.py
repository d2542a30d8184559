"""Text from files as it may be shown: names are read, never obeyed by a terminal."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d\u00ad"  # of Persian words, of emoji, and where a word may be broken


def printable(text: str, *, keep: str = "") -> str:
    r"""Return text with control characters, and those that change the direction of writing, as escapes.

    Control characters to `keep`, such as the ends of lines, stay.

    Examples
    --------
    >>> print(printable("spam\x1b]0;title\x07"), printable("naïve 日本 👩‍🔬"))
    spam\x1b]0;title\x07 naïve 日本 👩‍🔬
    """
    if text.isprintable():
        return text
    return "".join(_shown(char) if _is_control(char) and char not in keep else char for char in text)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS


def _shown(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
