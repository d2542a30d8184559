"""`anchorview export` and `tune`: labels for other tools, labels from Label Studio, and the table of a search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import invoke, quick, read_csv, refused, reviews, write_csv


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run on a raw table."""
    folder = tmp_path_factory.mktemp("export")
    path = write_csv(folder / "reviews.csv", reviews())
    done = invoke("fit", path, "--label", "topic", "--id", "id", "-o", folder / "run", "--config", quick(folder))
    assert done.exit_code == 0, done.output
    return folder / "run"


def test_label_studio_and_back(run: Path, tmp_path: Path) -> None:
    done = invoke("export", run, "-o", tmp_path / "tasks.json", "--least-sure", 12)
    assert done.exit_code == 0, done.output
    assert '<Choice value="sport"/>' in done.stdout
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 12
    texts = dict(zip(reviews()["id"], reviews()["text"], strict=True))
    for task in tasks:
        assert task["data"]["text"] == texts[task["data"]["row_id"]]
        task["annotations"] = [{"result": task["predictions"][0]["result"]}]  # somebody agrees with all
    (tmp_path / "project.json").write_text(json.dumps(tasks))
    words = "fit", run.parent / "reviews.csv", "--id", "id", "--config", run.parent / "quick.toml"
    done = invoke(*words, "--labels", tmp_path / "project.json", "--check", "--json")
    assert done.exit_code == 0, done.output
    assert sum(json.loads(done.stdout)["labels"].values()) == 12


def test_lines_and_csv(run: Path, tmp_path: Path) -> None:
    assert invoke("export", run, "-o", tmp_path / "labels.jsonl", "--column", "price").exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["price"] for line in lines] == reviews()["price"]
    assert invoke("export", run, "-o", tmp_path / "labels.txt", "--to", "csv").exit_code == 0
    assert [row["text"] for row in read_csv(tmp_path / "labels.txt")] == reviews()["text"]


def test_bad_input(run: Path, tmp_path: Path) -> None:
    assert "no run.json" in refused("export", tmp_path, "-o", tmp_path / "a.csv", code=3)
    assert "--to" in refused("export", run, "-o", tmp_path / "a.txt", code=2)
    assert "no column 'colour'" in refused("export", run, "-o", tmp_path / "a.csv", "--column", "colour", code=3)
    (tmp_path / "a.csv").write_text("mine")
    assert "exists" in refused("export", run, "-o", tmp_path / "a.csv", code=2)
    assert (tmp_path / "a.csv").read_text() == "mine"
    (tmp_path / "tasks.json").write_text("{}")
    words = "fit", run.parent / "reviews.csv", "--id", "id", "-o", tmp_path / "run"
    assert "not an export of Label Studio" in refused(*words, "--labels", tmp_path / "tasks.json", code=3)


def test_the_table_of_the_search(run: Path, tmp_path: Path) -> None:
    config = tmp_path / "tune.toml"
    few = "{feature_strengths = [1.0], graph_strengths = [0.8], ridges = [], l1s = [], must_link_weights = []}"
    config.write_text(
        f"[parameters]\nn_landmarks = 12\nn_splits = 2\nn_averaged = 2\nsearch_options = {few}\n[columns]\nprice = 'ignore'\nshop = 'ignore'\n"
    )
    words = "tune", run.parent / "reviews.csv", "--label", "topic", "--config", config
    done = invoke(*words, "-o", tmp_path / "search.csv")
    assert done.exit_code == 0, done.output
    assert "the most believable first" in done.stdout
    rows = read_csv(tmp_path / "search.csv")
    assert len(rows) > 3
    assert {"scaling", "head", "accuracy", "loss", "seconds"} <= set(rows[0])
    assert "exists" in refused(*words, "-o", tmp_path / "search.csv", code=2)
