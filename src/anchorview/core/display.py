"""How a fitted estimator shows itself in a notebook, and how its rows are labelled there.

Estimators stand below those who can draw, so they do not know them: who draws registers here, and estimators ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_forms: list[Callable[[Any], str | None]] = []
_pages: list[Callable[..., Any]] = []


def register_form(form: Callable[[Any], str | None]) -> None:
    """Register a function that returns the HTML of a fitted estimator, or None if it has nothing to show."""
    _forms.append(form)


def html_form(estimator: Any, diagram: str) -> str:
    """Return the HTML of an estimator: what was registered, with scikit-learn's diagram folded away, or the diagram."""
    for form in _forms:
        shown = form(estimator)
        if shown is not None:
            return f"{shown}<details><summary>Parameters</summary>{diagram}</details>"
    return diagram


def register_label_page(page: Callable[..., Any]) -> None:
    """Register a function that returns the labelling page of a fitted estimator, as a widget."""
    _pages.append(page)


def label_page(estimator: Any, *arguments: Any) -> Any:
    """Return the labelling page of a fitted estimator."""
    return _pages[-1](estimator, *arguments)
