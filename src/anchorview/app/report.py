"""The command `anchorview report`: the page of a run, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .errors import UsageError
from .output_path import check_output_path
from .speaking import say


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The .html file; by default report.html in the folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the report of a run again, from the files in its folder."""
    from .run_record import read_summary

    summary = read_summary(run)
    path = run / "report.html" if output is None else output
    if output is not None and path.suffix.lower() != ".html":
        raise UsageError(f"{path} must end in .html.")
    check_output_path(path, force or output is None)
    from ..report.run_page import write_run_page

    write_run_page(summary, path)
    say(f"Done: {path}")
