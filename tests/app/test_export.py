"""`anchorview export`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner, Result

from anchorview.app.cli import app
from anchorview.app.label_files import read_columns


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run of three rows."""
    folder = tmp_path / "run"
    folder.mkdir()
    columns = {"id": ["007", "b", "c"], "label": ["x", "y", "<x>"], "confidence": [0.9, 1.0, 0.4]}
    parquet.write_table(pa.table({**columns, "source": ["model", "given", "model"]}), folder / "labels.parquet")
    (tmp_path / "table.csv").write_text('id,n,text\n007,1,"one, two"\nb,2,three\nc,3,\n')
    return folder


def export(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, words)])


def refused(code: int, words: str, *arguments: str | Path) -> None:
    done = export(*arguments)
    assert done.exit_code == code, done.output
    assert words in " ".join(done.stderr.split())


def test_to_label_studio_with_the_text_of_the_table(run: Path, tmp_path: Path) -> None:
    table, view = tmp_path / "table.csv", tmp_path / "view.xml"
    done = export(
        run, "-o", tmp_path / "tasks.json", "--table", table, "--id", "id", "--column", "text", "--interface", view
    )
    assert done.exit_code == 0, done.output
    assert done.stdout == f"Done: {tmp_path / 'tasks.json'} (3 rows)\n"
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert [task["data"] for task in tasks] == [
        {"row_id": "007", "text": "one, two"},
        {"row_id": "b", "text": "three"},
        {"row_id": "c", "text": ""},
    ]
    assert 'value="$text"' in view.read_text()
    assert '<Choice value="&lt;x&gt;"/>' in view.read_text()


def test_the_least_sure_first(run: Path, tmp_path: Path) -> None:
    assert export(run, "-o", tmp_path / "out.jsonl", "--least-sure", "1").exit_code == 0
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == "c"


def test_annotations_become_labels(run: Path, tmp_path: Path) -> None:
    assert export(run, "-o", tmp_path / "tasks.json").exit_code == 0
    done = export(tmp_path / "tasks.json", "-o", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text() == "id,label\nb,y\n"
    assert "(1 rows; 2 of 3 tasks without a label)" in done.stdout


def test_other_formats_by_name(run: Path, tmp_path: Path) -> None:
    assert export(run, "-o", tmp_path / "out.txt", "--format", "csv").exit_code == 0
    assert (tmp_path / "out.txt").read_text().splitlines()[1] == "007,x,0.9,model"


def test_what_is_refused(run: Path, tmp_path: Path) -> None:
    refused(2, "out.txt does not end in .json, .jsonl or .csv", run, "-o", tmp_path / "out.txt")
    refused(2, "give --format (label-studio, jsonl, csv)", run, "-o", tmp_path / "out.csv", "--format", "xml")
    refused(2, "There is no file", tmp_path / "none", "-o", tmp_path / "out.csv")
    refused(2, "does not exist; create it first", run, "-o", tmp_path / "none" / "out.csv")
    (tmp_path / "mine.csv").write_text("mine")
    refused(2, "mine.csv exists; choose another file, or replace it: --force", run, "-o", tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "mine"
    assert export(run, "-o", tmp_path / "mine.csv", "--force").exit_code == 0
    table = tmp_path / "table.csv"
    refused(
        3,
        "table.csv has no column 'none'; it has id, n, text",
        run,
        "-o",
        tmp_path / "o.csv",
        "--table",
        table,
        "--id",
        "none",
    )
    (tmp_path / "bad.json").write_text("{")
    refused(3, "bad.json is not JSON", tmp_path / "bad.json", "-o", tmp_path / "o.csv")
    refused(2, "comes from Label Studio; write its labels as .csv", tmp_path / "bad.json", "-o", tmp_path / "o.json")
    assert not (tmp_path / "o.csv").exists()


def test_tables_by_number_and_by_id(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("id\ttext\n1\tx\n1\ty\n")
    assert read_columns(tmp_path / "a.tsv", ["text"]) == {"0": {"text": "x"}, "1": {"text": "y"}}
    with pytest.raises(ValueError, match=r"ids in the column 'id' repeat"):
        read_columns(tmp_path / "a.tsv", ["text"], "id")
    (tmp_path / "b.csv").write_text("id,text\n1\n")
    with pytest.raises(ValueError, match=r"b\.csv cannot be read as a table"):
        read_columns(tmp_path / "b.csv")
    parquet.write_table(pa.table({"id": [5], "when": [None]}), tmp_path / "c.parquet")
    assert read_columns(tmp_path / "c.parquet", id_column="id") == {"5": {"when": None}}
