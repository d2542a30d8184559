"""What the experiments share: averages of runs, and what a cell shows where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...report.document import Cell, score_cells
from ..methods import Method
from ..notices import footnotes, worst
from ..runner import Run, Runner
from ..settings import Settings
from ..sources import Description

MEASURES = {"acc": "ACC (%)", "nmi": "NMI (%)", "ari": "ARI (%)", "seconds": "Running time (s)"}
PROTOCOL = (
    "Labelled rows are a uniform random sample, not stratified; the unlabelled rows are scored. Methods without labels "
    "get the number of classes and are scored on all rows. Mean ± population standard deviation."
)


@dataclass
class Summary:
    """Values of some runs and their seeds; ``failure`` is "OM", "OT", "error" or nothing."""

    values: list[dict[str, Any]]
    seeds: list[int]
    failure: str | None = None

    def mean(self, measure: str) -> float | None:
        """Mean of a measure, None if there is nothing to average."""
        if self.failure or not self.values:
            return None
        return float(np.mean([value[measure] for value in self.values]))

    @property
    def mark(self) -> str:
        """Mark of the worst of the fits, " †" say; nothing if all went well."""
        found = worst(self.values)
        return f" {found}" if found else ""

    def text(self, measure: str, *, spread: bool = True) -> str:
        """Return mean ± spread and a mark where a fit did not go well, or why there is none."""
        mean = self.mean(measure)
        if mean is None:
            return self.failure or "–"
        if measure == "seconds":
            return (f"{mean:.1f}" if mean >= 10 else f"{mean:.2f}") + self.mark
        if not spread or len(self.values) < 2:
            return f"{mean:.1f}{self.mark}"
        return f"{mean:.1f} ± {np.std([value[measure] for value in self.values]):.1f}{self.mark}"


def summarise(runner: Runner, runs: Sequence[Run]) -> Summary:
    """Average what some runs of different seeds gave."""
    failure = next((cell for run in runs if (cell := runner.broken(run))), None)
    made = [(value, run.key["seed"]) for run in runs if (value := runner.value(run)) is not None]
    return Summary([value for value, _ in made], [seed for _, seed in made], failure)


def alike_cells(row: Sequence[Summary], methods: Sequence[Method], measure: str) -> list[Cell]:
    """Return the cells of a row, the best marked among like: methods that saw the same labels of the same draws.

    Methods without labels are scored on all rows and know no draw of labels; they are compared with each other. So is a
    method that lacks some of the draws which the others have.
    """
    return score_cells(
        [summary.mean(measure) for summary in row],
        [summary.text(measure) for summary in row],
        smallest=measure == "seconds",
        groups=[(method.uses_labels, tuple(summary.seeds)) for summary, method in zip(row, methods, strict=True)],
    )


def difference(first: Summary, second: Summary, measure: str = "acc", decimals: int = 1) -> str:
    """Return the mean of first − second over the draws that both have, ± its standard error; nothing below two draws.

    Both saw the same labels in each draw, so that the luck of the draw falls out.

    Examples
    --------
    >>> ours = Summary([{"acc": 97.0}, {"acc": 96.0}, {"acc": 98.0}], [0, 1, 2])
    >>> difference(ours, Summary([{"acc": 95.0}, {"acc": 96.0}], [1, 2]))
    '+1.5 ± 0.5'
    """
    if first.failure or second.failure:
        return first.failure or second.failure or ""
    other = dict(zip(second.seeds, second.values, strict=True))
    pairs = [(own, other[seed]) for own, seed in zip(first.values, first.seeds, strict=True) if seed in other]
    if len(pairs) < 2:
        return "–"
    gaps = np.array([own[measure] - other[measure] for own, other in pairs])
    return f"{gaps.mean():+.{decimals}f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.{decimals}f}"


def data_line(settings: Settings) -> str:
    """Name the data sets and how many labels they have."""
    parts = [
        f"{about.name}: {about}, {_percent(settings.labelled(about.n_rows))} labelled" for about in abouts(settings)
    ]
    return "Data: " + "; ".join(parts) + "."


def repetitions(count: int) -> str:
    """Return "1 repetition", "3 repetitions"."""
    return f"{count} repetition{'' if count == 1 else 's'}"


def abouts(settings: Settings) -> list[Description]:
    """Return the sizes of all data sets."""
    return [about for _, about in settings.data]


def error_lines(runner: Runner) -> list[str]:
    """Return a line for each error."""
    lines = (message.splitlines()[-1] for message in runner.errors.values())
    return [f"Failed: {line}" for line in dict.fromkeys(lines)]


def mark_lines(summaries: Mapping[str, Summary]) -> list[str]:
    """Explain the marks of some cells, by what the cells are of."""
    return footnotes({name: summary.values for name, summary in summaries.items()})


def _percent(part: float) -> str:
    return f"{100 * part:g} %"
