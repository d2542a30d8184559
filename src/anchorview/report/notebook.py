"""What a notebook shows of a fitted model: the result in words beside a small map, as one piece of HTML."""

from __future__ import annotations

import weakref
from html import escape
from typing import Any

import numpy as np

from ..core.arrays import Matrix, Rows
from ..core.colours import distinct_colours
from ..core.names import short_names
from ..label_loop.judging import LabelLoop
from ..readers.plane import draw_from_classes, map_to_plane
from .run_summary import RunSummary, summarise_run
from .run_words import count, describe_result
from .telling import ClassFeatures, class_features

_MOST_DOTS, _MOST_RINGS = 1500, 300
_MOST_NAMED = 12  # classes in the key
_SIDE, _EDGE = 300, 8  # pixels of the map, and of the room around it
_NEEDED = ("labels_", "embedding_", "confidence_", "classes_", "held_out_", "status_", "stage_seconds_")
# Maps of models that were shown: a notebook asks twice for one picture. The embedding tells whether it was fitted anew.
_maps: weakref.WeakKeyDictionary[Any, tuple[Matrix, Rows, Matrix]] = weakref.WeakKeyDictionary()


def fitted_form(model: LabelLoop) -> str | None:
    """Return the summary of a fitted model as HTML; None if it is not fitted, or does not hold its rows.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> fitted_form(FSSMSC()) is None
    True
    """
    if not all(hasattr(model, name) for name in _NEEDED):
        return None
    nowhere = np.full((len(model.labels_), 2), np.nan)
    summary = summarise_run(model, xy=nowhere, n_suggested=0)
    prepared = vars(model).get("_prepared")  # what a fit in this process remembers of its rows
    views = None if prepared is None else prepared.given.views
    telling = class_features(views, summary.class_ids, len(summary.classes))
    sentences = describe_result(summary)
    if len(summary.suspects):
        sentences.append(f"It disputes {count(len(summary.suspects), 'given label')}.")
    words = "".join(f"<p style='margin:0 0 .5em'>{escape(sentence)}</p>" for sentence in sentences)
    card = "background:#ffffff;color:#1b2530;border:1px solid #dce1e7;border-radius:8px;padding:14px 16px"
    text = "font:14px/1.5 system-ui,sans-serif;max-width:860px;margin-bottom:6px;overflow-wrap:anywhere"
    return (
        f'<div style="{card};{text};display:flex;flex-wrap:wrap;gap:8px 24px">'
        f'<div style="flex:1 1 300px;min-width:0">'
        f'<strong style="font-size:16px">{escape(summary.method)}, fitted</strong>'
        f'<div style="margin-top:8px">{words}</div>{_key(summary, telling)}</div>{_map(model, summary)}</div>'
    )


def _key(summary: RunSummary, telling: list[ClassFeatures]) -> str:
    """Return the names and sizes of the largest classes, in their colours, and what tells them from the others."""
    colours, names = distinct_colours(len(summary.classes)), short_names(summary.classes, 30)
    sizes = np.bincount(summary.class_ids[summary.class_ids >= 0], minlength=len(names))
    shown = np.argsort(-sizes, kind="stable")[:_MOST_NAMED]
    entries = [
        f'<span style="{"display:block" if any(telling) else "white-space:nowrap"};margin-right:14px">'
        '<span style="display:inline-block;width:10px;height:10px;'
        f'border-radius:3px;margin-right:6px;background:{colours[number]}"></span>{escape(names[number])} '
        f'<span style="color:#525d6a">{sizes[number]:,} {escape(str(telling[number]))}</span></span>'
        for number in shown
    ]
    more = f'<span style="color:#525d6a">and {len(names) - len(shown)} more</span>' if len(names) > len(shown) else ""
    return f'<div style="font-size:13px;line-height:1.8">{" ".join(entries)}{more}</div>'


def _map(model: LabelLoop, summary: RunSummary) -> str:
    """Return a small map as SVG: a path of dots for each class, given labels ringed."""
    rows, places = _places(model, summary)
    if not len(rows):
        return ""
    span = float(np.ptp(places, axis=0).max()) or 1.0
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    spots = _SIDE / 2 + (places - middle) / span * (_SIDE - 2 * _EDGE)
    spots[:, 1] = _SIDE - spots[:, 1]
    class_ids, parts = summary.class_ids[rows], []
    for number, colour in enumerate(distinct_colours(len(summary.classes))):
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in spots[class_ids == number])
        if dots:
            parts.append(f'<path d="{dots}" stroke="{colour}"/>')
    ringed = np.flatnonzero(summary.given[rows] >= 0)
    step = max(1, -(-len(ringed) // _MOST_RINGS))
    rings = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="none" stroke="#1b2530"/>' for x, y in spots[ringed[::step]]
    )
    words = (
        f"Map of {count(len(rows), 'row')} in {count(len(summary.classes), 'class', 'classes')}; given labels ringed."
    )
    return (
        f'<svg viewBox="0 0 {_SIDE} {_SIDE}" width="{_SIDE}" role="img" aria-label="{escape(words)}" '
        f'style="flex:0 1 {_SIDE}px;min-width:200px;height:auto">'
        f'<g stroke-width="5" stroke-linecap="round" fill="none">{"".join(parts)}</g>{rings}</svg>'
    )


def _places(model: LabelLoop, summary: RunSummary) -> tuple[Rows, Matrix]:
    """Return some rows of every class, and where they are on the map."""
    kept = _maps.get(model)
    if kept is not None and kept[0] is model.embedding_:
        return kept[1], kept[2]
    known = np.flatnonzero(summary.class_ids >= 0)
    rows = known[draw_from_classes(summary.class_ids[known], _MOST_DOTS, np.random.RandomState(0))]
    places = map_to_plane(model.embedding_[rows], summary.class_ids[rows]).astype(np.float64)
    _maps[model] = model.embedding_, rows, places
    return rows, places
