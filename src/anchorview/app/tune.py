"""The command `anchorview tune`: the settings that the search tries, and how well each finds hidden labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import UsageError
from .options import (
    ConfigOption,
    IdOption,
    JobsOption,
    JsonOption,
    LabelOption,
    LabelsOption,
    SeedOption,
    TableArgument,
    UnlabelledOption,
    ViewOption,
    settings_of,
)
from .speaking import in_markup, say_json

_SHOWN = 15  # settings printed


def tune(
    table: TableArgument = None,
    view: ViewOption = None,
    id: IdOption = None,
    label: LabelOption = None,
    labels: LabelsOption = None,
    unlabelled: UnlabelledOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the whole table to this .csv file.")
    ] = None,
    config: ConfigOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the best settings, and show the table of the search.

    Settings are judged by labels that are hidden in turn; the most believable comes first. `fit` makes the same search,
    averages the best settings and labels every row; `tune` labels nothing.
    """
    from .progress import Reporter
    from .tuning_table import search_table, write_table

    settings = settings_of(config, locals())
    if output is not None and output.suffix.lower() != ".csv":
        raise UsageError(f"{output} must end in .csv.")
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} exists; choose another file (-o), or replace it: --force.")
    reporter = Reporter(quiet=as_json)
    rows = search_table(settings, reporter)
    if output is not None:
        write_table(rows, output)
    if as_json:
        say_json(rows)
        return
    _print(rows)
    if output is not None:
        reporter.say(f"All {len(rows)} settings: {output}")


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=f"{min(len(rows), _SHOWN)} of {len(rows)} settings, the most believable first")
    for name in rows[0]:
        shown.add_column(name, justify="right" if isinstance(rows[0][name], float) else "left")
    for row in rows[:_SHOWN]:
        shown.add_row(
            *(f"{value:.4g}" if isinstance(value, float) else in_markup(str(value)) for value in row.values())
        )
    Console().print(shown)
