"""The result of a fit in words: what was done, how sure it is, and what to do next."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Mask
from .run_summary import RunSummary

SURE, UNSURE = (
    0.9,
    0.5,
)  # confidence of rows that can be used as they are, and of those that are hardly better than a guess
_TWO_THIRDS = 2 / 3
FEW_JUDGED = 100  # below, tenths of a percent mean nothing
_MOST_NAMED = 5  # classes


def percent(share: float, digits: int = 0) -> str:
    """Return a share as text; never 0 or 100 if it is not.

    Examples
    --------
    >>> percent(0.964), percent(0.9999), percent(1.0), percent(0.001)
    ('96 %', '>99 %', '100 %', '<1 %')
    """
    if not np.isfinite(share):
        return "–"
    least, rounded = 10.0**-digits, round(100 * share, digits)
    if share > 0 and rounded <= 0:
        return f"<{least:.{digits}f} %"
    if share < 1 and rounded >= 100:
        return f">{100 - least:.{digits}f} %"
    return f"{rounded:.{digits}f} %"


def count(number: int, what: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(2000, "row"), count(3, "class", "classes")
    ('1 row', '2,000 rows', '3 classes')
    """
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def accuracy_text(summary: RunSummary) -> str:
    """Return the expected accuracy, with its interval; empty if it is not known."""
    found = summary.accuracy
    if found is None:
        return ""
    digits = 0 if found.n_judged < FEW_JUDGED else 1
    low, high = (percent(end, digits).removesuffix(" %") for end in (found.low, found.high))
    return f"{percent(found.score, digits)} ({low}–{high} %)"


def describe_result(summary: RunSummary) -> list[str]:
    """Return what was done and how sure it is, a sentence or two per paragraph."""
    asked = summary.by_model
    sure = summary.confidence[asked]
    n_given, n_classes = int((summary.given >= 0).sum()), len(summary.classes)
    n_nothing = int((summary.class_ids < 0).sum())
    rows, views = count(summary.n_rows, "row"), count(len(summary.views.names), "view")
    if summary.has_labels:
        done = f"{rows} with {views}. {count(n_given, 'label')} in {count(n_classes, 'class', 'classes')} "
        done += f"{'was' if n_given == 1 else 'were'} given; the model labelled the other {int(asked.sum()):,}."
    else:
        done = f"{rows} with {views}, no label given: the rows were put into {count(n_classes, 'cluster')}."
    if n_nothing:
        done += f" {count(n_nothing, 'row')} without any view got no label."
    parts = [done]
    if len(sure) and not summary.has_labels:
        n_between = int(between_clusters(summary).sum())
        fits = "it fits its" if n_between == 1 else "they fit their"
        parts.append(
            f"{count(n_between, 'row lies', 'rows lie')} between clusters: {fits} own less than twice as well as all "
            "others together."
        )
    elif len(sure):
        n_sure, n_unsure = int((sure >= SURE).sum()), int((sure < UNSURE).sum())
        parts.append(
            f"It is at least {percent(SURE)} sure of {n_sure:,} of these ({percent(n_sure / len(sure))}), "
            f"and less than {percent(UNSURE)} sure of {n_unsure:,}."
        )
    return [*parts, *_describe_accuracy(summary)]


def between_clusters(summary: RunSummary) -> Mask:
    """Return the rows that fit their cluster less than twice as well as all others together."""
    doubtful: Mask = summary.by_model & (summary.confidence < _TWO_THIRDS)
    return doubtful


def describe_comparison(summary: RunSummary) -> str:
    """Say how plain logistic regression does on the same hidden labels; empty if that is not known."""
    found = summary.comparison
    if found is None:
        return ""
    if found.rival is None:
        return f"It was not compared with logistic regression: {found.note}."
    digits = 0 if found.n_judged < FEW_JUDGED else 1
    own, rival = percent(found.own, digits), percent(found.rival, digits)
    if not found.is_clear:
        verdict = "no clear difference"
    else:
        verdict = "the fit does better" if found.own > found.rival else "logistic regression does better"
    return (
        f"On the same {count(found.n_judged, 'hidden label')}, plain logistic regression (the same features, the best "
        f"of three strengths) finds {rival}, this fit {own}: {verdict}."
    )


def suggestion_reason(summary: RunSummary, row: int) -> str:
    """Say why a row is worth a label."""
    about, parts = summary.about(row), []
    if row in summary.audited:
        return "Drawn at random, to tell how accurate the labels are."
    if summary.has_labels and about.second >= 0 and about.second_confidence >= about.confidence / 2:
        first, second = summary.classes[about.guess], summary.classes[about.second]
        parts.append(f"unsure: {first} or {second}")
    elif summary.has_labels and about.guess >= 0 and about.confidence < UNSURE:
        parts.append(f"only {percent(about.confidence)} sure")
    standing = about.standing
    if standing is not None and standing.n_rows > 1:
        about_so_many = "" if standing.is_exact else "about "
        alike = f"{about_so_many}{standing.n_rows - 1:,} similar row{'' if standing.n_rows == 2 else 's'}"
        if summary.has_labels:
            mistakes = round(standing.n_mistakes)
            wrong = f", some {mistakes:,} of which may be wrong" if mistakes > 1 else ""
            parts.append(f"stands for {alike} without a label{wrong}")
        else:
            parts.append(f"stands for {alike}")
    reason = "; ".join(parts) or "unlike any other row without a label"
    return reason[0].upper() + reason[1:] + "."


def _describe_accuracy(summary: RunSummary) -> list[str]:
    found = summary.accuracy
    if found is None:
        if not summary.has_labels:
            return ["Without labels there is no accuracy to expect: clusters have no names yet."]
        return ["The accuracy could not be estimated, because no class has two labels."]
    text = (
        f"Expected accuracy of the labels it gave: {accuracy_text(summary)}; in nine of ten cases the true one lies "
        "in the interval. It was judged on "
    )
    if found.by_audit:
        text += f"{count(found.n_judged, 'row')} drawn at random, by models that had not seen their labels."
    else:
        text += f"{count(found.n_judged, 'label')} that were hidden in turn."
        text += (
            " These rows were not drawn at random, so the true accuracy is usually higher, often by 5 points and more."
            if found.labels_chosen
            else " That holds if the labelled rows were drawn at random."
        )
    if found.n_alone:
        text += (
            f" {count(found.n_alone, 'class has a single label', 'classes have a single label')}, which cannot be "
            "hidden and counts as wrong."
        )
    return [text, *filter(None, [describe_comparison(summary)])]


def next_steps(summary: RunSummary) -> list[str]:
    """Return what to do next, the most important first."""
    steps = []
    if not summary.has_labels:
        steps.append("Give a label to the rows listed under “Label next”, and fit again: classes then have names.")
        return steps
    if len(summary.suspects):
        steps.append(
            f"Check the {count(len(summary.suspects), 'given label')} that the model disputes, the worst first "
            "(“Suspect labels”)."
        )
    sizes = np.bincount(summary.given[summary.given >= 0], minlength=len(summary.classes))
    single = [name for name, size in zip(summary.classes, sizes, strict=True) if size == 1]
    if single:
        more = f" and {len(single) - _MOST_NAMED} more" if len(single) > _MOST_NAMED else ""
        steps.append(f"Give a second label to {', '.join(single[:_MOST_NAMED])}{more}: one label cannot be checked.")
    asked = summary.by_model
    n_sure = int((asked & (summary.confidence >= SURE)).sum())
    n_doubt = int(asked.sum()) - n_sure
    if n_doubt and len(summary.suggested):
        steps.append(
            f"{count(n_doubt, 'row is', 'rows are')} below {percent(SURE)}. To improve them, label the "
            f"{count(len(summary.suggested), 'row')} listed under “Label next”, and fit again."
        )
    if n_sure:
        steps.append(f"Use the labels of the {count(n_sure, 'row')} that are at least {percent(SURE)} sure.")
    return steps or ["Nothing is left to do: every row has a given label."]
