"""`anchorview export` and `tune`: labels for other tools, labels from Label Studio, and the table of a search."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.command import invoke, read_csv, refused, reviews


def test_label_studio_and_back(raw_run: Path, tmp_path: Path) -> None:
    done = invoke("export", raw_run, "-o", tmp_path / "tasks.json", "--least-sure", 12)
    assert done.exit_code == 0, done.output
    assert '<Choice value="sport"/>' in done.stdout
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 12
    texts = dict(zip(reviews()["id"], reviews()["text"], strict=True))
    for task in tasks:
        assert task["data"]["text"] == texts[task["data"]["row_id"]]
        task["annotations"] = [{"result": task["predictions"][0]["result"]}]  # somebody agrees with all
    (tmp_path / "project.json").write_text(json.dumps(tasks))
    words = "fit", raw_run.parent / "reviews.csv", "--id", "id", "--config", raw_run.parent / "quick.toml"
    done = invoke(*words, "--labels", tmp_path / "project.json", "--check", "--json")
    assert done.exit_code == 0, done.output
    assert sum(json.loads(done.stdout)["labels"].values()) == 30 + 12


def test_rows_that_would_help_most(raw_run: Path, tmp_path: Path) -> None:
    done = invoke("export", raw_run, "-o", tmp_path / "tasks.json", "--suggested", 20)
    assert done.exit_code == 0, done.output
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    listed = [reviews()["id"][row] for row in json.loads((raw_run / "run.json").read_text())["report"]["suggested"]]
    assert [task["data"]["row_id"] for task in tasks] == listed  # those of the report, in its order
    assert invoke("export", raw_run, "-o", tmp_path / "a.csv", "--suggested", 7).exit_code == 0
    rows = read_csv(tmp_path / "a.csv")
    assert len(rows) == len({row["id"] for row in rows}) == 7
    assert {row["source"] for row in rows} == {"model"}
    done = invoke("export", raw_run, "-o", tmp_path / "b.csv", "--suggested", 500)
    assert "500 rows were asked for, but only 60 have no label yet." in done.stdout
    words = "export", raw_run, "-o", tmp_path / "c.csv", "--suggested", 5
    assert "give one of them" in refused(*words, "--least-sure", 5, code=2)
    old = shutil.copytree(raw_run, tmp_path / "old")
    (old / "codes.npy").unlink()
    assert "fit again" in refused("export", old, "-o", tmp_path / "c.csv", "--suggested", 5, code=3)


def test_lines_and_csv(raw_run: Path, tmp_path: Path) -> None:
    assert invoke("export", raw_run, "-o", tmp_path / "labels.jsonl", "--column", "price").exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["price"] for line in lines] == reviews()["price"]
    assert invoke("export", raw_run, "-o", tmp_path / "labels.txt", "--to", "csv").exit_code == 0
    assert [row["text"] for row in read_csv(tmp_path / "labels.txt")] == reviews()["text"]


def test_bad_input(raw_run: Path, tmp_path: Path) -> None:
    assert "no run.json" in refused("export", tmp_path, "-o", tmp_path / "a.csv", code=3)
    assert "--to" in refused("export", raw_run, "-o", tmp_path / "a.txt", code=2)
    assert "no column 'colour'" in refused("export", raw_run, "-o", tmp_path / "a.csv", "--column", "colour", code=3)
    (tmp_path / "a.csv").write_text("mine")
    assert "exists" in refused("export", raw_run, "-o", tmp_path / "a.csv", code=2)
    assert (tmp_path / "a.csv").read_text() == "mine"
    (tmp_path / "tasks.json").write_text("{}")
    words = "fit", raw_run.parent / "reviews.csv", "--id", "id", "-o", tmp_path / "run"
    assert "not an export of Label Studio" in refused(*words, "--labels", tmp_path / "tasks.json", code=3)


def test_the_table_of_the_search(raw_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    config = tmp_path / "tune.toml"
    few = "{feature_strengths = [1.0], graph_strengths = [0.8], ridges = [], l1s = [], must_link_weights = []}"
    columns = "[columns]\nprice = 'ignore'\nshop = 'ignore'\n"
    small = f"[parameters]\nn_landmarks = 12\nn_splits = 2\nn_averaged = 2\nsearch_options = {few}\n"
    config.write_text(small + columns)
    words = "tune", raw_run.parent / "reviews.csv", "--label", "topic", "--config", config
    done = invoke(*words, "-o", tmp_path / "search.csv")
    assert done.exit_code == 0, done.output
    table = done.stdout.partition("the best first")[2].partition("All ")[0]
    assert table and max(map(len, table.splitlines())) <= 80
    assert "…" not in table  # every name and number is whole
    assert "accuracy %" in table and "The same in all: n_landmarks 12, " in table.replace("\n", " ")
    rows = read_csv(tmp_path / "search.csv")
    assert len(rows) > 3
    assert {"scaling", "head", "accuracy", "loss", "seconds"} <= set(rows[0])
    assert "exists" in refused(*words, "-o", tmp_path / "search.csv", code=2)
