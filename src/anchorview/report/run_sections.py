"""The parts of a report, each as HTML."""

from __future__ import annotations

import re
from html import escape

import numpy as np
import numpy.typing as npt

from ..metrics import ReliabilityCurve
from .run_drawings import draw_confidence, draw_confusion, draw_reliability
from .run_map import FEW_GIVEN, RowMap, class_colours
from .run_row_tables import suggestion_table, suspect_table
from .run_summary import RunSummary
from .run_tables import (
    MOST_CLASSES,
    MOST_IN_MATRIX,
    class_name,
    class_table,
    confidence_table,
    confusion_table,
    frequent_confusions,
    left_out,
    swatch,
    table,
    text,
    views_table,
)
from .run_words import (
    FEW_JUDGED,
    SURE,
    UNSURE,
    accuracy_text,
    between_clusters,
    count,
    describe_comparison,
    describe_result,
    next_steps,
    percent,
)

_FEW_CLASSES = 8  # whose confusion matrix leaves room beside it
_MOST_CONFUSIONS = 8  # listed
_MOST_CHIPS = 40  # names of classes below the map; the others are a click away


def result_part(summary: RunSummary) -> str:
    """Return the result in words and in a few numbers."""
    asked = summary.by_model
    n_asked, n_sure = int(asked.sum()), int((asked & (summary.confidence >= SURE)).sum())
    accuracy, _, interval = accuracy_text(summary).partition(" (")
    judged = f"{escape(interval.rstrip(')'))} in nine of ten cases" if interval else "not estimated"
    numbers = [
        ("Rows", f"{summary.n_rows:,}", count(int((summary.given >= 0).sum()), "label") + " given"),
        ("Expected accuracy", escape(accuracy) or "–", judged + _beside(summary)),
        (f"{percent(SURE)} sure or more", percent(n_sure / n_asked) if n_asked else "–", f"{n_sure:,} of {n_asked:,}"),
        ("Suspect labels", f"{len(summary.suspects):,}", f"of {summary.suspects.n_judged:,} looked at"),
    ]
    if not summary.has_labels:
        sizes = np.bincount(summary.class_ids[summary.class_ids >= 0], minlength=len(summary.classes))
        n_between = int(between_clusters(summary).sum())
        numbers = [
            numbers[0],
            ("Clusters", f"{len(summary.classes):,}", "without names"),
            ("Smallest to largest", f"{sizes.min():,} to {sizes.max():,}", "rows in a cluster"),
            ("Between clusters", percent(n_between / n_asked) if n_asked else "–", f"{n_between:,} of {n_asked:,}"),
        ]
    cards = "".join(f"<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>" for name, value, more in numbers)
    words = "".join(f"<p>{escape(sentence)}</p>" for sentence in describe_result(summary))
    steps = "".join(f"<li>{escape(step)}</li>" for step in next_steps(summary))
    return f'<dl class="numbers">{cards}</dl>{words}<h3>What to do next</h3><ol class="steps">{steps}</ol>'


def _beside(summary: RunSummary) -> str:
    """Return the accuracy of logistic regression, for comparison."""
    found = summary.comparison
    if found is None or found.rival is None:
        return ""
    return f"<br>logistic regression: {percent(found.rival, 0 if found.n_judged < FEW_JUDGED else 1)}"


def map_part(summary: RunSummary, row_map: RowMap | None) -> str:
    """Return the map with its buttons."""
    if row_map is None:
        return "<p>No row has a place on the map.</p>"
    colours = class_colours(len(summary.classes))
    chips = [
        f'<li><button type="button" value="{number}" aria-pressed="false">'
        f"{swatch(number, colours)}{text(name)}</button></li>"
        for number, name in enumerate(summary.classes[:MOST_CLASSES])
    ]
    keys = f'<ul class="legend" aria-label="Classes; press one to pick it out">{"".join(chips[:_MOST_CHIPS])}</ul>'
    if len(chips) > _MOST_CHIPS:
        more = "".join(chips[_MOST_CHIPS:])
        keys += f"<details><summary>{count(len(chips) - _MOST_CHIPS, 'more class', 'more classes')}</summary>"
        keys += f'<ul class="legend" aria-label="More classes; press one to pick it out">{more}</ul></details>'
    kind, ramp = ("label", ("50 % sure or less", "100 %")) if summary.has_labels else ("cluster", ("between", "clear"))
    other = "confidence" if summary.has_labels else "how clearly"
    notes = ["Rows that are alike lie together; how far apart two groups lie means little."]
    if row_map.is_sample:
        notes.append(
            f"Shown are {row_map.n_shown:,} of {row_map.about['n_placed']:,} rows: those with a given label, and a "
            "random sample of the others."
        )
    if row_map.n_without_place:
        notes.append(f"{count(row_map.n_without_place, 'row has', 'rows have')} no place on the map.")
    if not row_map.has_ids:
        notes.append("Dots show numbers of rows, from 0: the ids are too long to be kept in this file.")
    words = (
        f"Map of {count(row_map.n_shown, 'row')} in {count(len(summary.classes), 'class', 'classes')}, one dot each; "
        "the table of classes below holds sizes and confidence."
    )
    checked = " checked" if row_map.n_given <= FEW_GIVEN else ""
    hidden = "" if summary.has_labels else " hidden"
    given = f'<label{hidden}><input type="checkbox" id="show-given"{checked}>mark given labels</label>\n'
    return f"""<div class="controls">
<fieldset><legend>Colour</legend>
<label><input type="radio" name="colour" value="label" checked>{kind}</label>
<label><input type="radio" name="colour" value="confidence">{other}</label></fieldset>
<label><input type="checkbox" id="show-names" checked>names</label>
{given}<div class="zoom"><button type="button" id="zoom-in" aria-label="Zoom in">+</button>
<button type="button" id="zoom-out" aria-label="Zoom out">−</button>
<button type="button" id="zoom-reset">Reset</button></div>
</div>
<figure><div id="map" role="img" aria-label="{escape(words)}"></div>
<div id="legend-label">{keys}</div>
<div class="ramp" id="legend-confidence" hidden><span>{ramp[0]}</span><i aria-hidden="true"></i>
<span>{ramp[1]}</span></div>
<figcaption>{escape(" ".join(notes))} Point at a dot for its id; drag to move; click, then scroll or pinch to zoom.
</figcaption></figure>
<noscript><p>The map needs JavaScript; everything else on this page does not.</p></noscript>"""


def classes_part(summary: RunSummary) -> str:
    """Return sizes and confidence of the classes."""
    asked = summary.confidence[summary.by_model]
    kinds: tuple[tuple[str, str], ...] = (
        ("good", f"{percent(SURE)} sure or more, or given"),
        ("middle", "between"),
        ("doubt", f"below {percent(UNSURE)}"),
    )
    if not summary.has_labels:
        kinds = (("good", "in their cluster"), ("middle", "between clusters"))
    keys = "".join(f'<li><span class="swatch {kind}"></span>{escape(name)}</li>' for kind, name in kinds)
    parts = [class_table(summary), f'<ul class="keys">{keys}</ul>']
    if any(summary.telling) or summary.photos:
        parts.insert(0, "<p>Below each name: what tells its rows from the others.</p>")
    if len(asked) and summary.has_labels:
        caption = f"Confidence of the {count(len(asked), 'row')} that the model labelled."
        drawing = f"<figure>{draw_confidence(asked)}<figcaption>{caption}</figcaption></figure>"
        parts.append(f'<h3>How sure</h3><div class="two">{drawing}{confidence_table(summary)}</div>')
    return "".join(parts)


def hidden_part(summary: RunSummary) -> str:
    """Return what hidden labels say: confusion and reliability."""
    curve = summary.reliability
    if curve is None:
        if not summary.has_labels:
            return ""
        return "<p>No label could be hidden: that takes two or more labels in a class.</p>"
    hidden = count(int(curve.count.sum()), "given label was", "given labels were")
    words = f"<p>{hidden} hidden in turn, and looked for by models that had not seen them."
    words += f" {escape(describe_comparison(summary))}</p>"
    if summary.confusion is None:
        return f"{words}{_reliability(curve)}"
    frequent = frequent_confusions(summary, summary.confusion)
    confusion = _confusion(summary, summary.confusion, frequent)
    if len(summary.classes) <= _FEW_CLASSES:
        return f'{words}<div class="two">{confusion}{_reliability(curve)}</div>'
    pairs = frequent[:_MOST_CONFUSIONS]
    rows = [[class_name(given), class_name(found), f"{number:,}"] for given, found, number in pairs]
    listed = table("Most frequent confusions", ["given", "found", "times"], rows, texts=(1,), kind="plain")
    listed = f"<div><h3>Most frequent confusions</h3>{listed}</div>" if rows else ""
    return f'{words}{confusion}<div class="two">{_reliability(curve)}{listed}</div>'


def _confusion(summary: RunSummary, counts: npt.NDArray[np.intp], frequent: list[tuple[str, str, int]]) -> str:
    n_right, n_all = int(counts.trace()), int(counts.sum())
    words = f"{n_right:,} of {n_all:,} were found ({percent(n_right / max(n_all, 1))})."
    if frequent:
        given, found, number = frequent[0]
        words += f" Most often mistaken: {given} for {found}, {count(number, 'time')}."
    if len(summary.classes) <= MOST_IN_MATRIX:
        picture = confusion_table(summary, counts)
    else:
        picture = draw_confusion(counts, f"Confusion matrix of {len(counts)} classes. {words}")
    return f"<figure><h3>Given and found</h3>{picture}<figcaption>{escape(words)}</figcaption></figure>"


def _reliability(curve: ReliabilityCurve) -> str:
    claimed = float(curve.confidence @ curve.count / curve.count.sum())
    found = float(curve.accuracy @ curve.count / curve.count.sum())
    words = (
        f"On average it claims {percent(claimed)} and is right in {percent(found)}. On the dashed line, confidence is "
        "what it says; bars are intervals that hold the true share in nine of ten cases."
    )
    rows = [
        [percent(sure), percent(right), f"{percent(low)} to {percent(high)}", f"{number:,}"]
        for sure, right, low, high, number in zip(
            curve.confidence, curve.accuracy, curve.low, curve.high, curve.count, strict=True
        )
    ]
    numbers = table("Reliability in numbers", ["confidence", "right", "interval", "labels"], rows, kind="plain")
    return (
        f"<figure><h3>Is the confidence honest?</h3>{draw_reliability(curve)}<figcaption>{escape(words)}</figcaption>"
        f"<details><summary>In numbers</summary>{numbers}</details></figure>"
    )


def suspects_part(summary: RunSummary) -> str:
    """Return the given labels that the model disputes."""
    found = summary.suspects
    if not summary.has_labels or not found.n_judged:
        return ""
    n_given = int((summary.given >= 0).sum())
    alone = n_given - found.n_judged
    some = f" {count(alone, 'label')} could not be judged: the only one of a class." if alone > 0 else ""
    if not len(found):
        words = f"None: models that have not seen the {found.n_judged:,} labels given find no other class likelier."
        return f"<p>{escape(words + some)}</p>"
    words = (
        f"{len(found):,} of {count(found.n_judged, 'given label')} for which models that have not seen them find "
        "another class likelier, the worst first. The quality of a label is its probability by these models. If it is "
        f"low, the label is wrong, or the row is unusual for its class.{some}"
    )
    return f"<p>{escape(words)}</p>{suspect_table(summary)}{left_out(len(found))}"


def next_part(summary: RunSummary) -> str:
    """Return the rows to label next."""
    if not len(summary.suggested):
        return ""
    words = "Labels help most here: in the middle of the groups of rows in which most mistakes are expected."
    if not summary.has_labels:
        words = "Labels help most here: in the middle of the largest groups of rows that are alike."
    ids = "\n".join(escape(summary.id_of(row)) for row in summary.suggested.tolist())
    plain = f"<details><summary>As plain text, to copy</summary><pre>{ids}</pre></details>"
    return f"<p>{words} The most useful come first.</p>{suggestion_table(summary)}{plain}"


def rounds_part(summary: RunSummary) -> str:
    """Return a line for each round of labelling, from the second on."""
    if len(summary.history) < 2:
        return ""
    header = ("Round", "Labels", "Expected accuracy", "Rests on", "Labels that changed", "Rows of no labelled class")
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    lines = []
    for line in summary.history:
        value, low, high, changed = (line.get(name, "") for name in ("expected_accuracy", "low", "high", "changed"))
        accuracy = f"{percent(float(value))} ({percent(float(low))} to {percent(float(high))})" if value else "–"
        share = percent(float(changed), 1) if changed else "–"
        cells = [line["round"], line["labels"], accuracy, line["rests_on"] or "–", share, line["novel_rows"] or "–"]
        lines.append("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def views_part(summary: RunSummary) -> str:
    """Return what each view contributes."""
    words = ""
    if summary.views.changed is not None:
        words = "<p>The more labels change without a view, the more it decides.</p>"
    note = f'<p class="note">{escape(summary.views.note)}</p>' if summary.views.note else ""
    return f"{words}{views_table(summary)}{note}"


def made_part(summary: RunSummary) -> str:
    """Return how it was made."""
    parts = []
    if summary.command:
        parts.append(f"<h3>Command that repeats it</h3><pre>{escape(summary.command)}</pre>")
    if summary.status:
        said = re.sub(r"(?:^|(?<=[.] ))[a-z](?![a-z]*_)", lambda letter: letter[0].upper(), summary.status)
        parts.append(f"<h3>What the fit says</h3><p>{escape(said)}</p>")
    seconds = {name: f"{value:.1f} s" for name, value in summary.seconds.items()}
    if seconds:
        seconds["together"] = f"{sum(summary.seconds.values()):.1f} s"
    lists = []
    for title, facts in {
        "Files": summary.files,
        "Chosen": summary.chosen,
        "Parameters": summary.parameters,
        "Time": seconds,
        "Versions": summary.versions,
    }.items():
        if facts:
            items = "".join(f"<dt>{escape(name)}</dt><dd>{text(value)}</dd>" for name, value in facts.items())
            lists.append(f'<div><h3>{title}</h3><dl class="facts">{items}</dl></div>')
    return "".join([*parts, '<div class="columns">', *lists, "</div>"])
