"""Tables of a report as HTML. All text is escaped here; whatever is wider than the page scrolls in its own box."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from ..core.names import short_names
from .run_map import NO_CLASS, class_colours
from .run_summary import RunSummary
from .run_words import SURE, UNSURE, count, percent

MOST_LISTED = 100  # rows of a list; the rest is counted
MOST_CLASSES = 500  # in the table of classes, and in the key of the map
MOST_IN_MATRIX = 30  # classes; more are drawn, and the most frequent confusions listed
_LONGEST = 200  # characters of an id or a label
_STEPS = (0.99, 0.9, 0.8, 0.7, 0.5)  # of confidence
_STRENGTHS = (0.1, 0.4, 0.75)  # shares of a class at which a cell of the matrix gets darker


def text(value: str) -> str:
    """Return a user's text for HTML: escaped, in the direction of its own script, and not without end."""
    cut = value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    return f'<bdi title="{escape(value)}">{escape(cut)}</bdi>' if cut != value else f"<bdi>{escape(cut)}</bdi>"


def swatch(number: int, colours: tuple[list[str], list[str]]) -> str:
    """Return a small square in the colour of a class."""
    light, dark = NO_CLASS if number < 0 else (colours[0][number], colours[1][number])
    return f'<span class="swatch" style="--light:{light};--dark:{dark}"></span>'


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Sequence[int] = ()) -> str:
    """Return a table in a box that scrolls; the first cell of a row is its heading, `texts` are columns of text.

    Cells are HTML, the header is text.
    """
    left = {0, *texts}
    head = "".join(f'<th scope="col"{_kind(place in left)}>{escape(name)}</th>' for place, name in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{cell}</th>' if place == 0 else f"<td{_kind(place in left)}>{cell}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return box(title, f'<table class="wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def box(title: str, content: str) -> str:
    """Return a box in which something wide scrolls, by keyboard too."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">{content}</div>'


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
    rows = []
    for number in np.argsort(-sizes, kind="stable")[:MOST_CLASSES]:
        n = by_model[number]
        parts = (sure[number] + given[number], n - sure[number] - doubt[number], doubt[number])
        widths = [100 * max(part, 0) / max(int(sizes.max()), 1) for part in parts]
        bar = "".join(
            f'<i class="{kind}" style="width:{width:.2f}%"></i>'
            for kind, width in zip(("good", "middle", "doubt"), widths, strict=True)
        )
        rows.append(
            [
                swatch(number, colours) + text(summary.classes[number]),
                f'<span class="bar" aria-hidden="true">{bar}</span>',
                f"{sizes[number]:,}",
                percent(sizes[number] / max(int(sizes.sum()), 1)),
                f"{given[number]:,}",
                percent(total[number] / n) if n else "–",
                percent(sure[number] / n) if n else "–",
                f"{doubt[number]:,}",
            ]
        )
    header = ["class" if summary.has_labels else "cluster", "how sure", "rows", "of all", "labels given"]
    header += ["mean confidence", f"{percent(SURE)} sure or more", f"below {percent(UNSURE)}"]
    return table("Sizes and confidence of the classes", header, rows) + left_out(n_classes, MOST_CLASSES)


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
    return table("Rows by confidence", ["confidence", "rows", "share", "this or more"], rows)


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
            f'<td class="{"h" if row == column else "e"}{strengths[row, column]}">{number}</td>'
            if number
            else '<td class="none">·</td>'
            for column, number in enumerate(counts[row].tolist())
        )
        body.append(f'<tr><th scope="row" title="{escape(full)}">{escape(name)}</th>{cells}</tr>')
    corner = '<th scope="col" class="text">given ↓ found →</th>'
    content = f'<table class="confusion"><thead><tr>{corner}{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    return box("Confusion matrix of hidden labels: given labels in rows, labels found in columns", content)


def frequent_confusions(
    summary: RunSummary, counts: npt.NDArray[np.intp], most: int = 20
) -> list[tuple[str, str, int]]:
    """Return pairs of classes that are mistaken for one another: given, found, how often; the most frequent first."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [(*divmod(int(place), len(counts)), int(wrong.flat[place])) for place in order]
    return [(summary.classes[row], summary.classes[column], number) for row, column, number in pairs if number]


def suspect_table(summary: RunSummary) -> str:
    """Return the given labels that the model disputes, the worst first."""
    found, colours = summary.suspects, class_colours(len(summary.classes))
    rows = [
        [
            text(summary.id_of(row)),
            swatch(given, colours) + " " + text(summary.classes[given]),
            swatch(preferred, colours) + " " + text(summary.classes[preferred]),
            percent(quality),
        ]
        for row, given, preferred, quality in zip(
            found.rows[:MOST_LISTED], found.given, found.preferred, found.quality, strict=False
        )
    ]
    return table(
        "Suspect labels",
        [row_heading(summary), "label given", "the model prefers", "label quality"],
        rows,
        texts=(1, 2),
    )


def suggestion_table(summary: RunSummary) -> str:
    """Return the rows to label next."""
    colours = class_colours(len(summary.classes))
    rows = [
        [
            text(summary.id_of(row)),
            swatch(summary.class_ids[row], colours) + " " + text(summary.classes[summary.class_ids[row]]),
            percent(summary.confidence[row]),
        ]
        for row in summary.suggested.tolist()
    ]
    label = "the model's guess" if summary.has_labels else "cluster"
    return table("Rows to label next", [row_heading(summary), label, "how sure"], rows, texts=(1,))


def views_table(summary: RunSummary) -> str:
    """Return the views with what each contributes."""
    views = summary.views
    if views.changed is None or views.share is None:
        rows = [[text(name), f"{size:,}"] for name, size in zip(views.names, views.sizes, strict=True)]
        return table("Views", ["view", "features"], rows)
    order = np.argsort(-np.nan_to_num(views.changed), kind="stable")
    largest = max(float(np.nan_to_num(views.changed).max()), 1e-9)
    rows = []
    for number in order:
        width = 100 * float(np.nan_to_num(views.changed[number])) / largest
        bar = f'<span class="bar" aria-hidden="true"><i class="good" style="width:{width:.1f}%"></i></span>'
        cells = [percent(views.changed[number], 1), percent(views.share[number], 1), f"{views.sizes[number]:,}"]
        rows.append([text(views.names[number]), bar, *cells])
    header = ["view", "", "labels that change without it", "part of what is rebuilt", "features"]
    return table("What each view contributes", header, rows)


def row_heading(summary: RunSummary) -> str:
    """Return how rows are called."""
    return "row number" if summary.ids is None else "id"


def left_out(n_all: int, most: int = MOST_LISTED) -> str:
    """Return a sentence on what a list leaves out; empty if nothing."""
    more = n_all - most
    return f'<p class="note">{count(more, "more is", "more are")} not listed here.</p>' if more > 0 else ""
