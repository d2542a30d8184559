"""Running time against the number of rows, and the part of it spent on similarity graphs."""

from __future__ import annotations

from pathlib import Path

from ...report.document import Cell, Figure, Section, Table, score_cells
from ...report.figures import draw_times
from ..methods import OURS, WITH_LABELS
from ..paper_tables import TIME
from ..runner import Run, Runner
from ..settings import Settings
from .common import Summary, data_line, error_lines, mark_lines, repetitions, summarise

_PARTS = (8, 4, 2, 1)  # n / 8, n / 4, n / 2, n
_MOST_REPEATS = 3  # times vary less than scores


def measure_times(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Fit samples of the rows, and return the table in the paper's form and curves."""
    methods = settings.choose(WITH_LABELS)
    header = ["Dataset", "n", *(method.name for method in methods)]
    table = Table("time", "Running time in seconds; in brackets, of it, building similarity graphs", header, ours=OURS)
    section = Section("time", "Running time against the number of rows")
    curves: dict[str, dict[str, list[tuple[int, float, float]]]] = {}
    marked: dict[str, Summary] = {}
    for source, about in settings.data:
        sizes = [n for part in _PARTS if (n := about.n_rows // part) >= 5 * about.n_classes]
        sizes = sizes[-2:] if settings.quick else sizes
        seeds = settings.seeds[:_MOST_REPEATS]
        runs: dict[tuple[int, str], list[Run]] = {
            (n, m.name): [settings.fit(source, about, m, {}, s, n_rows=n, fraction=_share(settings, n)) for s in seeds]
            for n in sizes
            for m in methods
        }
        runner.run([run for some in runs.values() for run in some], f"times, {about.name}")
        summaries = {key: summarise(runner, some) for key, some in runs.items()}
        marked |= {f"{method}, {about.name}, {n:,} rows": found for (n, method), found in summaries.items()}
        for n in sizes:
            row = [summaries[n, method.name] for method in methods]
            means, texts = [summary.mean("seconds") for summary in row], [_text(summary) for summary in row]
            table.add(about.name, f"{n:,}", *score_cells(means, texts, smallest=True))
        if about.paper is not None and about.paper.name in TIME:
            paper = TIME[about.paper.name]
            cells = [Cell(paper.get(method.name, "")) for method in methods]
            table.add(f"{about.name}, paper{'' if about.same_as_paper else '*'}", f"{about.paper.n_rows:,}", *cells)
        curves[about.name] = {
            method.name: [
                (n, seconds, summaries[n, method.name].mean("graph_seconds") or 0.0)
                for n in sizes
                if (seconds := summaries[n, method.name].mean("seconds")) is not None
            ]
            for method in methods
        }
    draw_times(curves, figures / "time")
    section.text = [
        data_line(settings),
        f"Mean of {repetitions(min(settings.repeats, _MOST_REPEATS))}, fits of random samples of the rows. "
        "Default parameters. The paper's times are MATLAB on another machine. Neighbour graphs are built exactly, in "
        "blocks, and kept sparse: their time still grows with n², their memory does not.",
        *error_lines(runner),
        *mark_lines(marked),
    ]
    section.tables = [table]
    section.figures = [Figure("time", "Seconds of a fit (solid) and of its similarity graphs (dashed)")]
    return section


def _share(settings: Settings, n: int) -> float:
    """At least ten labelled rows, also in small samples."""
    return max(settings.labelled(n), min(10 / n, 0.5))


def _text(summary: Summary) -> str:
    total, graphs = summary.mean("seconds"), summary.mean("graph_seconds")
    if total is None:
        return summary.failure or "–"
    return (f"{total:.2f} ({graphs:.2f})" if graphs else f"{total:.2f}") + summary.mark
