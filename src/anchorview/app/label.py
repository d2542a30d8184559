"""The command `anchorview label`: a page that learns while people label."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from .errors import DataError, UsageError
from .options import ClustersOption, IdOption, JobsOption, LabelOption
from .speaking import say

_N_CLUSTERS = 10  # groups of a first fit without labels; the page asks for one row of each, and more


def label(
    source: Annotated[
        Path, typer.Argument(help="The folder of a run; or a table, or a folder of photos, which is fitted first.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="If a table is fitted first: folder for its run; by default NAME-run."),
    ] = None,
    label: LabelOption = None,
    id: IdOption = None,
    clusters: ClustersOption = None,
    guidelines: Annotated[Path | None, typer.Option(help="A text file that the page shows on pressing h.")] = None,
    imported: Annotated[
        Path | None,
        typer.Option("--import", help="Import labels, annotators, times and skips from a Label Studio export (.json)."),
    ] = None,
    who: Annotated[str | None, typer.Option(help="Your name. Other people enter theirs on the page.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; by default a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    jobs: JobsOption = None,
) -> None:
    """Open a page to label the rows of a run, with a model that learns as you label.

    Labels are saved to RUN.labels.jsonl beside the run's folder before the page continues. To fit with them: anchorview
    fit --config RUN/run.toml --labels RUN.labels.jsonl -o NEW. The page is available on this machine only. Press Ctrl-C
    to end it.
    """
    text = ""
    if guidelines is not None:
        try:
            text = guidelines.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--guidelines {guidelines} cannot be read: {error}.") from None
    if imported is not None and not imported.is_file():
        raise DataError(f"--import {imported}: there is no such file.")
    if not source.exists():
        raise DataError(f"There is no {source}; name the folder of a run, or a table.")
    from .labelling.running import LOOPBACK, new_token, open_browser, open_socket, serve_app

    try:
        from .labelling.server import make_app
    except ImportError:
        raise UsageError("The page needs starlette and uvicorn: pip install 'anchorview[serve]'") from None
    listening = open_socket(port)  # before a long fit
    run = source if _is_run(source) else _fit_first(source, output, label, id, clusters, jobs)
    from .labelling.opening import open_session

    say(f"Opening {run} …")
    session = open_session(run, text, jobs)
    try:
        if session.journal.note:
            say(f"Note: {session.journal.note}")
        if imported is not None:
            from .label_journal.importing import events_of_label_studio

            events = events_of_label_studio(imported, session.rows.ids, session.book.labels)
            say(f"{session.take_over(events):,} annotations of {imported.name} are new.")
        token, number = new_token(), listening.getsockname()[1]
        from urllib.parse import quote

        address = f"http://{LOOPBACK}:{number}/#token={token}&who={quote(who or _user())}"

        def started() -> None:
            say(f"Label at {address}")
            say(f"Labels are kept in {session.journal.path}. Ctrl-C ends the page.")
            if not no_browser:
                open_browser(address)

        serve_app(make_app(session, token, number), listening, started)
    finally:
        session.close()
        listening.close()
    say(f"{len(session.book.labels):,} labels in {session.journal.path}")


def _is_run(source: Path) -> bool:
    """Tell the folder of a run from tables and folders of photos, which are fitted first."""
    from ..files.sources import is_photo_folder
    from .run_folder import MARK

    return source.is_dir() and ((source / MARK).is_file() or not is_photo_folder(source))


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "you"


def _fit_first(
    table: Path, output: Path | None, label: str | None, id: str | None, clusters: int | str | None, jobs: int | None
) -> Path:
    """Fit a table, with no label if it has none, and return the run."""
    from .fitting import run_fit
    from .progress import Reporter
    from .run_folder import MARK
    from .settings import RunSettings

    run = output or table.with_name(f"{table.name.partition('.')[0]}-run")
    if (run / MARK).is_file():
        say(f"{run} is there already; going on with it.")
        return run
    n_clusters = clusters or (None if label else _N_CLUSTERS)
    settings = RunSettings(table=table, label=label, id=id, clusters=n_clusters, fast=True, jobs=jobs)
    return run_fit(settings, run, False, Reporter(quiet=False), with_page=False).folder
