"""The command `anchorview tune`: the settings that the search tries, and how well each finds hidden labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .errors import UsageError
from .options import (
    AssumeOrderOption,
    ColumnOption,
    ConfigOption,
    IdOption,
    ImageEncoderOption,
    JobsOption,
    JsonOption,
    LabelOption,
    LabelsFromFoldersOption,
    LabelsOption,
    OnConflictOption,
    OrderOption,
    SeedOption,
    SheetOption,
    SqlTableOption,
    TableArgument,
    TextCacheOption,
    TextEncoderOption,
    UnlabelledOption,
    ViewOption,
    settings_of,
)
from .output_path import check_output_path
from .speaking import in_markup, say_json

_SHOWN = 15  # settings printed


def tune(
    table: TableArgument = None,
    sheet: SheetOption = None,
    sql_table: SqlTableOption = None,
    view: ViewOption = None,
    id: IdOption = None,
    label: LabelOption = None,
    labels: LabelsOption = None,
    on_conflict: OnConflictOption = None,
    unlabelled: UnlabelledOption = None,
    column: ColumnOption = None,
    order: OrderOption = None,
    assume_order: AssumeOrderOption = False,
    labels_from_folders: LabelsFromFoldersOption = False,
    image_encoder: ImageEncoderOption = None,
    text_encoder: TextEncoderOption = None,
    text_cache: TextCacheOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the whole table to this .csv file.")
    ] = None,
    config: ConfigOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the best settings and show them as a table.

    Settings are scored by cross-validation on the labels, best first. `fit` runs the same search, averages the best
    settings and labels every row; `tune` labels nothing.
    """
    from .progress import Reporter
    from .tuning_table import narrow_table, search_table, write_table

    settings = settings_of(config, locals())
    if output is not None and output.suffix.lower() != ".csv":
        raise UsageError(f"{output} must end in .csv.")
    if output is not None:
        check_output_path(output, force)
    reporter = Reporter(quiet=as_json)
    rows = search_table(settings, reporter)
    if output is not None:
        write_table(rows, output)
    if as_json:
        say_json(rows)
        return
    _print(*narrow_table(rows, _SHOWN), len(rows))
    if output is not None:
        reporter.say(f"All {len(rows)} settings: {output}")


def _print(cells: list[list[str]], same: list[str], n_rows: int) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    title = f"{len(cells) - 1} of {n_rows} settings, the best first"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, cell in zip(cells[0], cells[1], strict=True):
        shown.add_column(name, justify="right" if cell[0].isdigit() else "left", no_wrap=name != "scaling")
    for row in cells[1:]:
        shown.add_row(*map(in_markup, row))
    console = Console(highlight=False)
    console.print(shown)
    if same:
        console.print(f"The same in all: {', '.join(same)}.", markup=False)
