"""Options that several commands share, and how they become settings."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..files.sources import join_files, map_files, with_part
from .errors import UsageError
from .settings import ERROR, LATER, RunSettings, read_settings


class OnConflict(StrEnum):
    """What happens where two sources of labels disagree."""

    LATER = LATER
    ERROR = ERROR


def _clusters(text: str) -> int | str:
    """Return a number of clusters, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 2:
        raise typer.BadParameter(f"{text!r} is neither a whole number from 2 on nor auto.")
    return int(text)


TableArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        help="The table, a file or several: .csv, .tsv, .jsonl (also .gz, .zst), .xlsx, .parquet, .feather, .sqlite; "
        "or a data set: .h5ad, .h5mu, .npz, .mat; or a folder of photos.",
        show_default=False,
    ),
]
SheetOption = Annotated[str | None, typer.Option("--sheet", help="Sheet of an Excel file; by default the first.")]
SqlTableOption = Annotated[str | None, typer.Option("--table", help="Table of an SQLite file, if it has several.")]
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
        help="Set the type of a column: text, number, category, boolean, date, list, image, tags, email, url or "
        "ignore; can be repeated.",
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The row order of files without ids: a view with ids, a table with the column of ids, or a list of ids "
        "(.txt, .npy).",
    ),
]
AssumeOrderOption = Annotated[
    bool, typer.Option("--assume-order", help="Files without ids are in the order of the first file with ids.")
]
LabelOption = Annotated[str | None, typer.Option(help="Column of labels; empty cells and -1 are no label.")]
LabelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="File of labels: .csv, .tsv or .parquet with ids, .npy, .json of Label Studio, or .labels.jsonl of the "
        "labelling page; can be repeated, and "
        "joined with --label: a later one goes before an earlier one.",
    ),
]
OnConflictOption = Annotated[
    OnConflict | None, typer.Option(help="If sources of labels disagree: use the later one, or raise an error.")
]
UnlabelledOption = Annotated[str | None, typer.Option(help="A value that means 'no label'.")]
ConfigOption = Annotated[
    Path | None, typer.Option(help="A .toml file with settings. Options on the command line override it.")
]
LabelsFromFoldersOption = Annotated[
    bool, typer.Option("--labels-from-folders", help="Use the name of a photo's folder as its label.")
]
TextEncoderOption = Annotated[
    str | None,
    typer.Option(
        help="Encoder for text by meaning: auto (wordllama if it is installed), wordllama, the folder of a model, or "
        "none."
    ),
]
TextCacheOption = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="Cache folder for encoded texts, or none; by default ~/.cache/anchorview, if the encoder is slow.",
    ),
]
ImageEncoderOption = Annotated[Path | None, typer.Option(help="An .onnx network that encodes photos.")]
FastOption = Annotated[
    bool, typer.Option("--fast", help="Fit the plain model (FSSMSC) without a search. Faster, less accurate.")
]
ClustersOption = Annotated[
    Any,
    typer.Option(
        parser=_clusters,
        metavar="K",
        help="Number of clusters, or auto. Works without labels.",
    ),
]
MemoryOption = Annotated[
    float | None, typer.Option(min=0.001, help="Memory in GB that the fit may use beyond the input.")
]
SeedOption = Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="Random seed; by default 0.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Threads; by default one for each core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only the result, as JSON, to stdout.")]

_PART_OPTIONS = {"sheet": "--sheet", "sql_table": "--table"}
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
    "labels_from_folders",
    "image_encoder",
    "text_encoder",
    "text_cache",
    "fast",
    "clusters",
    "memory_limit",
    "seed",
    "jobs",
    "strict",
    "keep_rows",
    "output",
)


def settings_of(config: Path | None, given: dict[str, Any]) -> RunSettings:
    """Return the settings of a configuration file, if there is one, with the options that were given."""
    settings = RunSettings() if config is None else read_settings(config)
    options = {_NAMES.get(name, name): given[name] for name in _FIELDS if name in given}
    options["table"] = join_files(options["table"]) if options.get("table") else None
    for option in ("sheet", "sql_table"):
        part, table = given.get(option), options["table"] or settings.table
        if part is not None and table is None:
            raise UsageError("--sheet and --table name a part of a file; name the file first.")
        if part is not None and table is not None:
            options["table"] = map_files(table, partial(with_part, part=part, option=_PART_OPTIONS[option]))
    if options.get("columns"):
        options["columns"] = dict(map(_kind_of_column, options["columns"]))
    return settings.override(options)


def _kind_of_column(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not equals or not name or not kind:
        raise UsageError(f"--column {text!r} is not NAME=KIND: write --column title=text.")
    return name, kind
