"""Names from files: terminals do not obey them, spreadsheets do not run them, results do not say where they were."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from anchorview.app import speaking
from anchorview.app.progress import Reporter
from anchorview.core.printable import printable
from anchorview.files.csv_cells import mark_table, mark_text, unmark_table, unmark_text
from anchorview.files.tables import read_table, table_blocks, table_names
from support.command import invoke, quick, read_csv, reviews, write_csv

TITLE = "\x1b]0;owned\x07"
EVIL = ("=cmd|' /C calc'!A0", "+1 (555) 0100", "@SUM(A1)", "-x", "\tTab", "\rReturn", "'=quoted", "''-twice", "'plain'")
NUMBERS = ("-5", "+1.5e-3", "-.5", "007")


def control_characters(text: str) -> set[str]:
    return set(re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text))


def evil_table(folder: Path) -> Path:
    columns = reviews()
    columns["topic"] = [None if topic is None else f"[red]{topic}{TITLE}" for topic in columns["topic"]]
    columns[f"price{TITLE}"] = columns.pop("price")
    return write_csv(folder / f"table{TITLE}.csv", columns)


def test_what_is_shown_of_control_characters() -> None:
    assert printable(f"a{TITLE}b\x9b31m\u202e") == r"a\x1b]0;owned\x07b\x9b31m\u202e"
    assert printable("a\nb\tc") == r"a\nb\tc"
    assert printable("a\nb", keep="\n") == "a\nb"
    assert printable("\ud800") == r"\ud800"
    assert printable("naïve, 日本語, 👩‍🔬, می‌شود\u00a0") == "naïve, 日本語, 👩‍🔬, می‌شود\u00a0"


def test_no_name_reaches_the_terminal_raw(tmp_path: Path) -> None:
    table, run = evil_table(tmp_path), tmp_path / f"run{TITLE}"
    words = (table, "--label", "topic", "--id", "id", "--config", quick(tmp_path))
    said = []
    for command in (
        ("fit", *words, "--check"),
        ("fit", *words, "-o", run),
        ("fit", *words, "-o", run),  # it is there already
        ("predict", run / "model.anchorview", table, "-o", tmp_path / f"new{TITLE}.csv"),
        ("export", run, "-o", tmp_path / f"tasks{TITLE}.json"),
        ("report", run),
        ("fit", table, "--label", f"nothing{TITLE}", "-o", tmp_path / "other"),
        ("predict", tmp_path / f"none{TITLE}", table, "-o", tmp_path / "a.csv"),
        ("fit", *words, "--check", "--json"),
        ("data", "list", tmp_path / f"none{TITLE}"),
    ):
        done = invoke(*command)
        assert done.output, command
        assert control_characters(done.stdout + done.stderr) == set(), command
        said.append(done.output)
    assert r"[red]car\x1b]0;owned\x07 10" in said[0]
    assert r"price\x1b]0;owned\x07" in said[0]


def test_rich_shows_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    reporter = Reporter()
    monkeypatch.setattr(reporter, "_status", type("Status", (), {"update": lambda self, text: shown.append(text)})())
    reporter.step(f"[red]x[/nothing]{TITLE}")
    from rich.text import Text

    assert Text.from_markup(shown[0]).plain == r"[red]x[/nothing]\x1b]0;owned\x07"


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    speaking.say_json({"name": f"a{TITLE}\x7f\x9b"})
    text = capsys.readouterr().out
    assert control_characters(text) == set()
    assert json.loads(text) == {"name": f"a{TITLE}\x7f\x9b"}


def test_the_command_prints_in_one_place() -> None:
    """Whatever prints goes through `speaking`; rich gets no text that was not made printable."""
    folder = Path(speaking.__file__).parent
    direct = [
        path.name for path in folder.rglob("*.py") if re.search(r"typer\.echo|^\s+print\(", path.read_text(), re.M)
    ]
    assert direct == ["speaking.py"]


# Spreadsheets


@pytest.mark.parametrize("text", [*EVIL, *NUMBERS, "", "plain", "'", "a=b"])
def test_a_cell_there_and_back(text: str) -> None:
    written = mark_text(text)
    assert written in NUMBERS or not written.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unmark_text(written) == text
    assert (written == text) == (text in (*NUMBERS, "", "plain", "'", "a=b", "'plain'"))


def test_tables_there_and_back(tmp_path: Path) -> None:
    from pyarrow import csv

    texts = [*EVIL, *NUMBERS, None]
    table = pa.table({"=id": texts, "number": [-float(i) for i in range(len(texts))], "plain": ["x"] * len(texts)})
    assert unmark_table(mark_table(table)).equals(table)
    path = tmp_path / "table.csv"
    csv.write_csv(mark_table(table), path)
    assert path.read_text().startswith('"\'=id"')
    assert table_names(path) == ["=id", "number", "plain"]
    back = read_table(path, ["=id", "number"], text=["=id"])
    wanted = ["" if text is None else text for text in texts]
    assert [cell or "" for cell in back.column("=id").to_pylist()] == wanted
    assert back.column("number").to_pylist() == table.column("number").to_pylist()
    blocks = list(table_blocks(path, ["=id"], ["=id"], 5))
    assert [cell or "" for block in blocks for cell in block.column("=id").to_pylist()] == wanted


def test_labels_that_are_formulas_come_back(tmp_path: Path) -> None:
    """Classes, ids and columns that begin like formulas: out by every command that writes CSV, and in again."""
    columns = reviews()
    names = dict(zip(("car", "food", "sport"), ("=1+1", "-food", "''@sport"), strict=True))
    columns["topic"] = [None if topic is None else names[topic] for topic in columns["topic"]]
    columns["id"] = [f"+{name}" for name in columns["id"]]
    columns["=text"] = columns.pop("text")
    table = write_csv(tmp_path / "table.csv", columns)
    words = ("--id", "id", "--config", quick(tmp_path))
    assert invoke("fit", table, "--label", "topic", *words, "-o", tmp_path / "run").exit_code == 0
    model = tmp_path / "run" / "model.anchorview"
    assert invoke("predict", model, table, "--id", "id", "-o", tmp_path / "new.csv").exit_code == 0
    exported = invoke("export", tmp_path / "run", "-o", tmp_path / "export.csv", "--column", "=text")
    assert exported.exit_code == 0, exported.output
    for name in ("run/labels.csv", "new.csv", "export.csv"):
        rows = read_csv(tmp_path / name)
        cells = [cell for row in rows for cell in (*row, *row.values())]
        assert not any(re.match(r"[=+@\t\r]|-\D", cell) for cell in cells), name
        assert {row["label"] for row in rows} == {"'=1+1", "'-food", "''@sport"}
        back = read_table(tmp_path / name, text=["id", "label"])
        assert set(back.column("label").to_pylist()) == {"=1+1", "-food", "'@sport"}
        assert back.column("id").to_pylist() == columns["id"]
    features = write_csv(tmp_path / "features.csv", {n: v for n, v in columns.items() if n != "topic"})
    again = invoke("fit", features, "--labels", tmp_path / "run" / "labels.csv", "--label", "label", *words, "--check")
    assert again.exit_code == 0, again.output
    assert "90 labels of 3 classes" in again.output


# Where files were


def test_results_say_no_absolute_path_and_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    (project / "data").mkdir(parents=True)
    columns = reviews()
    labels = {"id": columns["id"][:30], "topic": columns.pop("topic")[:30]}
    table = write_csv(project / "data" / "table.csv", columns)
    write_csv(project / "labels.csv", labels)
    words = ("fit", table, "--id", "id", "--labels", project / "labels.csv", "--label", "topic")
    monkeypatch.chdir(tmp_path)
    done = invoke(*words, "--config", quick(tmp_path), "-o", project / "run")
    assert done.exit_code == 0, done.output
    for name in ("run.json", "run.toml", "report.html"):
        assert str(tmp_path) not in (project / "run" / name).read_text(), name
    record = json.loads((project / "run" / "run.json").read_text())
    assert record["settings"]["table"] == "../data/table.csv"
    assert record["report"]["files"] == {"table": "table.csv", "labels": "labels.csv"}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(project, elsewhere / "moved")
    monkeypatch.chdir(elsewhere)
    again = invoke("fit", "--config", "moved/run/run.toml", "-o", "again")
    assert again.exit_code == 0, again.output
    first, second = (elsewhere / name / "labels.csv" for name in ("moved/run", "again"))
    assert first.read_text() == second.read_text()
    exported = invoke("export", "moved/run", "-o", "a.csv", "--column", "text")
    assert exported.exit_code == 0, exported.output
