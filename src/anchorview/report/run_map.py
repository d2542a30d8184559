"""The zoomable map of a report: every row a dot, drawn by Bokeh, whose JavaScript comes with its Python package.

What the map needs is kept small: places as 16-bit numbers, classes by their place in a list, confidence in percent, ids
compressed. The page's own script (assets/run_page.js) turns them into tooltips and switches the colours.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Matrix, Rows
from ..core.colours import CONFIDENCE, CONFIDENCE_ON_DARK, blend, distinct_colours
from ..core.names import short_names
from ..readers.plane import draw_from_classes
from .run_summary import RunSummary

MOST_ROWS = 200_000  # more are sampled: the file would grow, and dots hide one another
FEW_GIVEN = 1000  # labels; rings around more would hide the dots, and are drawn when asked for
_ID_BYTES = 1_500_000  # of all ids; beyond, dots show row numbers
_N_SHADES = 41
_MOST_NAMES = 60  # of classes, written on the map where there is room
_LONGEST_NAME = 22  # characters
_N_CELLS = 16  # in which dots are counted, along each axis
NO_CLASS = ("#8a929c", "#7b8591")  # of rows without a label, on light and on dark


@dataclass(frozen=True)
class RowMap:
    """A map, ready to be put into a page."""

    item: dict[str, Any]  # for Bokeh.embed.embed_item
    about: dict[str, Any]  # for the page's own script
    n_shown: int
    n_given: int
    n_without_place: int
    has_ids: bool  # whether dots show ids; else numbers of rows, since ids are too long

    @property
    def is_sample(self) -> bool:
        """Whether not every row that has a place is shown."""
        return self.n_shown < int(self.about["n_placed"])


def load_bokeh() -> Any:
    """Load Bokeh, or say how to get it."""
    try:
        import bokeh.embed
        import bokeh.models
        import bokeh.plotting
        import bokeh.resources
    except ImportError as error:
        raise ImportError(f"The report needs Bokeh: pip install 'anchorview[report]' ({error}).") from error
    return bokeh


def class_colours(n_classes: int) -> tuple[list[str], list[str]]:
    """Return the colours of the classes on a light and on a dark page."""
    return distinct_colours(n_classes), distinct_colours(n_classes, on_dark=True)


def bokeh_scripts() -> list[str]:
    """Return Bokeh's JavaScript, without what this page does not use."""
    resources = load_bokeh().resources.Resources(mode="inline", components=["bokeh", "bokeh-gl"], log_level="warn")
    return [str(script) for script in resources.js_raw]


def make_map(summary: RunSummary, target: str, most: int = MOST_ROWS) -> RowMap | None:
    """Return a map of so many rows at most, for the element of the page with this id; None if no row has a place."""
    if summary.xy is None:
        return None
    placed = np.isfinite(summary.xy).all(axis=1)
    rows = choose_rows(summary, np.flatnonzero(placed), most)
    if not len(rows):
        return None
    bokeh = load_bokeh()
    n_classes = len(summary.classes)
    small = np.uint8 if n_classes < 255 else np.uint16
    x, y = _compact_places(summary.xy[rows].astype(np.float64)).T
    columns = {
        "x": x,
        "y": y,
        "label": np.where(summary.class_ids[rows] < 0, n_classes, summary.class_ids[rows]).astype(small),
        "sure": _whole_percents(summary.confidence[rows]),
        "given": (summary.given[rows] >= 0).astype(np.uint8),
    }
    item = bokeh.embed.json_item(_figure(bokeh, columns, n_classes), target)
    ids, has_ids = _compact_ids(summary, rows)
    light, dark = class_colours(n_classes)
    about = {
        "classes": [*summary.classes, "no label"],
        "colours": {"light": [*light, NO_CLASS[0]], "dark": [*dark, NO_CLASS[1]]},
        "shades": {"light": blend(CONFIDENCE, _N_SHADES), "dark": blend(CONFIDENCE_ON_DARK, _N_SHADES)},
        "ids": ids,
        "names": _name_places(x, y, columns["label"], n_classes, short_names(summary.classes, _LONGEST_NAME)),
        "n_placed": int(placed.sum()),
    }
    return RowMap(item, about, len(rows), int(columns["given"].sum()), int((~placed).sum()), has_ids)


def choose_rows(summary: RunSummary, placed: Rows, most: int) -> Rows:
    """Return the rows to show: all, or a sample with the labelled ones and some of every class."""
    if len(placed) <= most:
        return placed
    is_given = summary.given[placed] >= 0
    rng = np.random.RandomState(0)
    kept = placed[is_given]
    if len(kept) > most // 2:
        kept = np.sort(rng.choice(kept, most // 2, replace=False))
    others = np.setdiff1d(placed, kept)
    return np.union1d(kept, others[draw_from_classes(summary.class_ids[others], most - len(kept), rng)])


def _compact_places(xy: Matrix) -> Any:
    """Return places as whole numbers from 0 to 65,535, both axes on one scale."""
    low, high = xy.min(axis=0), xy.max(axis=0)
    span = float((high - low).max()) or 1.0
    return np.rint((xy - low) / span * 65_535).astype(np.uint16)


def _name_places(x: Any, y: Any, labels: Any, n_classes: int, names: list[str]) -> list[list[Any]]:
    """Return where the names of the largest classes stand: amid the densest of their dots, the largest class first."""
    sizes = np.bincount(labels, minlength=n_classes + 1)[:n_classes]
    edges = np.linspace(0, 65_536, _N_CELLS + 1)
    result = []
    for number in np.argsort(-sizes, kind="stable")[:_MOST_NAMES]:
        if not sizes[number]:
            break
        own = np.flatnonzero(labels == number)
        cells = np.digitize(x[own], edges) * 100 + np.digitize(y[own], edges)
        densest = np.bincount(cells).argmax()
        here = own[cells == densest]
        result.append([int(number), names[number], float(x[here].mean()), float(y[here].mean())])
    return result


def _whole_percents(confidence: Matrix) -> Any:
    """Return confidence in percent, rounded; 100 only where there is no doubt."""
    percents = np.rint(100 * np.clip(np.nan_to_num(confidence), 0, 1)).astype(np.uint8)
    percents[(percents == 100) & (confidence < 1)] = 99
    return percents


def _compact_ids(summary: RunSummary, rows: Rows) -> tuple[str | None, bool]:
    """Return the ids, compressed, and whether they are ids; None if dots are numbered as they are."""
    if summary.ids is not None:
        packed = _pack([summary.ids[row] for row in rows])
        if len(packed) <= _ID_BYTES:
            return packed, True
    if len(rows) == summary.n_rows:
        return None, summary.ids is None
    return _pack(map(str, rows.tolist())), summary.ids is None


def _pack(texts: Any) -> str:
    return base64.b64encode(zlib.compress("\n".join(texts).encode("utf-8", "replace"), 9)).decode()


def _figure(bokeh: Any, columns: dict[str, Any], n_classes: int) -> Any:
    """Return the figure; colours, tooltips and buttons come from the page's script."""
    models = bokeh.models
    source = models.ColumnDataSource(columns, name="rows")
    plot = bokeh.plotting.figure(
        name="map",
        sizing_mode="stretch_both",
        output_backend="webgl",
        match_aspect=True,
        x_axis_type=None,
        y_axis_type=None,
        tools=[],
        toolbar_location=None,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border=0,
    )
    plot.grid.visible = False
    by_label = models.LinearColorMapper(palette=[NO_CLASS[0]] * (n_classes + 1), low=-0.5, high=n_classes + 0.5)
    by_sure = models.LinearColorMapper(palette=[*CONFIDENCE], low=50, high=100)
    plot.tags = [by_label, by_sure]  # where the page's script finds them
    size = float(np.clip(270 / np.sqrt(len(columns["x"])), 3, 9))
    dots = plot.scatter(
        "x",
        "y",
        source=source,
        size=size,
        fill_color={"field": "label", "transform": by_label},
        fill_alpha=0.85,
        line_color=None,
        name="dots",
        nonselection_fill_alpha=0.85,
    )
    given = columns["given"] > 0
    is_few = given.sum() <= FEW_GIVEN
    rings = plot.scatter(
        "x",
        "y",
        source=models.ColumnDataSource({"x": columns["x"][given], "y": columns["y"][given]}),
        size=size + (4 if is_few else 3),
        fill_color=None,
        line_color="#1b2530",
        line_width=1.4 if is_few else 0.8,
        line_alpha=1.0 if is_few else 0.6,
        name="rings",
    )
    rings.level = "overlay"
    names = plot.text(
        "x",
        "y",
        text="text",
        source=models.ColumnDataSource({"x": [], "y": [], "text": []}),
        text_align="center",
        text_baseline="bottom",
        y_offset=-7,
        text_font_size="12px",
        text_font_style="bold",
        background_fill_color="#ffffff",
        background_fill_alpha=0.85,
        border_radius=4,
        padding=3,
        name="names",
    )
    names.level = "overlay"
    hover = models.HoverTool(renderers=[dots], tooltips=[("row", "$index")], limit=1, name="hover")
    plot.add_tools(models.PanTool(), models.WheelZoomTool(name="wheel"), hover)
    plot.toolbar.active_scroll = None  # a page that is scrolled must not zoom the map under the pointer
    return plot
