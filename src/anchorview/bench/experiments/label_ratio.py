"""ACC, NMI and ARI against the part of the rows that are labelled, for all methods that use labels."""

from __future__ import annotations

from pathlib import Path

from ...report.document import Figure, Section, Table, score_cells
from ...report.figures import draw_curves
from ..methods import WITH_LABELS
from ..runner import Run, Runner
from ..settings import Settings
from .common import MEASURES, PROTOCOL, data_line, error_lines, repetitions, summarise

_SMALL = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
_LARGE = (0.002, 0.005, 0.01, 0.02, 0.05)


def run_label_ratios(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Make the runs (default parameters) and return curves and tables."""
    methods = settings.choose(WITH_LABELS)
    section = Section("label-ratio", "Part of the rows that are labelled")
    scores = ("acc", "nmi", "ari")
    for source, about in settings.data:
        ratios: tuple[float, ...] = _SMALL if about.n_rows < 10_000 else _LARGE
        ratios = ratios[1:5:2] if settings.quick else ratios
        ratios = tuple(ratio for ratio in ratios if ratio * about.n_rows >= 2 * about.n_classes) or ratios[-1:]
        runs: dict[tuple[str, float], list[Run]] = {
            (method.name, ratio): [
                settings.fit(source, about, method, {}, seed, fraction=ratio) for seed in settings.seeds
            ]
            for method in methods
            for ratio in ratios
        }
        runner.run([run for some in runs.values() for run in some], f"label ratios, {about.name}")
        summaries = {key: summarise(runner, some) for key, some in runs.items()}
        header = [about.name, *(method.name for method in methods)]
        table = Table(f"label-ratio-{about.name}", f"{about.name}: scores against the labelled part", header)
        for measure in scores:
            table.add_heading(MEASURES[measure])
            for ratio in ratios:
                row = [summaries[method.name, ratio] for method in methods]
                cells = score_cells([s.mean(measure) for s in row], [s.text(measure) for s in row])
                table.add(f"{100 * ratio:g} %", *cells)
        section.tables.append(table)
        panels = {
            MEASURES[measure]: {m.name: [summaries[m.name, r].mean(measure) for r in ratios] for m in methods}
            for measure in scores
        }
        name = f"label-ratio-{about.name}"
        percent = [100 * ratio for ratio in ratios]
        draw_curves(panels, percent, figures / name, xlabel="labelled rows (%)", ylabel="score (%)")
        section.figures.append(Figure(name, f"{about.name}: ACC, NMI and ARI against the labelled part"))
    section.text = [data_line(settings), f"{repetitions(settings.repeats)}, default parameters. {PROTOCOL}"]
    section.text += error_lines(runner)
    return section
