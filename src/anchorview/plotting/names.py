"""Names of classes, made short enough for a picture; different names stay different."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterable


def short_names(names: Iterable[object], limit: int) -> list[str]:
    """Return names of at most so many characters, with an ellipsis in the middle of those that were longer.

    Names that would look alike then show the place where they differ; if that is not enough, they are numbered.

    Examples
    --------
    >>> short_names(["cat", "customer asked for a refund of a payment"], 20)
    ['cat', 'customer a… payment']
    >>> long = [f"handwritten digit {number} as drawn by children" for number in (7, 8)]
    >>> short_names(long, 20)
    ['han…t 7 as drawn by…', 'han…t 8 as drawn by…']
    """
    full = [" ".join(str(name).split()) or repr(name) for name in names]  # one line; blanks can be seen
    short = [_cut_middle(name, limit) for name in full]
    for text, times in Counter(short).items():
        if times > 1:
            alike = [place for place, other in enumerate(short) if other == text]
            for place, name in zip(alike, _around_difference([full[place] for place in alike], limit), strict=True):
                short[place] = name
    return _numbered(short, limit)


def _cut_middle(name: str, limit: int) -> str:
    if len(name) <= limit:
        return name
    head = limit // 2
    return f"{name[:head].rstrip()}…{name[len(name) - (limit - head - 1) :].rstrip()}"


def _around_difference(names: list[str], limit: int) -> list[str]:
    """Cut names to their first letters and what begins just before the first letter in which they differ."""
    start = len(os.path.commonprefix(names)) - 2
    if start <= 4:
        return [name if len(name) <= limit else name[: limit - 1] + "…" for name in names]
    room = limit - 4
    rest = [name[start:] for name in names]
    return [names[0][:3] + "…" + (text if len(text) <= room else text[: room - 1] + "…") for text in rest]


def _numbered(names: list[str], limit: int) -> list[str]:
    """Number names that are still the same."""
    counts, seen, taken = Counter(names), Counter[str](), set(names)
    result = []
    for name in names:
        if counts[name] > 1:
            name, base = "", name
            while not name or name in taken:
                seen[base] += 1
                mark = f" ({seen[base]})"
                name = base[: max(limit - len(mark), 1)] + mark
            taken.add(name)
        result.append(name)
    return result
