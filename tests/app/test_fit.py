"""`anchorview fit`, as a user types it: one raw table, columns as views, a file per view."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import anchorview
from anchorview.app import checking, progress
from anchorview.app.inputs.gathering import RunData
from anchorview.core import progress as core_progress
from support.command import invoke, quick, read_csv, refused, reviews, write_csv

FILES = {
    "history.csv",
    "labels.parquet",
    "labels.csv",
    "embedding.npy",
    "codes.npy",
    "model.anchorview",
    "run.json",
    "run.toml",
    "report.html",
}


def test_the_folder_of_a_run(raw_run: Path) -> None:
    assert {path.name for path in raw_run.iterdir()} == FILES
    assert {path.name for path in raw_run.parent.iterdir()} == {"reviews.csv", "quick.toml", "run"}
    rows = read_csv(raw_run / "labels.csv")
    table = pq.read_table(raw_run / "labels.parquet")
    given = reviews()
    names = ["id", "label", "confidence", "second_label", "second_confidence", "source", "x", "y"]
    assert table.column_names == list(rows[0]) == names
    assert [row["id"] for row in rows] == given["id"] == table.column("id").to_pylist()
    assert [row["source"] for row in rows] == ["given"] * 30 + ["model"] * 60
    assert [row["label"] for row in rows[:30]] == given["topic"][:30]
    truth = [["car", "food", "sport"][row % 3] for row in range(90)]
    assert agreement([row["label"] for row in rows], truth) > 0.9
    found = rows[30:]
    assert all(row["second_label"] not in ("", row["label"]) for row in found)
    assert all(0 <= float(row["second_confidence"]) <= float(row["confidence"]) <= 1 for row in found)
    assert len({row["x"] for row in rows}) > 30
    assert len(np.load(raw_run / "embedding.npy")) == 90


def test_the_record_of_a_run(raw_run: Path) -> None:
    record = json.loads((raw_run / "run.json").read_text())
    assert record["status"] == "ok"
    assert record["rows"] == 90
    assert record["labels"] == {"car": 10, "food": 10, "sport": 10}
    assert record["report"]["versions"]["anchorview"]
    assert {"reading", "map", "writing", "report"} <= set(record["seconds"])


def test_the_model_of_a_run_takes_raw_tables(raw_run: Path) -> None:
    model = anchorview.load(raw_run / "model.anchorview")
    table = pa.table(reviews(12))
    labels = [row["label"] for row in read_csv(raw_run / "labels.csv")]
    assert model.predict(table).tolist() == labels[:12]


def test_the_settings_of_a_run_repeat_it(raw_run: Path) -> None:
    assert '[columns]\ntext = "text"' in (raw_run / "run.toml").read_text()
    again = raw_run.with_name("again")  # beside the run: files are named as seen from its folder
    done = invoke("fit", "--config", raw_run / "run.toml", "-o", again, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["folder"] == str(again)
    for name in ("labels.csv", "run.toml"):
        assert (again / name).read_bytes() == (raw_run / name).read_bytes()


def test_the_columns_in_the_settings_can_be_changed(raw_run: Path) -> None:
    copy = shutil.copytree(raw_run, raw_run.with_name("changed"))
    text = (raw_run / "run.toml").read_text().replace('price = "number"', 'price = "ignore"')
    (copy / "run.toml").write_text(text)
    done = invoke("fit", "--config", copy / "run.toml", "--check", "--json")
    assert done.exit_code == 0, done.output
    assert "numbers" not in json.loads(done.stdout)["views"]


def test_a_report_can_be_written_again(raw_run: Path, tmp_path: Path) -> None:
    done = invoke("report", raw_run, "-o", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "page.html").read_text()) == pytest.approx(
        len((raw_run / "report.html").read_text()), rel=0.01
    )
    assert "exists" in refused("report", raw_run, "-o", tmp_path / "page.html", code=2)
    assert "no run.json" in refused("report", tmp_path, code=3)


def test_a_folder_that_exists_is_left_alone(raw_run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(raw_run, tmp_path / "run")
    words = ["fit", raw_run.parent / "reviews.csv", "--label", "topic", "--config", raw_run.parent / "quick.toml", "-o"]
    assert "exists" in refused(*words, copy, code=2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    assert "not the folder of a run" in refused(*words, tmp_path / "mine", "--force", code=2)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"
    (copy / "old.txt").write_text("old")
    done = invoke(*words, copy, "--force")
    assert done.exit_code == 0, done.output
    assert {path.name for path in copy.iterdir()} == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "run"]


def agreement(labels: list[str], truth: list[str]) -> float:
    return float(np.mean([label == topic for label, topic in zip(labels, truth, strict=True)]))


def views_table(n_rows: int = 60) -> dict[str, list[object]]:
    rng = np.random.RandomState(1)
    columns: dict[str, list[object]] = {"id": [f"a{row}" for row in range(n_rows)]}
    for view, size in (("emb", 4), ("img", 3)):
        for number in range(size):
            columns[f"{view}_{number}"] = (rng.rand(n_rows) + (np.arange(n_rows) % 2) * (number + 1)).tolist()
    columns["label"] = [["b", "a"][row % 2] if row < 20 else None for row in range(n_rows)]
    return columns


def test_columns_of_one_table_as_views(tmp_path: Path) -> None:
    pq.write_table(pa.table(views_table()), tmp_path / "rows.parquet")
    done = invoke(
        *["fit", tmp_path / "rows.parquet", "--view", "text=emb_*", "--view", "image=img_0..img_2"],
        *["--id", "id", "--label", "label", "-o", tmp_path / "run", "--config", quick(tmp_path)],
    )
    assert done.exit_code == 0, done.output
    model = anchorview.load(tmp_path / "run" / "model.anchorview")
    assert model.view_names_ == ["text", "image"]
    assert model.view_sizes_ == [4, 3]
    labels = [row["label"] for row in read_csv(tmp_path / "run" / "labels.csv")]
    assert agreement(labels, [["b", "a"][row % 2] for row in range(60)]) > 0.9


def test_a_file_per_view_aligned_by_ids(tmp_path: Path) -> None:
    columns = views_table()
    np.save(tmp_path / "emb.npy", np.column_stack([columns[f"emb_{number}"] for number in range(4)]))
    counts = sparse.csr_array(np.column_stack([columns[f"img_{number}"] for number in range(3)]))
    sparse.save_npz(tmp_path / "counts.npz", counts)
    order = list(range(59, 9, -1))  # ten rows are not there, and the others stand in another order
    some = {"key": [columns["id"][row] for row in range(60)]} | {
        "age": [row % 2 for row in range(60)],
        "size": [1.5] * 60,
    }
    write_csv(tmp_path / "meta.csv", some)
    late = {name: [columns[name][row] for row in order] for name in ("img_0", "img_1")}
    write_csv(tmp_path / "late.tsv", {"key": [columns["id"][row] for row in order], **late}, delimiter="\t")
    labelled = list(range(20))
    write_csv(tmp_path / "labels.csv", {"key": [f"a{row}" for row in labelled], "class": [row % 2 for row in labelled]})
    done = invoke(
        *["fit", "--view", f"text={tmp_path}/emb.npy", "--view", f"counts={tmp_path}/counts.npz"],
        *["--view", f"meta={tmp_path}/meta.csv:age,size", "--view", f"late={tmp_path}/late.tsv"],
        *["--labels", tmp_path / "labels.csv", "--id", "key", "-o", tmp_path / "run", "--config", quick(tmp_path)],
        "--assume-order",
    )
    assert done.exit_code == 0, done.output
    assert "View 'late' is missing in 10 of 60 rows ('a0', 'a1', 'a2', …)." in done.stdout
    assert (
        f"Views 'text', 'counts' have no ids; rows are taken to be in the order of {tmp_path}/meta.csv." in done.stdout
    )
    rows = read_csv(tmp_path / "run" / "labels.csv")
    assert [row["id"] for row in rows] == columns["id"]
    assert agreement([row["label"] for row in rows], [str(row % 2) for row in range(60)]) > 0.9


def test_a_row_without_anything_keeps_its_given_label(tmp_path: Path) -> None:
    columns = reviews()
    for name in ("text", "price", "shop"):
        columns[name][3] = columns[name][50] = None
    del columns["shop"]  # an empty category is one of its own
    path = write_csv(tmp_path / "reviews.csv", columns)
    done = invoke("fit", path, "--label", "topic", "--id", "id", "-o", tmp_path / "run", "--config", quick(tmp_path))
    assert done.exit_code == 0, done.output
    rows = read_csv(tmp_path / "run" / "labels.csv")
    assert (rows[3]["label"], rows[3]["source"], rows[3]["confidence"]) == ("car", "given", "1")
    assert (rows[50]["label"], rows[50]["source"], rows[50]["confidence"], rows[50]["x"]) == ("", "model", "0", "")


def test_clusters_without_labels(tmp_path: Path) -> None:
    columns = views_table()
    del columns["label"]
    path = write_csv(tmp_path / "rows.csv", columns)
    done = invoke("fit", path, "--clusters", 2, "--id", "id", "-o", tmp_path / "run", "--config", quick(tmp_path))
    assert done.exit_code == 0, done.output
    labels = [row["label"] for row in read_csv(tmp_path / "run" / "labels.csv")]
    assert set(labels) == {"0", "1"}
    assert {row["source"] for row in read_csv(tmp_path / "run" / "labels.csv")} == {"model"}


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "reviews.csv", reviews())
    done = invoke("fit", path, "--label", "topic", "--check", "--config", quick(tmp_path))
    assert done.exit_code == 0, done.output
    for said in ("90 rows; 4 views", "30 labels of 3 classes: car 10", "Memory to expect", "Time to expect"):
        assert said in done.stdout
    assert {entry.name for entry in tmp_path.iterdir()} == {"reviews.csv", "quick.toml"}


def test_a_fit_that_has_not_converged(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "reviews.csv", reviews())
    config = tmp_path / "short.toml"
    config.write_text(quick(tmp_path).read_text() + "solver__max_iter = 1\nsolver__tol = 1e-12\n")
    words = ["fit", path, "--label", "topic", "--config", config, "-o"]
    assert invoke(*words, tmp_path / "loose").exit_code == 0
    done = invoke(*words, tmp_path / "strict", "--strict")
    assert done.exit_code == 4
    assert "did not converge" in done.stderr
    assert json.loads((tmp_path / "strict" / "run.json").read_text())["status"] == "not converged"


def test_the_default_is_the_tuned_estimator(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "reviews.csv", reviews())
    short = tmp_path / "short.toml"  # a search of seconds
    short.write_text(
        '[parameters]\nn_landmarks = 12\nn_averaged = 1\nn_splits = 2\nn_repeats = 1\nscaling = ["minmax"]\n'
    )
    done = invoke("fit", path, "--config", short, "--label", "topic", "--id", "id", "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (record["report"]["method"], record["status"]) == ("AnchorViewClassifier", "ok")


def test_long_stages_show_how_far_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_progress, "_EVERY", 0.0)  # as if every stage took seconds
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    table = reviews()
    path = write_csv(tmp_path / "reviews.csv", {**table, "more": table["text"][::-1]})
    done = invoke("fit", path, "--label", "topic", "--fast", "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    for line in ("reading text: 1 of 2 columns, about", "scaling: 1 of", "grouping rows: 1 of", "measuring: 1 of"):
        assert line in done.stderr
    assert re.search(r"scaling: \d of \d views, about \d+ s left", done.stderr)


def test_a_run_without_report_can_get_it_later(tmp_path: Path) -> None:
    path, run = write_csv(tmp_path / "reviews.csv", reviews()), tmp_path / "run"
    done = invoke("fit", path, "--label", "topic", "--fast", "--no-report", "-o", run)
    assert done.exit_code == 0, done.output
    assert {each.name for each in run.iterdir()} == FILES - {"report.html"}
    assert "report.html" not in done.output
    assert "--fast: one model" in done.output  # what is left out
    assert invoke("report", run).exit_code == 0
    assert (run / "report.html").exists()
    assert invoke("export", run, "-o", tmp_path / "tasks.json", "--least-sure", "2").exit_code == 0


def test_the_time_of_a_fit_is_told_from_two_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def remember(model: object, data: RunData) -> None:
        sizes.append(len(data.views))

    monkeypatch.setattr(checking, "fit_to_data", remember)
    path = write_csv(tmp_path / "reviews.csv", reviews(600))
    done = invoke("fit", path, "--label", "topic", "--check", "--json")
    assert done.exit_code == 0, done.output
    assert sizes == [100, 250]
