"""The files that people have, given to the command as they are."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather

from anchorview.app.inputs.row_places import RowPlaces
from anchorview.files.tables import read_table
from support.command import invoke, quick, read_csv, refused, reviews, write_csv

KINDS = [
    *["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.jsonl.gz", "t.ndjson.zst", "t.json", "t.xlsx"],
    *["t.feather", "t.arrow", "t.sqlite", "utf16.csv", "utf16le.csv", "latin1.csv", "semicolons.csv"],
]


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    """Write a table in the form that the name of the file says."""
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    name = path.name
    if "json" in name or "csv" in name or "tsv" in name:
        if ".json" in name or ".ndjson" in name:
            text = json.dumps(records) if name == "t.json" else "".join(json.dumps(one) + "\n" for one in records)
        else:
            stream = io.StringIO()
            writer = csv.writer(stream, delimiter="\t" if "tsv" in name else ";" if "semi" in name else ",")
            writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
            text = stream.getvalue()
        encoding = {"utf16.csv": "utf-16", "utf16le.csv": "utf-16-le", "latin1.csv": "latin1"}.get(name, "utf-8")
        data = text.encode(encoding)
        if name.endswith(".gz"):
            data = gzip.compress(data)
        if name.endswith(".zst"):
            data = pa.Codec("zstd").compress(data, asbytes=True)
        path.write_bytes(data)
    elif path.suffix == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        book.active.title = "Notes"
        sheet = book.create_sheet("Rows", 0)
        for row in [list(columns), *zip(*columns.values(), strict=True)]:
            sheet.append(list(row))
        book.save(path)
    elif path.suffix == ".sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE rows ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            connection.executemany(f"INSERT INTO rows VALUES ({marks})", list(zip(*columns.values(), strict=True)))
        connection.close()
    elif path.name == "t.arrow":
        table = pa.table(columns)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
            out.write_table(table)
    else:
        feather.write_feather(pa.table(columns), path)
    return path


def table() -> dict[str, list[Any]]:
    made = reviews()
    made["text"] = [f"{text} für" for text in made["text"]]
    return made


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_holds_the_same_table(tmp_path: Path, name: str) -> None:
    columns = table()
    read = read_table(write(tmp_path / name, columns), text=["id"]).to_pydict()
    assert {key: [cell or None for cell in cells] for key, cells in read.items()} == columns


@pytest.mark.parametrize("name", ["t.jsonl.zst", "t.xlsx", "t.sqlite", "latin1.csv"])
def test_fit_and_predict(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, table())
    run = tmp_path / "run"
    done = invoke("fit", path, "--label", "topic", "--config", quick(tmp_path), "-o", run)
    assert done.exit_code == 0, done.output
    assert ("latin1.csv is not UTF-8; it was read as Windows-1252" in done.output) == (name == "latin1.csv")
    assert ("sheet 'Rows' was read; there are others ('Notes')" in done.output) == (name == "t.xlsx")
    done = invoke("predict", run, path, "-o", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output
    assert [row["id"] for row in read_csv(tmp_path / "new.csv")] == table()["id"]
    place = {"t.jsonl.zst": "line 4", "t.xlsx": "row 5", "t.sqlite": "row 4", "latin1.csv": "line 5"}[name]
    assert RowPlaces(path, 90)([3]) == [f"{name}, {place}"]


def test_a_sheet_and_a_table_by_name(tmp_path: Path) -> None:
    book = write(tmp_path / "t.xlsx", table())
    options = ("--label", "topic", "--check", "--config", quick(tmp_path))
    assert "has no sheet 'Orders'; it has 'Rows', 'Notes'" in refused(
        "fit", book, "--sheet", "Orders", *options, code=3
    )
    assert invoke("fit", book, "--sheet", "Rows", *options).exit_code == 0
    titled = tmp_path / "titled.xlsx"
    sheets = pytest.importorskip("openpyxl").Workbook()
    for row in (["Report of May"], ["text", "topic"], ["good", "a"]):
        sheets.active.append(row)
    sheets.save(titled)
    assert "it has Report of May. If that is a title, delete the rows" in refused("fit", titled, *options, code=3)
    base = write(tmp_path / "t.sqlite", table())
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE other (a)")
    connection.close()
    assert "has 2 tables (other, rows); name one: --table NAME" in refused("fit", base, *options, code=3)
    assert invoke("fit", base, "--table", "rows", *options).exit_code == 0
    assert "names a part" in refused("fit", tmp_path / "t.csv", "--table", "rows", *options, code=2)


@pytest.mark.parametrize("quoted", [True, False])
def test_several_files_are_one_table(tmp_path: Path, quoted: bool) -> None:
    """A pattern, or what the shell makes of it; run.toml repeats the run, and places name the file."""
    columns = table()
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        part = {name: cells[number * 30 : number * 30 + 30] for name, cells in columns.items()}
        write_csv(folder / f"{number}.csv", part)
    paths = [folder / "*.csv"] if quoted else sorted(folder.glob("*.csv"))
    done = invoke("fit", *paths, "--label", "topic", "--config", quick(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "3 files are read as one table" in done.output and "90 rows" in done.output
    assert RowPlaces(folder / "*.csv", 90)([0, 31]) == ["0.csv, line 2", "1.csv, line 3"]
    assert "1.csv, line" in (tmp_path / "run" / "report.html").read_text()
    again = invoke("fit", "--config", tmp_path / "run" / "run.toml", "-o", tmp_path / "again")
    assert again.exit_code == 0, again.output
    two = invoke("fit", *sorted(folder.glob("*.csv"))[:2], "--label", "topic", "--check", "--config", quick(tmp_path))
    assert "60 rows" in two.output
    write_csv(folder / "3.csv", {"id": ["x"], "other": [1]})
    assert "files of one table need the same" in refused("fit", folder / "*.csv", "--label", "topic", "--check", code=3)
    assert "No file matches" in refused("fit", folder / "*.tsv", "--label", "topic", "--check", code=3)


def test_a_column_that_is_text_in_one_file_is_text_in_all(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", {"code": ["1", "2"]})
    write_csv(tmp_path / "b.csv", {"code": ["x", "3"]})
    assert read_table(tmp_path / "*.csv").to_pydict() == {"code": ["1", "2", "x", "3"]}


def test_errors_name_the_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"a": \n')
    options = ("--label", "a", "-o", tmp_path / "run")
    assert "t.jsonl, line 3 is not valid JSON" in refused("fit", tmp_path / "t.jsonl", *options, code=3)
    (tmp_path / "list.jsonl").write_text("[1]\n")
    assert "line 1 must hold an object" in refused("fit", tmp_path / "list.jsonl", *options, code=3)
    (tmp_path / "old.xls").write_bytes(b"x")
    assert "save it as .xlsx" in refused("fit", tmp_path / "old.xls", *options, code=2)
    (tmp_path / "bad.xlsx").write_bytes(b"no zip")
    assert "save it as .xlsx, without a password" in refused("fit", tmp_path / "bad.xlsx", *options, code=3)
    (tmp_path / "bad.db").write_bytes(b"no database, but long enough to look at" * 30)
    assert "cannot be read as SQLite" in refused("fit", tmp_path / "bad.db", *options, code=3)


def test_members_of_objects_are_columns(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": {"b": 1, "c": "x"}, "n": 1}\n{"n": 2.5, "emb": [1, 2]}\n')
    assert read_table(tmp_path / "t.jsonl").to_pydict() == {
        "a.b": [1, None],
        "a.c": ["x", None],
        "n": [1.0, 2.5],
        "emb": [None, [1, 2]],
    }
