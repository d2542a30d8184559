"""The command `anchorview export`: labels of a run for other tools, and annotations of Label Studio as labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

_FORMAT_OF = {".json": "label-studio", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
_USAGE, _BAD_DATA = 2, 3


def export(
    source: Annotated[Path, typer.Argument(help="The folder of a run; or a .json export of Label Studio.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write: .json, .jsonl or .csv.")],
    form: Annotated[
        str | None, typer.Option("--format", help="label-studio, jsonl or csv; by default as the file's name ends.")
    ] = None,
    table: Annotated[Path | None, typer.Option(help="The table of the run, whose columns are to be shown.")] = None,
    id: Annotated[str | None, typer.Option(help="Its column of ids; by default rows go by their numbers.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="Columns to take from it; by default all.")] = None,
    least_sure: Annotated[
        int | None, typer.Option(min=1, help="Only so many rows, those the model is least sure of, these first.")
    ] = None,
    interface: Annotated[
        Path | None, typer.Option(help="Write the labelling interface for Label Studio to this .xml file, too.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write the labels of a run for Label Studio (with predictions), as JSON lines or as CSV.

    Given a JSON export of Label Studio in place of a run, write the labels that people gave: a table of id and label,
    for fit --labels.
    """
    from .label_files import FORMATS, read_columns, read_labels, write_labels
    from .label_files import least_sure as choose_least_sure

    form = form or _FORMAT_OF.get(output.suffix.lower())
    if form is None or form not in FORMATS:
        _refuse(f"{output} does not end in .json, .jsonl or .csv; name it so, or give --format ({', '.join(FORMATS)}).")
    for path in filter(None, (output, interface)):
        if path.exists() and not force:
            _refuse(f"{path} exists; choose another file, or replace it: --force.")
        if not path.absolute().parent.is_dir():
            _refuse(f"The folder {path.absolute().parent} does not exist; create it first.")
    rows: Iterable[dict[str, Any]]
    with _clear_errors():
        if source.suffix.lower() == ".json":
            rows, said = _annotated(source, form)
        else:
            rows, said = read_labels(source), ""
            rows = rows if least_sure is None else choose_least_sure(rows, least_sure)
        columns = None if table is None else read_columns(table, column, id)
        classes: dict[str, None] = {}
        n_rows = write_labels(_noting(rows, classes), output, form, columns, overwrite=force)
        if interface is not None:
            _write_interface(interface, sorted(classes), columns)
    typer.echo(f"Done: {output} ({n_rows:,} rows{said})")


def _annotated(source: Path, form: str) -> tuple[list[dict[str, Any]], str]:
    """Return the labels that people gave, and what is to be said of them."""
    from .label_studio import read_annotations

    if form == "label-studio":
        _refuse(f"{source} comes from Label Studio; write its labels as .csv or .jsonl.")
    found = read_annotations(source)
    said = f"; {found.n_skipped:,} of {found.n_tasks:,} tasks without a label" if found.n_skipped else ""
    if found.disagreeing:
        shown = ", ".join(map(str, found.disagreeing[:5]))
        said += f"; of {len(found.disagreeing):,} with different labels ({shown}) the latest is taken"
    return [{"id": row, "label": label} for row, label in found.labels.items()], said


def _noting(rows: Iterable[dict[str, Any]], classes: dict[str, None]) -> Iterator[dict[str, Any]]:
    """Pass rows on, and note their classes."""
    for row in rows:
        for name in ("label", "second_label"):
            if row.get(name) is not None:
                classes[str(row[name])] = None
        yield row


def _write_interface(path: Path, classes: list[str], columns: Any) -> None:
    from ..report.files import replace_file
    from .label_studio import ROW, labelling_interface

    first: dict[str, Any] = next(iter(columns.values()), {}) if columns else {}
    texts = [name for name, value in first.items() if isinstance(value, str)]
    replace_file(path, labelling_interface(classes, texts[0] if texts else ROW) + "\n")


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        _refuse(str(error))
    except (ValueError, ImportError) as error:
        _refuse(str(error), _BAD_DATA)


def _refuse(words: str, code: int = _USAGE) -> NoReturn:
    typer.echo(f"Error: {words}", err=True)
    raise typer.Exit(code)
