"""The command `anchorview export`: the labels of a run for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .errors import DataError, UsageError
from .output_path import check_output_path
from .speaking import say


class Format(StrEnum):
    """What other tools take."""

    LABEL_STUDIO = "label-studio"
    JSONL = "jsonl"
    CSV = "csv"


_OF_SUFFIX = {".json": Format.LABEL_STUDIO, ".jsonl": Format.JSONL, ".csv": Format.CSV}


def export(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file: .json, .jsonl or .csv.")],
    to: Annotated[Format | None, typer.Option(help="The format; by default by the file name.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column of the run's table to include; can be repeated. By default the text columns."),
    ] = None,
    least_sure: Annotated[
        int | None, typer.Option(min=1, help="Export this many rows, those with the lowest confidence.")
    ] = None,
    suggested: Annotated[
        int | None,
        typer.Option(min=1, help="Export this many rows, those most worth labelling, as in the report."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the labels of a run for other tools: Label Studio (with predictions), JSON lines, or CSV.

    What people then say in Label Studio comes back as labels: export the project as JSON, and fit with --labels
    project.json. To choose what they see, --suggested is the better way: the rows that the model is least sure of are
    often alike.
    """
    from . import label_files
    from .exporting import columns_of_run, further_columns, read_codes
    from .run_record import read_record

    if least_sure is not None and suggested is not None:
        raise UsageError("--suggested and --least-sure both choose rows; give one of them.")
    if to is None and output.suffix.lower() not in _OF_SUFFIX:
        raise UsageError(f"{output} ends in none of {', '.join(_OF_SUFFIX)}; say what to write: --to.")
    check_output_path(output, force)
    record = read_record(run)
    form = to or _OF_SUFFIX[output.suffix.lower()]
    try:
        chosen = label_files.read_labels(run)
        if suggested is not None:
            chosen = iter(label_files.suggested(chosen, suggested, read_codes(run)))
        elif least_sure is not None:
            chosen = iter(label_files.least_sure(chosen, least_sure))
        columns = further_columns(run, record, column)
        count = label_files.write_labels(chosen, output, str(form), columns, overwrite=force, **columns_of_run(record))
    except ValueError as error:
        raise DataError(str(error)) from None
    say(f"Done: {count:,} rows, {output}")
    wanted = suggested or least_sure or 0
    if count < wanted:
        say(f"Note: {wanted:,} rows were asked for, but only {count:,} have no label yet.")
    if form is Format.LABEL_STUDIO and columns:
        from .label_studio import labelling_interface

        shown = next(iter(columns.values()))
        say("The labelling interface for the settings of the project:")
        say(labelling_interface(record["class_values"], *shown))
