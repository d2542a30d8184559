"""The command `anchorview export`: the labels of a run for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .errors import DataError, UsageError
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
    to: Annotated[Format | None, typer.Option(help="The format; by default what the file's name says.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column of the run's table to take along; can be repeated. By default its text."),
    ] = None,
    least_sure: Annotated[
        int | None, typer.Option(min=1, help="Only so many rows: those that the model is least sure of.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the labels of a run for other tools: Label Studio (with predictions), JSON lines, or CSV.

    What people then say in Label Studio comes back as labels: export the project as JSON, and fit with --labels
    project.json.
    """
    from . import label_files
    from .exporting import further_columns
    from .run_record import read_record

    if to is None and output.suffix.lower() not in _OF_SUFFIX:
        raise UsageError(f"{output} ends in none of {', '.join(_OF_SUFFIX)}; say what to write: --to.")
    if output.exists() and not force:
        raise UsageError(f"{output} exists; choose another file (-o), or replace it: --force.")
    if not output.absolute().parent.is_dir():
        raise UsageError(f"The folder {output.absolute().parent} does not exist; create it first.")
    record = read_record(run)
    form = to or _OF_SUFFIX[output.suffix.lower()]
    try:
        rows = label_files.read_labels(run)
        chosen = rows if least_sure is None else label_files.least_sure(rows, least_sure)
        columns = further_columns(run, record, column)
        count = label_files.write_labels(chosen, output, str(form), columns, overwrite=force)
    except ValueError as error:
        raise DataError(str(error)) from None
    say(f"Done: {count:,} rows, {output}")
    if form is Format.LABEL_STUDIO and columns:
        from .label_studio import labelling_interface

        shown = next(iter(next(iter(columns.values()))))
        say("The labelling interface for the settings of the project:")
        say(labelling_interface(record["class_values"], shown))
