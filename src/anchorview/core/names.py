"""Names of classes, made short enough for a picture; different names stay different."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable


def short_names(names: Iterable[object], limit: int) -> list[str]:
    """Return names of at most so many characters, with an ellipsis in the middle of those that were longer.

    Names that would look alike then show the words in which they differ, or what begins with their first difference;
    if that is not enough, they are numbered.

    Examples
    --------
    >>> short_names(["cat", "customer asked for a refund of a payment"], 20)
    ['cat', 'customer a…a payment']
    >>> short_names([f"handwritten digit {number} as drawn by children" for number in (7, 8)], 20)
    ['…7…', '…8…']
    """
    full = [" ".join(str(name).split()) or repr(name) for name in names]  # one line; blanks can be seen
    short = [_cut_middle(name, limit) for name in full]
    cut = [place for place, name in enumerate(full) if len(name) > limit]
    if len(set(short)) < len(set(full)):
        for place, name in zip(cut, _own_words([full[place] for place in cut], limit), strict=True):
            short[place] = name
    for text, times in Counter(short).items():
        alike = [place for place, other in enumerate(short) if times > 1 and other == text]
        for way in (_own_words, _from_difference) if alike else ():
            better = way([full[place] for place in alike], limit)
            if len({*short, *better}) == len(set(short)) + len(better):  # they differ from one another and the rest
                for place, name in zip(alike, better, strict=True):
                    short[place] = name
                break
    return _numbered(short, limit)


def _cut_middle(name: str, limit: int) -> str:
    if len(name) <= limit:
        return name
    head = limit // 2
    return f"{name[:head].rstrip()}…{name[len(name) - (limit - head - 1) :].lstrip()}"


def _own_words(names: list[str], limit: int) -> list[str]:
    """Leave out the words that all names have."""
    words = [re.findall(r"[^\W_]+|[\W_]+", name) for name in names]
    shared = set.intersection(*map(set, words))
    own = ["".join("…" if word in shared else word for word in each) for each in words]
    return [_cut_middle(re.sub("…+", "…", name), limit) for name in own]


def _from_difference(names: list[str], limit: int) -> list[str]:
    """Cut off what comes before the first letter in which the names differ."""
    same = [len(set(letters)) == 1 for letters in zip(*names, strict=False)]
    start = max(sum(itertools.takewhile(bool, same)) - 2, 0)
    room = limit - 1 if start else limit
    rest = [name[start:] for name in names]
    return ["…" * (start > 0) + (text if len(text) <= room else text[: room - 1] + "…") for text in rest]


def _numbered(names: list[str], limit: int) -> list[str]:
    """Put numbers to names that are still the same."""
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
