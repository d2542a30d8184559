"""Memory: bytes of the variables as the paper counts them, our estimate, and the measured peak of each method."""

from __future__ import annotations

from pathlib import Path

from ...cost.fit import FitSizes, estimate_memory
from ...report.document import Section, Table, scientific, score_cells
from ..methods import METHODS, OURS
from ..operations import variables_bytes
from ..paper_tables import MEMORY
from ..protocol import label_fraction
from ..registry import REGISTRY
from ..runner import Runner
from ..settings import Settings
from .common import Summary, data_line, error_lines, mark_lines, summarise


def measure_memory(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Measure every method on every data set, each in a process of its own."""
    methods, marked = settings.choose(), dict[str, Summary]()
    measured = Table(
        "memory-peak",
        "Measured peak of a fit beyond data and libraries: MB, and in brackets KB per row",
        ["Dataset", "n", *(method.name for method in methods)],
        ours=OURS,
    )
    for source, about in settings.data:
        runs = [settings.fit(source, about, method, {}, settings.seed, fresh=True) for method in methods]
        runner.run(runs, f"memory, {about.name}")
        row = [summarise(runner, [run]) for run in runs]
        peaks = [summary.mean("fit_bytes") for summary in row]
        texts = [
            (summary.failure or "–")
            if peak is None
            else f"{peak / 1e6:.0f} ({peak / about.n_rows / 1e3:.1f}){summary.mark}"
            for summary, peak in zip(row, peaks, strict=True)
        ]
        marked |= {f"{method.name}, {about.name}": found for method, found in zip(methods, row, strict=True)}
        measured.add(about.name, f"{about.n_rows:,}", *score_cells(peaks, texts, smallest=True))
    section = Section("memory", "Memory")
    section.text = [
        data_line(settings),
        "Peak: largest resident memory during the fit minus that before it, one fit in a fresh process.",
        *error_lines(runner),
        *mark_lines(marked),
    ]
    section.tables = [_variables(settings), measured]
    return section


def _variables(settings: Settings) -> Table:
    sizes = [(e.name, e.n_rows, e.n_features, e.n_classes, e.n_landmarks) for e in REGISTRY]
    for _, about in settings.data:
        if about.paper is None:
            sizes.append((about.name, about.n_rows, about.n_features, about.n_classes, 500))
    header = [
        "Dataset",
        "n",
        "d",
        "Algorithm 1: bytes",
        "bytes/n",
        "paper: bytes",
        "bytes/n",
        "active_set: bytes",
        "bytes/n",
    ]
    table = Table("memory", "Memory of FSSMSC in bytes, from the sizes", header)
    for name, n, d, k, m in sizes:
        variables = variables_bytes(n, d, k, int(n * label_fraction(n)), m)
        ours = estimate_memory(FitSizes(n, d, min(m, n // 3), k, int(n * label_fraction(n)))).total
        paper = MEMORY.get(name)
        known = ["", ""] if paper is None else [scientific(paper), scientific(paper / n)]
        cells = [scientific(variables), scientific(variables / n), *known, scientific(ours), scientific(ours / n)]
        table.add(name, f"{n:,}", f"{d:,}", *cells)
    table.note = (
        "Algorithm 1: X, U, L_M, L_C, Z, B, Λ, A, F and q once each, in double precision; MATLAB holds further m×n "
        f"matrices. active_set: the estimate of {METHODS['FSSMSC'].name}.estimate_memory beyond the input, 1 thread."
    )
    return table
