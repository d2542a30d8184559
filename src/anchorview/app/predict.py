"""The command `anchorview predict`: labels for the rows of new files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import IdOption, JsonOption, ViewOption
from .speaking import say_json

_OUTPUT = Path("labels.csv")


def predict(
    model: Annotated[Path, typer.Argument(help="The model.anchorview of a run.")],
    files: Annotated[list[Path] | None, typer.Argument(help="Tables with the columns of the fit.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the labels: .csv or .parquet.")] = _OUTPUT,
    view: ViewOption = None,
    id: IdOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    block_rows: Annotated[int, typer.Option(min=1, help="Rows that are read and labelled together.")] = 20_000,
    as_json: JsonOption = False,
) -> None:
    """Label the rows of new files with the model of a run.

    Files are read in blocks, so they may be larger than the memory. After an interrupt the same command goes on where
    it ended. Words and categories that the model does not know are ignored, and counted.
    """
    from .predicting import Request, run_predict
    from .progress import Reporter

    reporter = Reporter(quiet=as_json)
    done = run_predict(Request(model, files or [], view or [], id, block_rows), output, force, reporter)
    if as_json:
        say_json(done)
        return
    for column, (what, count, total) in done["unseen"].items():
        if count:
            reporter.say(
                f"Column {column!r}: {count:,} of {total:,} {what} are new and were ignored ({count / total:.1%})."
            )
    reporter.say(f"Done: {done['rows']:,} rows, {done['output']}")
