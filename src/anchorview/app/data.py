"""The command `anchorview data`: what the paper's data sets are, and whether a file is one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..core.printable import printable
from .speaking import say

if TYPE_CHECKING:  # what reads data sets takes seconds to load: not for --help
    from ..bench.sources import Source
    from ..bench.worker import Worker

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Look at data sets before they are used.",
)
console = Console()


@app.command("list")
def list_data(
    path: Annotated[Path | None, typer.Argument(help="Folder of .npz and .mat files; without it, the paper's.")] = None,
) -> None:
    """List the paper's data sets and the names of their files, or the data sets in a folder."""
    if path is None:
        from rich.table import Table

        from ..bench.registry import REGISTRY

        table = Table(title="Data sets of the paper")
        for name in ("name", "rows", "classes", "features of the views", "file (.mat or .npz)"):
            table.add_column(name, justify="right" if name in ("rows", "classes") else "left")
        for entry in REGISTRY:
            sizes = ", ".join(map(str, entry.view_sizes))
            table.add_row(entry.name, f"{entry.n_rows:,}", str(entry.n_classes), sizes, ", ".join(entry.files[:3]))
        console.print(table)
        console.print("HW is built in; for the others give the folder that holds the files: --data FOLDER.")
        return
    sources = _sources(path)
    with _worker() as worker:
        readable = [_list(source, worker) for source in sources]
    if not any(readable):
        raise typer.Exit(1)


@app.command()
def check(path: Annotated[Path, typer.Argument(help="A .npz or .mat file, or a folder of them.")]) -> None:
    """Read files, and report whether they are the paper's data sets and what differs."""
    sources = _sources(path)
    with _worker() as worker:
        results = [_check(source, worker) for source in sources]
    if not all(results):
        raise typer.Exit(1)


def _sources(path: Path) -> list[Source]:
    from ..bench.sources import find_sources

    try:
        return find_sources([path])
    except (ValueError, OSError) as error:
        say(f"Error: {error}", err=True)
        raise typer.Exit(2) from None


def _worker() -> Worker:
    """Return a child process to read in: a file too large for the memory that is free ends nothing but this."""
    from ..bench.worker import Worker
    from ..cost.estimate import available_memory

    free = available_memory()
    return Worker(memory_limit=None if free is None else int(0.85 * free))


def _list(source: Source, worker: Worker) -> bool:
    from ..bench.reading import read_description

    try:
        about = read_description(source, worker)
    except (ValueError, OSError) as error:
        console.print(
            printable(f"{source.name}: {error}", keep="\n"), style="red", soft_wrap=True, highlight=False, markup=False
        )
        return False
    of_paper = "" if about.paper is None else f" – the paper's {about.paper.name}"
    of_paper += "" if about.paper is None or about.same_as_paper else ", features extracted anew"
    say(f"{source.name}: {about}{of_paper}")
    return True


def _check(source: Source, worker: Worker) -> bool:
    from ..bench.reading import read_description
    from ..bench.registry import differences, find_entry
    from ..bench.sources import EMBEDDED

    place = source.place if source.place != EMBEDDED else "embedded"
    try:
        about = read_description(source, worker)
    except (ValueError, OSError) as error:
        say(f"{place}: NOT readable. {error}")
        return False
    named = find_entry(source.name)
    if about.paper is not None and about.same_as_paper:
        say(f"{place}: OK, the paper's {about.paper.name} by its sizes: {about}.")
        return True
    if about.paper is not None:
        say(f"{place}: OK, the sizes of the paper's {about.paper.name} with features extracted anew: {about}.")
        return True
    if named is not None:
        differing = "; ".join(differences(named, about.n_rows, about.view_sizes, about.n_classes))
        say(f"{place}: NOT the paper's {named.name}: {differing}.")
        return False
    say(f"{place}: OK, readable; not one of the paper's data sets: {about}.")
    return True
