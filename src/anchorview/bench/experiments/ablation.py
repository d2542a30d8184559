"""Ablation: FSSMSC without each of its parts, and β = 0 against a default and a tuned β."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...report.document import Section, Table, score_cells
from ..methods import BOTH_SOLVERS, METHODS, Method
from ..paper_tables import ABLATION
from ..runner import Runner
from ..selection import best_by_evaluation
from ..settings import Settings
from ..sources import Description
from .common import MEASURES, Summary, data_line, difference, error_lines, mark_lines, repetitions, summarise

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "without_l1": ("W/O ‖Z‖₁", {"solver__omit": ["l1"]}),
    "without_must_link": ("W/O φ_M", {"solver__omit": ["must_link"]}),
    "without_cannot_link": ("W/O φ_C", {"solver__omit": ["cannot_link"]}),
    "without_smoothness": ("W/O φ_s", {"solver__omit": ["smoothness"]}),
    "full": ("FSSMSC", {}),
}
_COUPLING_TITLES = {"without_coupling": "FSSMSC* (β = 0)", "full": "FSSMSC, default β", "tuned": "FSSMSC, tuned β"}


def run_ablation(settings: Settings, runner: Runner, figures: Path) -> Section:
    """Make the runs of both solvers and return two tables for each."""
    section, marked = Section("ablation", "Ablation"), dict[str, Summary]()
    for method in settings.choose(BOTH_SOLVERS) or [METHODS["FSSMSC"]]:
        summaries: dict[tuple[str, str], Summary] = {}
        for source, about in settings.data:
            grid = [{"coupling": value} for value in method.grid["coupling"]]
            tuned = best_by_evaluation(grid, settings, runner, source, about, method)
            variants = {name: parameters for name, (_, parameters) in VARIANTS.items()}
            variants |= {"without_coupling": {"solver__omit": ["coupling"]}, "tuned": tuned}
            for name, parameters in variants.items():
                runs = [settings.fit(source, about, method, parameters, seed) for seed in settings.seeds]
                runner.run(runs, f"ablation of {method.name}, {about.name}")
                summaries[name, about.name] = summarise(runner, runs)
        titles = {name: title for name, (title, _) in VARIANTS.items()}
        marked |= {
            f"{method.name}, {(titles | _COUPLING_TITLES)[variant]}, {data}": found
            for (variant, data), found in summaries.items()
        }
        section.tables.append(_table(settings, method, "parts", "each part left out", titles, summaries))
        section.tables.append(_table(settings, method, "coupling", "β", _COUPLING_TITLES, summaries))
        if settings.repeats > 1:
            section.tables.append(_loss_table(settings, method, titles | _COUPLING_TITLES, summaries))
    section.text = [
        data_line(settings),
        f"{repetitions(settings.repeats)}. The other parameters are the defaults, so a part left out is not made up "
        "for by tuning the rest; the paper does not say whether it tuned each row. “Tuned β” is the best of the "
        "paper's five values on the evaluation labels of the first draw.",
        *error_lines(runner),
        *mark_lines(marked),
    ]
    return section


def _table(
    settings: Settings,
    method: Method,
    kind: str,
    what: str,
    titles: dict[str, str],
    summaries: dict[tuple[str, str], Summary],
) -> Table:
    header = ["Dataset"]
    for _, about in settings.data:
        header += [about.name, *_paper_title(about)]
    table = Table(f"ablation-{kind}-{method.name.lower()}", f"Ablation of {method.name}: {what}", header)
    for measure in ("acc", "nmi", "ari"):
        table.add_heading(MEASURES[measure])
        columns = []
        for _, about in settings.data:
            column = [summaries[name, about.name] for name in titles]
            columns.append(score_cells([s.mean(measure) for s in column], [s.text(measure) for s in column]))
            if about.paper is not None and about.paper.name in ABLATION:
                columns.append(_paper_column(about, titles, measure))
        for number, title in enumerate(titles.values()):
            table.add(title, *(column[number] for column in columns))
    return table


def _loss_table(
    settings: Settings, method: Method, titles: dict[str, str], summaries: dict[tuple[str, str], Summary]
) -> Table:
    """ACC of each variant less that of the full method, draw by draw."""
    title = f"Ablation of {method.name}: ACC less that of the full method, mean over the draws ± its standard error"
    names = [about.name for _, about in settings.data]
    table = Table(f"ablation-loss-{method.name.lower()}", title, ["Dataset", *names])
    for variant, text in titles.items():
        if variant != "full":
            pairs = [(summaries[variant, name], summaries["full", name]) for name in names]
            table.add(text, *(difference(*pair, decimals=2) for pair in pairs))
    return table


def _paper_title(about: Description) -> list[str]:
    if about.paper is None or about.paper.name not in ABLATION:
        return []
    return [f"paper{'' if about.same_as_paper else '*'}"]


def _paper_column(about: Description, titles: dict[str, str], measure: str) -> list[Any]:
    assert about.paper is not None
    scores = ABLATION[about.paper.name]
    cells = [scores.get("full" if name == "tuned" else name, {}).get(measure) for name in titles]
    if "tuned" in titles:  # the paper has no default β
        cells[list(titles).index("full")] = None
    texts = ["" if cell is None else f"{cell[0]} ± {cell[1]}" for cell in cells]
    return score_cells([None if cell is None else cell[0] for cell in cells], texts)
