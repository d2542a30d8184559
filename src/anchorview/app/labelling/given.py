"""What people have said, as a model takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """What people have said so far.

    Parameters
    ----------
    labels : mapping of int to str
        Label of each labelled row.
    sources : mapping of int to str
        How each of these rows was chosen, in the words of `label_source`; "skipped" for rows that got no label.
    skipped : tuple of int
        Rows that people looked at and could not label.
    classes : tuple of str
        All classes, in the order of the page.
    """

    labels: Mapping[int, str]
    sources: Mapping[int, str]
    skipped: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
