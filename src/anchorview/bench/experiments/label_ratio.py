"""ACC, NMI and ARI against the part of the rows that are labelled, for all methods that use labels."""

from __future__ import annotations

from pathlib import Path

from ...core.files import file_name
from ...report.document import Figure, Section, Table
from ...report.figures import draw_curves
from ..methods import OURS, WITH_LABELS
from ..runner import Run, Runner
from ..settings import Settings
from .common import MEASURES, PROTOCOL, Summary, alike_cells, data_line, error_lines, mark_lines, repetitions, summarise

_SMALL = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
_LARGE = (0.002, 0.005, 0.01, 0.02, 0.05)
_MORE = (0.4, 0.5, 0.6, 0.7, 0.8)  # for few rows of many classes
_LEAST = 3  # points of a curve


def label_ratios(n_rows: int, n_classes: int, quick: bool = False) -> tuple[float, ...]:
    """Return labelled parts with two labels a class or more, at least three of them; if quick, three.

    Examples
    --------
    >>> label_ratios(2000, 10), label_ratios(2000, 10, quick=True)
    ((0.01, 0.02, 0.05, 0.1, 0.2, 0.3), (0.01, 0.1, 0.3))
    >>> label_ratios(240, 20)
    (0.2, 0.3, 0.4)
    """
    usual = _SMALL if n_rows < 10_000 else _LARGE
    enough = [ratio for ratio in usual if ratio * n_rows >= 2 * n_classes]
    more = [ratio for ratio in (*_SMALL, *_MORE) if ratio > usual[-1] and ratio * n_rows >= 2 * n_classes]
    enough += more[: max(_LEAST - len(enough), 0)]
    if len(enough) < _LEAST:  # so few rows a class that most must be labelled
        enough = list(_MORE[-_LEAST:])
    return (enough[0], enough[len(enough) // 2], enough[-1]) if quick else tuple(enough)


def run_label_ratios(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Make the runs (default parameters) and return curves and tables."""
    methods = settings.choose(WITH_LABELS)
    section = Section("label-ratio", "Part of the rows that are labelled")
    scores = ("acc", "nmi", "ari")
    marked: dict[str, Summary] = {}
    for source, about in settings.data:
        ratios = label_ratios(about.n_rows, about.n_classes, settings.quick)
        runs: dict[tuple[str, float], list[Run]] = {
            (method.name, ratio): [
                settings.fit(source, about, method, {}, seed, fraction=ratio) for seed in settings.seeds
            ]
            for method in methods
            for ratio in ratios
        }
        runner.run([run for some in runs.values() for run in some], f"label ratios, {about.name}")
        summaries = {key: summarise(runner, some) for key, some in runs.items()}
        marked |= {f"{method}, {about.name}, {100 * ratio:g} %": found for (method, ratio), found in summaries.items()}
        header = [about.name, *(method.name for method in methods)]
        name = file_name(f"label-ratio-{about.name}")
        table = Table(name, f"{about.name}: scores against the labelled part", header, ours=OURS)
        for measure in scores:
            table.add_heading(MEASURES[measure])
            for ratio in ratios:
                row = [summaries[method.name, ratio] for method in methods]
                cells = alike_cells(row, methods, measure)
                table.add(f"{100 * ratio:g} %", *cells)
        section.tables.append(table)
        panels = {
            MEASURES[measure]: {m.name: [summaries[m.name, r].mean(measure) for r in ratios] for m in methods}
            for measure in scores
        }
        percent = [100 * ratio for ratio in ratios]
        draw_curves(panels, percent, figures / name, xlabel="labelled rows (%)", ylabel="score (%)")
        section.figures.append(Figure(name, f"{about.name}: ACC, NMI and ARI against the labelled part"))
    section.text = [data_line(settings), f"{repetitions(settings.repeats)}, default parameters. {PROTOCOL}"]
    section.text += [*error_lines(runner), *mark_lines(marked)]
    return section
