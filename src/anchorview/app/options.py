"""Options that several commands share, and how they become settings."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import UsageError
from .settings import ERROR, LATER, RunSettings, read_settings


class OnConflict(StrEnum):
    """What happens where two sources of labels disagree."""

    LATER = LATER
    ERROR = ERROR


TableArgument = Annotated[
    Path | None,
    typer.Argument(
        help="The table: .csv, .tsv (.gz), .parquet; or a data set: .h5ad, .h5mu, .npz, .mat.", show_default=False
    ),
]
ViewOption = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        metavar="NAME=SPEC",
        help="A view: columns of the table (text=emb_*, image=img_0..img_511), a file (image=emb.npy), or columns of a "
        "file (meta=table.csv:age,size); can be repeated. Without it the columns of the table are recognised.",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column of ids, by which files are aligned; 'none' numbers the rows. By default that of one table is "
        "recognised.",
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=KIND",
        help="What a column of the table is: text, number, category, boolean, date, list or ignore; can be repeated.",
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Whose order files without ids have: a view with ids, a table with the column of ids, or a list of ids "
        "(.txt, .npy).",
    ),
]
AssumeOrderOption = Annotated[
    bool, typer.Option("--assume-order", help="Files without ids have the order of the first file with ids.")
]
LabelOption = Annotated[str | None, typer.Option(help="Column of labels; empty cells and -1 are no label.")]
LabelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="File of labels: .csv, .tsv or .parquet with ids, .npy, or .json of Label Studio; can be repeated, and "
        "joined with --label: a later one goes before an earlier one.",
    ),
]
OnConflictOption = Annotated[
    OnConflict | None, typer.Option(help="Where sources of labels disagree: the later one is used, or it is an error.")
]
UnlabelledOption = Annotated[str | None, typer.Option(help="A value that means 'no label'.")]
ConfigOption = Annotated[Path | None, typer.Option(help="A .toml file with settings; options go before it.")]
FastOption = Annotated[bool, typer.Option("--fast", help="The plain model: no search and no average, less accurate.")]
ClustersOption = Annotated[int | None, typer.Option(min=2, help="Number of clusters; works without labels.")]
MemoryOption = Annotated[float | None, typer.Option(min=0.001, help="GB that the fit may take beyond the input.")]
SeedOption = Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="Random seed; by default 0.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Threads; by default one for each core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write the result as JSON, and nothing else, to stdout.")]

_NAMES = {"view": "views", "column": "columns"}
_FIELDS = (
    "table",
    "view",
    "id",
    "label",
    "labels",
    "on_conflict",
    "unlabelled",
    "column",
    "order",
    "assume_order",
    "fast",
    "clusters",
    "memory_limit",
    "seed",
    "jobs",
    "strict",
    "output",
)


def settings_of(config: Path | None, given: dict[str, Any]) -> RunSettings:
    """Return the settings of a configuration file, if there is one, with the options that were given."""
    settings = RunSettings() if config is None else read_settings(config)
    options = {_NAMES.get(name, name): given[name] for name in _FIELDS if name in given}
    if options.get("columns"):
        options["columns"] = dict(map(_kind_of_column, options["columns"]))
    return settings.override(options)


def _kind_of_column(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not equals or not name or not kind:
        raise UsageError(f"--column {text!r} is not NAME=KIND: write --column title=text.")
    return name, kind
