"""Labels that nothing can be learned from, and names of classes that look odd."""

from __future__ import annotations

import re
import shlex
import unicodedata
from typing import Any

from ...data.labels import looks_missing
from ..errors import DataError
from .labels import RunLabels

_ALL_DIFFERENT = 0.8  # classes per label above which labels are ids or free text
_ENOUGH = 10  # labels to tell that from a few classes with a label each


def check_labels(labels: RunLabels, clusters: int | str | None) -> None:
    """Refuse labels that nothing can be learned from."""
    counts = labels.counts
    n_labels = sum(counts.values())
    if not counts:
        if clusters is None:
            where = f"{labels.place} has no label in any row" if labels.place else "There are no labels"
            raise DataError(
                f"{where}; give some (--label COLUMN or --labels FILE), or cluster: --clusters K (a number, or auto)."
            )
        return
    if len(counts) == 1 and clusters is None:
        raise DataError(
            f"{labels.place}: every label is {next(iter(counts))!r}, so every row would get it; label rows of at least "
            "two classes."
        )
    if n_labels >= _ENOUGH and len(counts) >= n_labels * _ALL_DIFFERENT:
        raise DataError(
            f"{labels.place}: {len(counts)} different labels in {n_labels} labelled rows. This looks like an id or "
            "free text, not a class; name another column, or label more rows of each class."
        )
    for name, count in counts.items():
        if looks_missing(name) and 2 * count > n_labels:
            raise DataError(
                f"{labels.place}: {count} of {n_labels} labels are {name!r}, which looks like 'no label'. If it is, "
                f"add --unlabelled {shlex.quote(str(name))}; if it is a class, give it another name."
            )
    fractions = [value for value in counts if isinstance(value, float)]
    if fractions:
        raise DataError(f"{labels.place}: {fractions[0]:g} is not a class; labels are text or whole numbers.")


def notes_on_classes(counts: dict[Any, int]) -> list[str]:
    """Return what looks odd about the names of classes: several spellings of one, and names that mean "no label"."""
    notes = []
    spellings: dict[str, list[str]] = {}
    for name in counts:
        if isinstance(name, str):
            spellings.setdefault(_spelled_plainly(name), []).append(name)
    for names in spellings.values():
        if len(names) > 1:
            listed = ", ".join(f"{name!r} ({counts[name]:,})" for name in names[:5])
            notes.append(f"These classes differ in spelling only: {listed}. If they are one, write it in one way.")
    notes += [
        f"{name!r} is taken as a class ({count:,} labels). If it means 'no label', add --unlabelled "
        f"{shlex.quote(str(name))}."
        for name, count in counts.items()
        if looks_missing(name)
    ]
    return notes


def _spelled_plainly(name: str) -> str:
    """Return a name without what people vary: case, blanks, hyphens, accents composed or not."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s_-]+", "", text) or text
