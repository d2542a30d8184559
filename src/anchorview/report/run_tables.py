"""Tables of a report as HTML. All text is escaped here; on a narrow page a row becomes a block, a cell a line of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from ..core.names import short_names
from .class_photos import Photo
from .run_map import NO_CLASS, class_colours
from .run_summary import RunSummary
from .run_words import SURE, UNSURE, between_clusters, count, percent

MOST_LISTED = 1000  # rows of a list; the rest is counted
MOST_SHOWN = 50  # at once; the others are a click away
MOST_CLASSES = 500  # in the table of classes, and in the key of the map
MOST_IN_MATRIX = 30  # classes; more are drawn, and the most frequent confusions listed
_LONGEST = 200  # characters of an id or a label
_STEPS = (0.99, 0.9, 0.8, 0.7, 0.5)  # of confidence
_FEW_COLUMNS = 12  # of a confusion matrix that a phone shows in full size
_STRENGTHS = (0.1, 0.4, 0.75)  # shares of a class at which a cell of the matrix gets darker


def text(value: str) -> str:
    """Return a user's text for HTML: escaped, in the direction of its own script, and not without end."""
    cut = value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    return f'<bdi title="{escape(value)}">{escape(cut)}</bdi>' if cut != value else f"<bdi>{escape(cut)}</bdi>"


def class_name(value: str) -> str:
    """Return the name of a class for a narrow column: `by_bank_transfer` breaks between its words."""
    start, inside = text(value).split(">", 1)  # a title in the start tag stays as it is
    return f"{start}>" + inside.replace("_", "_<wbr>")


def swatch(number: int, colours: tuple[list[str], list[str]]) -> str:
    """Return a small square in the colour of a class."""
    light, dark = NO_CLASS if number < 0 else (colours[0][number], colours[1][number])
    return f'<span class="swatch" style="--light:{light};--dark:{dark}"></span>'


def table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Sequence[int] = (), kind: str = ""
) -> str:
    """Return a table; the first cell of a row is its heading, `texts` are columns of text.

    Cells are HTML, the header is text. Many rows are folded away behind the first. Roles are spelt out, since a table
    that is laid out as blocks would lose them.
    """
    left = {0, *texts}
    head = "".join(
        f'<th scope="col" role="columnheader"{_kind(place in left)}>{escape(name)}</th>'
        for place, name in enumerate(header)
    )
    body = [
        '<tr role="row">'
        + "".join(
            f'<th scope="row" role="rowheader">{cell}</th>'
            if place == 0
            else f'<td role="cell"{_kind(place in left)} data-name="{escape(name)}">{cell}</td>'
            for place, (name, cell) in enumerate(zip(header, row, strict=True))
        )
        + "</tr>"
        for row in rows
    ]

    def part(lines: list[str], words: str) -> str:
        return (
            f'<table class="wide {kind}" role="table" aria-label="{escape(words)}"><thead role="rowgroup">'
            f'<tr role="row">{head}</tr></thead><tbody role="rowgroup">{"".join(lines)}</tbody></table>'
        )

    if len(body) <= MOST_SHOWN + MOST_SHOWN // 10:  # a few more are not worth a click
        return part(body, title)
    rest = part(body[MOST_SHOWN:], f"{title}, continued")
    more = f"<details><summary>Show {len(body) - MOST_SHOWN:,} more</summary>{rest}</details>"
    return part(body[:MOST_SHOWN], title) + more


def _kind(is_text: bool) -> str:
    return ' class="text"' if is_text else ""


def class_table(summary: RunSummary) -> str:
    """Return size, labels and confidence of every class, the largest first."""
    n_classes, colours = len(summary.classes), class_colours(len(summary.classes))
    known, asked = summary.class_ids >= 0, summary.by_model
    sizes = np.bincount(summary.class_ids[known], minlength=n_classes)
    given = np.bincount(summary.given[summary.given >= 0], minlength=n_classes)
    by_model = np.bincount(summary.class_ids[asked], minlength=n_classes)
    total = np.bincount(summary.class_ids[asked], weights=summary.confidence[asked], minlength=n_classes)
    sure, doubt = (
        np.bincount(summary.class_ids[asked & chosen], minlength=n_classes)
        for chosen in (summary.confidence >= SURE, summary.confidence < UNSURE)
    )
    between = np.bincount(summary.class_ids[between_clusters(summary)], minlength=n_classes)
    rows = []
    for number in np.argsort(-sizes, kind="stable")[:MOST_CLASSES]:
        n = by_model[number]
        parts = (sure[number] + given[number], n - sure[number] - doubt[number], doubt[number])
        if not summary.has_labels:
            parts = (n - between[number], between[number], 0)
        widths = [100 * max(part, 0) / max(int(sizes.max()), 1) for part in parts]
        bar = "".join(
            f'<i class="{kind}" style="width:{width:.2f}%"></i>'
            for kind, width in zip(("good", "middle", "doubt"), widths, strict=True)
        )
        cells = [
            swatch(number, colours) + text(summary.classes[number]) + _telling(summary, int(number)),
            f'<span class="bar" aria-hidden="true">{bar}</span>',
            f"{sizes[number]:,}",
            percent(sizes[number] / max(int(sizes.sum()), 1)),
        ]
        if summary.has_labels:
            cells += [f"{given[number]:,}", percent(total[number] / n) if n else "–"]
            cells += [percent(sure[number] / n) if n else "–", f"{doubt[number]:,}"]
        else:
            cells.append(f"{between[number]:,}")
        rows.append(cells)
    header = ["class", "how sure", "rows", "of all", "labels given", "mean confidence"]
    header += [f"{percent(SURE)} sure or more", f"below {percent(UNSURE)}"]
    if not summary.has_labels:
        header = ["cluster", "size", "rows", "of all", "between clusters"]
    return table("Sizes and confidence of the classes", header, rows, texts=(1,), kind="classes") + left_out(
        n_classes, MOST_CLASSES
    )


def _telling(summary: RunSummary, number: int) -> str:
    """Return what tells a class from the others, below its name."""
    words = summary.telling[number] if number < len(summary.telling) else ""
    said = f'<small class="telling"><bdi>{escape(words)}</bdi></small>' if words else ""
    shown = "".join(map(photo_image, summary.photos.get(number, [])))
    return f'{said}<span class="photos">{shown}</span>' if shown else said


def photo_image(photo: Photo) -> str:
    """Return a small photo for HTML."""
    name = escape(photo.name)
    return f'<img src="{photo.uri}" alt="{name}" title="{name}" width="{photo.width}" height="{photo.height}">'


def confidence_table(summary: RunSummary) -> str:
    """Return how many of the rows that the model labelled are how sure."""
    sure = summary.confidence[summary.by_model]
    edges = [1.0, *_STEPS, 0.0]
    rows = []
    for high, low in itertools.pairwise(edges):
        n_here = int(((sure >= low) & ((sure < high) | (high == 1.0))).sum())
        name = f"{percent(low)} and more" if high == 1.0 else f"{100 * low:.0f} to {percent(high)}"
        n_above = int((sure >= low).sum())
        rows.append([name, f"{n_here:,}", percent(n_here / len(sure)), percent(n_above / len(sure))])
    return table("Rows by confidence", ["confidence", "rows", "share", "this or more"], rows, kind="plain")


def confusion_table(summary: RunSummary, counts: npt.NDArray[np.intp]) -> str:
    """Return the confusion matrix of hidden labels; cells tinted by their share of the class."""
    names = short_names(summary.classes, 22)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    strengths = np.digitize(shares, _STRENGTHS) + 1
    turned = ' class="turned"' if max(map(len, names)) > 3 else ""
    head = "".join(
        f'<th scope="col"{turned} title="{escape(full)}"><span>{escape(name)}</span></th>'
        for name, full in zip(names, summary.classes, strict=True)
    )
    body = []
    for row, (name, full) in enumerate(zip(names, summary.classes, strict=True)):
        cells = "".join(
            f'<td class="{"h" if row == column else "e"}{strengths[row, column]}" '
            f'title="{escape(names[row])}, found as {escape(names[column])}">{number}</td>'
            if number
            else '<td class="none">·</td>'
            for column, number in enumerate(counts[row].tolist())
        )
        body.append(f'<tr><th scope="row" title="{escape(full)}"><span>{escape(name)}</span></th>{cells}</tr>')
    corner = '<th scope="col" class="text"><span>given ↓ found →</span></th>'
    words = "Confusion matrix of hidden labels: given labels in rows, labels found in columns"
    size = "many" if len(names) > _FEW_COLUMNS else "few"
    return (
        f'<table class="confusion {size}" style="--n:{len(names)};--digits:{len(str(counts.max()))}" '
        f'aria-label="{words}"><thead><tr>{corner}{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    )


def frequent_confusions(
    summary: RunSummary, counts: npt.NDArray[np.intp], most: int = 20
) -> list[tuple[str, str, int]]:
    """Return pairs of classes that are mistaken for one another: given, found, how often; the most frequent first."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [(*divmod(int(place), len(counts)), int(wrong.flat[place])) for place in order]
    return [(summary.classes[row], summary.classes[column], number) for row, column, number in pairs if number]


def views_table(summary: RunSummary) -> str:
    """Return the views with what each contributes."""
    views = summary.views
    if views.changed is None or views.share is None:
        rows = [[text(name), f"{size:,}"] for name, size in zip(views.names, views.sizes, strict=True)]
        return table("Views", ["view", "features"], rows, kind="plain")
    order = np.argsort(-np.nan_to_num(views.changed), kind="stable")
    largest = max(float(np.nan_to_num(views.changed).max()), 1e-9)
    rows = []
    for number in order:
        width = 100 * float(np.nan_to_num(views.changed[number])) / largest
        bar = f'<span class="bar" aria-hidden="true"><i class="good" style="width:{width:.1f}%"></i></span>'
        cells = [percent(views.changed[number], 1), percent(views.share[number], 1), f"{views.sizes[number]:,}"]
        weight = [] if views.weights is None else [f"{views.weights[number]:.2f}"]
        rows.append([text(views.names[number]), bar, *cells, *weight])
    header = ["view", "", "labels that change without it", "part of what is rebuilt", "features"]
    header += [] if views.weights is None else ["weight"]
    return table("What each view contributes", header, rows, kind="views")


def left_out(n_all: int, most: int = MOST_LISTED) -> str:
    """Return a sentence on what a list leaves out; empty if nothing."""
    more = n_all - most
    return f'<p class="note">{count(more, "more is", "more are")} not listed here.</p>' if more > 0 else ""
