"""The command `anchorview fit`: files in, a folder with labels, model and report out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import NOT_CONVERGED, UsageError
from .options import (
    AssumeOrderOption,
    ClustersOption,
    ColumnOption,
    ConfigOption,
    FastOption,
    IdOption,
    ImageEncoderOption,
    JobsOption,
    JsonOption,
    LabelOption,
    LabelsFromFoldersOption,
    LabelsOption,
    MemoryOption,
    OnConflictOption,
    OrderOption,
    SeedOption,
    SheetOption,
    SqlTableOption,
    TableArgument,
    TextCacheOption,
    TextEncoderOption,
    UnlabelledOption,
    ViewOption,
    settings_of,
)
from .speaking import say, say_json


def fit(
    table: TableArgument = None,
    sheet: SheetOption = None,
    sql_table: SqlTableOption = None,
    view: ViewOption = None,
    id: IdOption = None,
    label: LabelOption = None,
    labels: LabelsOption = None,
    on_conflict: OnConflictOption = None,
    unlabelled: UnlabelledOption = None,
    column: ColumnOption = None,
    order: OrderOption = None,
    assume_order: AssumeOrderOption = False,
    labels_from_folders: LabelsFromFoldersOption = False,
    image_encoder: ImageEncoderOption = None,
    text_encoder: TextEncoderOption = None,
    text_cache: TextCacheOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the results; it must be new.")
    ] = None,
    config: ConfigOption = None,
    fast: FastOption = False,
    clusters: ClustersOption = None,
    memory_limit: MemoryOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read the data, print the type of each column, and stop.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="The same, and estimate the time from fits on a few hundred rows.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Do not write report.html; `anchorview report` writes it later.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier run in the folder.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 4 if the fit did not converge.")] = False,
    keep_rows: Annotated[
        bool,
        typer.Option(
            "--keep-rows", help="Keep the data that later rounds of labelling need (--from), about 2 kB per row."
        ),
    ] = False,
    from_run: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Reuse files, settings, landmarks and codes of a run that was made with --keep-rows."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Label every row of a table, or of several files, from a few labels.

    One table: anchorview fit reviews.csv --label topic -o run  (or .xlsx, .jsonl, .csv.gz, .sqlite, 'logs/*.csv')
    Column types are detected: text, numbers, categories, dates, lists of numbers.

    A folder of photos: anchorview fit photos/ --labels labels.csv -o run

    Columns of one table as views:
    anchorview fit rows.parquet --view text=emb_* --view image=img_0..img_511 --id id --label label -o run

    One file per view:
    anchorview fit --view image=emb.npy --view meta=table.csv:age,size --labels labels.csv --id id -o run

    The folder contains labels.parquet, labels.csv, model.anchorview, report.html, embedding.npy, run.json and run.toml.
    Edit run.toml and pass it with --config to run again.

    Add labels for the same rows, faster than a new fit:
    anchorview fit --from run --labels more.csv -o run2  (run made with --keep-rows)
    """
    from .progress import Reporter

    if from_run is not None and config is None:
        config = from_run / "run.toml"
    settings = settings_of(config, locals())
    reporter = Reporter(quiet=as_json)
    if check or dry_run:
        from .checking import check_run

        found = check_run(settings, reporter, timed=check)
        if as_json:
            say_json(found)
        return
    if settings.output is None:
        if settings.table is None and not settings.views:
            raise UsageError("Name a table and the folder for the results: anchorview fit rows.csv -o run.")
        raise UsageError("Name the folder for the results: -o run.")
    from .fitting import run_fit

    earlier = None
    if from_run is not None:
        from .earlier_run import open_earlier

        earlier = open_earlier(from_run)
    run = run_fit(settings, settings.output, force, reporter, with_page=not no_report, earlier=earlier)
    if as_json:
        say_json({"folder": str(run.folder), **{k: v for k, v in run.record.items() if k != "report"}})
    else:
        _say(run, reporter)
    if settings.strict and not run.converged:
        say("The fit did not converge (--strict); the results are written all the same.", err=True)
        raise typer.Exit(NOT_CONVERGED)


def _say(run: Any, reporter: Any) -> None:
    """Say what came of a run, and where it is."""
    for text in reporter.warnings:
        reporter.say(f"Note: {text}")
    accuracy = run.record["report"]["accuracy"]
    if accuracy is not None:
        low, high = accuracy["low"], accuracy["high"]
        basis = "rows drawn at random" if accuracy["by_audit"] else "hidden labels"
        text = f"Expected accuracy of the rows without a label: {accuracy['score']:.1%} ({low:.0%} to {high:.0%}), "
        reporter.say(f"{text}judged on {accuracy['n_judged']:,} {basis}.")
        if accuracy["labels_chosen"] and not accuracy["by_audit"]:
            reporter.say("These labels were not drawn at random: the true accuracy is usually higher.")
    reporter.say(f"Done: {run.folder}")
    for name in ("labels.csv", "labels.parquet", "report.html", "model.anchorview", "run.toml"):
        if (run.folder / name).exists():
            reporter.say(f"  {run.folder / name}")
