"""The comparison table: ACC, NMI, ARI and time of all methods on all data sets, the paper's figures beside ours."""

from __future__ import annotations

from pathlib import Path

from ...report.document import Section, Table
from ..methods import OURS, TUNED, Method
from ..paper import PAPER
from ..runner import Runner
from ..selection import TITLES, chosen_runs
from ..settings import Settings
from ..sources import Description
from .common import (
    MEASURES,
    PROTOCOL,
    Summary,
    alike_cells,
    data_line,
    difference,
    error_lines,
    mark_lines,
    repetitions,
    summarise,
)

_NO_LABELS = "°"


def run_comparison(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Make the runs and return the table."""
    methods = settings.choose()
    summaries: dict[tuple[str, str, str], Summary] = {}
    for source, about in settings.data:
        for how in settings.selections:
            for method in methods:
                if how == "oracle" and method.name == TUNED:  # it never sees the evaluation labels
                    summaries[about.name, how, method.name] = Summary([], [])
                    continue
                runs = chosen_runs(how, settings, runner, source, about, method)
                runner.run(runs, f"{method.name}, {about.name} ({how})")
                summaries[about.name, how, method.name] = summarise(runner, runs)
    section = Section("comparison", "Comparison of the methods")
    named = {f"{method}, {data} ({how})": summary for (data, how, method), summary in summaries.items()}
    section.text = [data_line(settings), _how_text(settings), *error_lines(runner), *mark_lines(named)]
    section.tables = [_table(settings, methods, summaries)]
    for ours in [method.name for method in methods if method.ours and settings.repeats > 1]:
        section.tables.append(_lead_table(ours, settings, methods, summaries))
    return section


def _how_text(settings: Settings) -> str:
    how = "; ".join(f"“{name}”: {TITLES[name]}" for name in settings.selections)
    text = f"{repetitions(settings.repeats)}. Parameters, {how}"
    text += "; “paper”: the paper's figures, tuned on the evaluation labels. "
    if "oracle" in settings.selections:
        text += "For “oracle” the grid is tried on the first draw of labels. "
    text += f"{TUNED} always chooses by the given labels, and has no “oracle”. "
    return text + PROTOCOL


def _table(settings: Settings, methods: list[Method], summaries: dict[tuple[str, str, str], Summary]) -> Table:
    header = ["Dataset", *(method.name if method.uses_labels else f"{method.name}{_NO_LABELS}" for method in methods)]
    table = Table("comparison", "Clustering performance and running time", header, ours=OURS)
    for measure, title in MEASURES.items():
        table.add_heading(title)
        for _, about in settings.data:
            for how in settings.selections:
                row = [summaries[about.name, how, method.name] for method in methods]
                table.add(f"{about.name}, {how}", *alike_cells(row, methods, measure))
            if about.paper is not None:
                table.add(*_paper_row(about, methods, measure))
    table.note = (
        "OM: out of memory; OT: out of time. Best in bold, second best underlined, among methods that saw the same "
        f"labels of the same draws; methods without labels ({_NO_LABELS}), scored on all rows, are compared with each "
        "other only."
    )
    if any(about.paper and not about.same_as_paper for _, about in settings.data):
        table.note += " paper*: same images and kinds of features as the paper's data, but other values of them."
    return table


def _lead_table(
    name: str, settings: Settings, methods: list[Method], summaries: dict[tuple[str, str, str], Summary]
) -> Table:
    """ACC of one of our methods less that of each other method with labels, draw by draw."""
    others = [method for method in methods if method.uses_labels and method.name != name]
    title = f"ACC of {name} less that of the others: mean over the draws ± its standard error"
    file = "comparison-lead" if name == "FSSMSC" else f"comparison-lead-{name.lower()}"
    table = Table(file, title, ["Dataset", *(method.name for method in others)], ours=OURS)
    for _, about in settings.data:
        for how in settings.selections:
            ours = summaries[about.name, how, name]
            cells = [difference(ours, summaries[about.name, how, method.name]) for method in others]
            table.add(f"{about.name}, {how}", *cells)
    table.note = "Every draw of labels is the same for all methods, so the luck of the draw falls out."
    return table


def _paper_row(about: Description, methods: list[Method], measure: str) -> list[str]:
    assert about.paper is not None
    scores = PAPER[about.paper.name]
    cells = []
    for method in methods:
        score = scores.get(method.name, {}).get(measure) if method.in_paper else None
        if not method.in_paper:
            cells.append("")
        elif score is None:
            cells.append("OM")
        else:
            cells.append(f"{score[0]}" if score[1] is None else f"{score[0]} ± {score[1]}")
    return [f"{about.name}, paper{'' if about.same_as_paper else '*'}", *cells]
