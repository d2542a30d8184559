"""The command `anchorview predict`: labels for the rows of new files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    AssumeOrderOption,
    IdOption,
    ImageEncoderOption,
    JsonOption,
    OrderOption,
    SheetOption,
    SqlTableOption,
    TextEncoderOption,
    ViewOption,
)
from .speaking import say_json

_OUTPUT = Path("labels.csv")
MODEL = "model.anchorview"  # in the folder of a run


def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a run, or its model.anchorview.")],
    files: Annotated[list[Path] | None, typer.Argument(help="Tables with the columns of the fit.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the labels: .csv or .parquet.")] = _OUTPUT,
    sheet: SheetOption = None,
    sql_table: SqlTableOption = None,
    view: ViewOption = None,
    id: IdOption = None,
    order: OrderOption = None,
    assume_order: AssumeOrderOption = False,
    image_encoder: ImageEncoderOption = None,
    text_encoder: TextEncoderOption = None,
    min_confidence: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave rows with a lower confidence unlabelled.")
    ] = 0.0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    block_rows: Annotated[int, typer.Option(min=1, help="Rows per block.")] = 20_000,
    as_json: JsonOption = False,
) -> None:
    """Label the rows of new files with the model of a run.

    Files are read in blocks, so they may be larger than memory. If the command is interrupted, run it again to resume.
    Rows are named by the id column of the fit, if the files have it. Unknown words and categories are ignored and
    counted.
    """
    from ..files.sources import with_part
    from .predicting import Request, run_predict
    from .progress import Reporter

    reporter = Reporter(quiet=as_json)
    path = model / MODEL if model.is_dir() else model
    for option, part in (("--sheet", sheet), ("--table", sql_table)):
        files = [with_part(file, part, option) for file in files or []]
    how = order, assume_order, image_encoder, text_encoder, min_confidence
    request = Request(path, files or [], view or [], id, block_rows, *how)
    done = run_predict(request, output, force, reporter)
    if as_json:
        say_json(done)
        return
    for column, (what, count, total) in done["unseen"].items():
        if count:
            reporter.say(
                f"Column {column!r}: {count:,} of {total:,} {what} are new and were ignored ({count / total:.1%})."
            )
    for note in done["notes"]:
        reporter.say(f"Note: {note}")
    reporter.say(f"Done: {done['rows']:,} rows, {done['output']}")
