"""Options that several commands share, and how they become settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .settings import RunSettings, read_settings

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
IdOption = Annotated[str | None, typer.Option("--id", help="Column of ids, by which files are aligned.")]
LabelOption = Annotated[str | None, typer.Option(help="Column of labels; empty cells and -1 are no label.")]
LabelsOption = Annotated[
    Path | None, typer.Option(help="File of labels: .csv, .tsv or .parquet with ids, .npy, or .json of Label Studio.")
]
UnlabelledOption = Annotated[str | None, typer.Option(help="A value that means 'no label'.")]
ConfigOption = Annotated[Path | None, typer.Option(help="A .toml file with settings; options go before it.")]
FastOption = Annotated[bool, typer.Option("--fast", help="The plain model: no search and no average, less accurate.")]
ClustersOption = Annotated[int | None, typer.Option(min=2, help="Number of clusters; works without labels.")]
MemoryOption = Annotated[float | None, typer.Option(min=0.001, help="GB that the fit may take beyond the input.")]
SeedOption = Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="Random seed; by default 0.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Threads; by default one for each core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write the result as JSON, and nothing else, to stdout.")]

_NAMES = {"view": "views"}
_FIELDS = (
    "table",
    "view",
    "id",
    "label",
    "labels",
    "unlabelled",
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
    return settings.override({_NAMES.get(name, name): given[name] for name in _FIELDS if name in given})
