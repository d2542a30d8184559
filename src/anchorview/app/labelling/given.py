"""What people have said, as a model takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GivenLabels:
    """What people have said so far.

    Parameters
    ----------
    labels : mapping of int to str
        Label of each labelled row.
    sources : mapping of int to str
        How each of these rows was chosen: "random", "suggested", "lasso", "search", "review", "import".
    guesses : mapping of int to str or None
        What a model that did not know the label said of the row.
    skipped : tuple of int
        Rows that people looked at and could not label.
    classes : tuple of str
        All classes, in the order of the page.
    """

    labels: Mapping[int, str]
    sources: Mapping[int, str]
    guesses: Mapping[int, str | None] = field(default_factory=dict)
    skipped: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
