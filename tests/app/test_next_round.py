"""`anchorview fit --from`: another round of labels for the rows of a run, and its history."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from anchorview import load
from support.command import invoke, quick, read_csv, refused, reviews, write_csv


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that further rounds can go on from."""
    folder = tmp_path_factory.mktemp("rounds")
    write_csv(folder / "reviews.csv", reviews())
    done = invoke(
        *["fit", folder / "reviews.csv", "--label", "topic", "--fast", "--keep-rows", "--no-report"],
        *["-o", folder / "run", "--config", quick(folder)],
    )
    assert done.exit_code == 0, done.output
    ids = [str(row) for row in reviews()["id"][30:42]]
    write_csv(folder / "more.csv", {"id": ids, "label": [["car", "food", "sport"][row % 3] for row in range(30, 42)]})
    return folder / "run"


def test_a_round_merges_labels_and_adds_a_line_to_the_history(kept_run: Path) -> None:
    folder, more = kept_run.parent, kept_run.parent / "more.csv"
    done = invoke("fit", "--from", kept_run, "--labels", more, "-o", folder / "second")
    assert done.exit_code == 0, done.output
    rows = read_csv(folder / "second" / "labels.csv")
    assert [row["source"] for row in rows] == ["given"] * 42 + ["model"] * 48
    with (folder / "second" / "history.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["round"], line["run"], line["labels"]) for line in lines] == [
        ("1", "run", "30"),
        ("2", "second", "42"),
    ]
    assert lines[0]["changed"] == "" and 0 <= float(lines[1]["changed"]) <= 1
    assert all(0 < float(line["expected_accuracy"]) <= 1 and line["rests_on"] for line in lines)
    assert "Rounds of labelling" in (folder / "second" / "report.html").read_text()
    assert len(json.loads((folder / "second" / "run.json").read_text())["report"]["history"]) == 2
    first, second = (load(run / "model.anchorview", rows=True).steps[-1][1] for run in (kept_run, folder / "second"))
    np.testing.assert_array_equal(first.landmarks_, second.landmarks_)
    assert second.chosen_ == first.chosen_
    again = invoke("fit", "--from", folder / "second", "-o", folder / "third", "--no-report")
    assert again.exit_code == 0, again.output
    assert len((folder / "third" / "history.csv").read_text().splitlines()) == 4


def test_a_round_of_other_rows_or_of_a_run_without_its_rows_is_refused(kept_run: Path, raw_run: Path) -> None:
    folder = kept_run.parent
    given = reviews()
    write_csv(folder / "fewer.csv", {name: values[:80] for name, values in given.items()})
    more = folder / "more.csv"
    text = refused("fit", folder / "fewer.csv", "--from", kept_run, "--labels", more, "-o", folder / "x", code=3)
    assert "has 90 rows, and 80 were read" in text
    text = refused("fit", "--from", raw_run, "--labels", more, "-o", folder / "x", code=3)
    assert "--keep-rows" in text
    text = refused("fit", "--from", folder, "--labels", more, "-o", folder / "x", code=2)
    assert "run.toml" in text
    assert not (folder / "x").exists()


def test_rows_of_which_the_model_is_unsure_get_no_label(kept_run: Path) -> None:
    folder = kept_run.parent
    done = invoke("predict", kept_run, folder / "reviews.csv", "-o", folder / "new.csv", "--min-confidence", "0.9")
    assert done.exit_code == 0, done.output
    rows = read_csv(folder / "new.csv")
    assert {row["label"] == "" for row in rows} <= {True, False}
    assert all((row["label"] == "") == (float(row["confidence"]) < 0.9) for row in rows)
