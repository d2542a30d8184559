"""Labels from several sources, and the rounds of docs/label_studio.md: fit, export, label, fit again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview.app.errors import DataError
from anchorview.app.inputs.gathering import gather
from anchorview.app.settings import RunSettings, read_settings
from support.command import invoke, quick, read_csv, refused, reviews, write_csv

TRUTH = [["car", "food", "sport"][row % 3] for row in range(90)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a table of reviews in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "reviews.csv", reviews())
    quick(tmp_path)
    return tmp_path


def project(path: Path, labels: dict[str, str], data: dict[str, str] | None = None) -> Path:
    """Write what Label Studio exports as JSON after people have labelled."""
    tasks = [
        {
            "id": number + 1,
            "data": {"row_id": row, **(data or {})},
            "annotations": [
                {"was_cancelled": False, "result": [{"type": "choices", "value": {"choices": [label]}}]},
            ],
        }
        for number, (row, label) in enumerate(labels.items())
    ]
    path.write_text(json.dumps(tasks))
    return path


def checked(*words: Any) -> dict[str, Any]:
    """Return what `fit --check --json` finds."""
    done = invoke("fit", *words, "--config", "quick.toml", "--check", "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def digits_table(digits: Any, path: Path) -> dict[str, str]:
    """Write a table of 500 digits, 30 of them labelled; return the true class of each."""
    rows = np.arange(0, 2000, 4)
    features = np.column_stack([np.asarray(digits.views.arrays[number])[rows] for number in (1, 2)])
    truth = {f"d{row:04d}": f"digit {digits.target[row]}" for row in rows}
    labelled = set(np.random.RandomState(0).permutation(len(rows))[:30].tolist())
    columns: dict[str, list[Any]] = {"name": list(truth)}
    columns |= {f"f{number}": column.tolist() for number, column in enumerate(features.T)}
    columns["kind"] = [label if row in labelled else None for row, label in enumerate(truth.values())]
    write_csv(path, columns)
    return truth


def accuracy(run: Path, truth: dict[str, str], rows: set[str]) -> float:
    """Return the share of some rows whose label in labels.csv is the true one."""
    found = {row["id"]: row["label"] for row in read_csv(run / "labels.csv")}
    return float(np.mean([found[row] == truth[row] for row in rows]))


def test_a_round_with_label_studio_makes_labels_better(digits: Any, folder: Path) -> None:
    truth = digits_table(digits, folder / "digits.csv")
    config = quick(folder)
    config.write_text(config.read_text().replace("n_landmarks = 12", "n_landmarks = 60"))
    done = invoke("fit", "digits.csv", "--label", "kind", "--config", config, "-o", "run")
    assert done.exit_code == 0, done.output
    done = invoke("export", "run", "-o", "tasks.json", "--suggested", 30)
    assert done.exit_code == 0, done.output
    tasks = json.loads(Path("tasks.json").read_text())
    for number, task in enumerate(tasks):  # Label Studio gives back what it was given, and what people said
        result = {"from_name": "label", "to_name": "text", "type": "choices"}
        result |= {"value": {"choices": [truth[task["data"]["row_id"]]]}}
        task |= {"id": number, "annotations": [{"was_cancelled": False, "result": [result]}]}
    Path("project.json").write_text(json.dumps(tasks))
    done = invoke("fit", "digits.csv", "--labels", "project.json", "--config", config, "-o", "run2")
    assert done.exit_code == 0, done.output
    assert "30 from column kind, 30 from project.json: 60 labels of 10 classes" in done.stdout
    assert "kind" not in read_settings(Path("run2/run.toml")).columns
    given = {row["id"] for row in read_csv(folder / "run2" / "labels.csv") if row["source"] == "given"}
    assert len(given) == 60
    rest = set(truth) - given
    before, after = (accuracy(folder / name, truth, rest) for name in ("run", "run2"))
    assert after > before + 0.04
    assert after > 0.88
    record = json.loads(Path("run2/run.json").read_text())
    assert record["label_sources"] == {"column kind": 30, "project.json": 30}
    done = invoke("fit", "--config", "run2/run.toml", "-o", "again")  # the settings name both sources
    assert done.exit_code == 0, done.output
    assert Path("again/labels.csv").read_bytes() == Path("run2/labels.csv").read_bytes()


def test_the_export_of_a_run_names_the_columns(raw_run: Path, folder: Path) -> None:
    assert invoke("export", raw_run, "-o", "tasks.json", "--suggested", 5).exit_code == 0
    data = [task["data"] for task in json.loads(Path("tasks.json").read_text())]
    assert {(one["anchorview_label_column"], one["anchorview_id_column"]) for one in data} == {("topic", "id")}
    short = [{"id": n, "label": TRUTH[int(one["row_id"][1:])], **one} for n, one in enumerate(data)]
    Path("min.json").write_text(json.dumps(short))  # JSON-MIN
    assert checked("reviews.csv", "--labels", "min.json")["label_sources"] == {"column topic": 30, "min.json": 5}


def test_columns_of_the_table_and_several_files(folder: Path) -> None:
    project(folder / "a.json", {"r040": "food", "r041": "sport"})
    write_csv(folder / "b.csv", {"id": ["r041", "r042"], "answer": ["car", "car"]})
    words = "reviews.csv", "--id", "id", "--label", "topic", "--labels", "a.json", "--labels", "b.csv"
    found = checked(*words)
    assert found["label_sources"] == {"column topic": 30, "a.json": 1, "b.csv": 2}
    assert found["labels"] == {"car": 12, "food": 11, "sport": 10}
    assert "1 row has different labels in different places: 'r041': 'sport' in a.json, 'car' in b.csv." in " ".join(
        found["notes"]
    )
    line = refused("fit", *words, "--on-conflict", "error", "-o", "run", code=3)
    assert line.startswith("1 row has different labels in different places: 'r041': 'sport' in a.json, 'car' in b.csv.")
    assert not Path("run").exists()


def test_of_many_conflicts_three_are_named(folder: Path) -> None:
    project(folder / "a.json", {f"r{row:03d}": "food" for row in range(0, 30, 3)})
    data = gather(RunSettings(table=folder / "reviews.csv", id="id", label="topic", labels=[folder / "a.json"]))
    assert len(data.labels.conflicts) == 10
    assert data.labels.counts == {"food": 20, "sport": 10}
    (note,) = data.labels.notes
    assert note.startswith(
        "10 rows have different labels in different places: 'r000': 'car' in column topic, 'food' in"
    )
    assert note.count(" in a.json") == 3
    assert note.endswith("; …. The later label is used.")


def test_numbers_and_their_text_are_one_class(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.arange(8.0).reshape(4, 2))
    np.save(tmp_path / "y.npy", np.array([3, 4, -1, -1]))
    project(tmp_path / "p.json", {"2": "3", "1": "4"})
    labels = gather(RunSettings(views=[f"v={tmp_path}/v.npy"], labels=[tmp_path / "y.npy", tmp_path / "p.json"])).labels
    assert labels.counts == {"3": 2, "4": 1}
    assert labels.conflicts == []
    assert labels.sources == {"y.npy": 2, "p.json": 1}


def test_a_column_of_labels_that_nobody_named_is_no_feature(folder: Path) -> None:
    project(folder / "a.json", {f"r{row:03d}": TRUTH[row] for row in range(40, 55)})
    words = "reviews.csv", "--id", "id", "--labels", "a.json"
    line = refused("fit", *words, "-o", "run", "--config", "quick.toml", code=2)
    assert line.startswith("reviews.csv: column 'topic' holds names of the classes in 30 of 90 rows")
    assert "--label topic;" in line
    assert sum(checked(*words, "--label", "topic")["labels"].values()) == 45
    assert sum(checked(*words, "--column", "topic=ignore")["labels"].values()) == 15
    few = {f"r{row:03d}": TRUTH[row] for row in range(40, 55) if TRUTH[row] != "sport"}  # not all classes of the column
    project(folder / "few.json", few)
    assert "looks like labels" in refused("fit", *words[:-1], "few.json", "-o", "run", code=2)
    write_csv(folder / "full.csv", reviews() | {"topic": TRUTH})  # a filled column may be a feature; it is said
    notes = checked("full.csv", "--id", "id", "--labels", "a.json")["notes"]
    assert any(note.startswith("Column 'topic' holds the same names as the labels.") for note in notes)


def test_ids_of_labels_are_found_by_what_they_hold(folder: Path) -> None:
    write_csv(folder / "table.csv", {name: cells for name, cells in reviews().items() if name != "topic"})
    rows = np.random.RandomState(0).permutation(90)
    key = [f"r{row:03d}" for row in rows]
    write_csv(folder / "y.csv", {"key": key, "label": [TRUTH[row] for row in rows]})
    data = gather(RunSettings(table=Path("table.csv"), labels=[Path("y.csv")]))  # as many labels as rows
    assert data.labels.values is not None and data.labels.values.tolist() == TRUTH
    assert data.labels.notes == ["Labels of y.csv are brought to the rows by its column 'key', which holds ids."]
    write_csv(folder / "y.csv", {"key": ["r0O1", *key[1:]], "label": [TRUTH[row] for row in rows]})
    with pytest.raises(DataError, match="y.csv has labels for 1 ids that no row has: 'r0O1'"):
        gather(RunSettings(table=Path("table.csv"), labels=[Path("y.csv")]))


def test_labels_of_a_model_are_told_from_given_ones(folder: Path) -> None:
    assert invoke("fit", "reviews.csv", "--label", "topic", "--config", "quick.toml", "-o", "run").exit_code == 0
    notes = checked("reviews.csv", "--label", "topic", "--labels", "run/labels.csv")["notes"]
    assert any(note.startswith("labels.csv holds labels of a run, 60 of them given by its model") for note in notes)


def test_the_column_of_the_last_run_is_no_feature_beside_another(folder: Path) -> None:
    write_csv(folder / "two.csv", reviews() | {"subject": ["a", "b", "c"] * 10 + [None] * 60})
    project(folder / "a.json", {"r040": "b"}, {"anchorview_label_column": "topic"})
    found = checked("two.csv", "--label", "subject", "--labels", "a.json")
    assert found["label_sources"] == {"column subject": 30, "a.json": 1}
    assert "Column 'topic' holds the labels of the run that a.json came from; it is left out." in found["notes"]
    assert found["views"]["categories"] == 2  # those of the shop


def test_a_round_adds_to_the_labels_of_the_rounds_before(folder: Path) -> None:
    project(folder / "a.json", {"r040": "food"})
    project(folder / "b.json", {"r041": "sport"})
    Path("run.toml").write_text('table = "reviews.csv"\nid = "id"\nlabel = "topic"\nlabels = "a.json"\nfast = true\n')
    done = invoke("fit", "--config", "run.toml", "--labels", "b.json", "--check", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["label_sources"] == {"column topic": 30, "a.json": 1, "b.json": 1}


def test_settings_of_labels_there_and_back(tmp_path: Path) -> None:
    settings = RunSettings(
        table=tmp_path / "t.csv", labels=[tmp_path / "a.json", tmp_path / "b.csv"], on_conflict="error", id="none"
    )
    (tmp_path / "run.toml").write_text(settings.to_toml(tmp_path))
    assert read_settings(tmp_path / "run.toml") == settings
    (tmp_path / "run.toml").write_text('on_conflict = "earlier"\n')
    assert "must be 'later' or 'error'" in refused("fit", "--config", tmp_path / "run.toml", "-o", "run", code=2)


def test_what_people_left_open_is_said(folder: Path) -> None:
    tasks = json.loads(project(folder / "a.json", {"r040": "food", "r041": "sport", "r042": "?"}).read_text())
    tasks[0]["annotations"][0]["was_cancelled"] = True
    tasks[1]["annotations"] += [{"result": [{"type": "choices", "value": {"choices": ["car"]}}]}]
    Path("a.json").write_text(json.dumps(tasks))
    found = checked("reviews.csv", "--id", "id", "--label", "topic", "--labels", "a.json", "--unlabelled", "?")
    assert found["label_sources"] == {"column topic": 30, "a.json": 1}
    assert "a.json: 1 of 3 tasks have no label yet, or were skipped." in found["notes"]
    assert any("people disagree about 1 rows ('r041')" in note for note in found["notes"])


def test_spellings_of_one_class(folder: Path) -> None:
    topics: list[Any] = ["Sport", "sport", "SPORT", "car", "?"] * 6 + [None] * 60
    write_csv(folder / "spelled.csv", reviews() | {"topic": topics})
    notes = checked("spelled.csv", "--label", "topic")["notes"]
    spelled = "These classes differ in spelling only: 'SPORT' (6), 'Sport' (6), 'sport' (6)."
    assert f"{spelled} If they are one, write it in one way." in notes
    assert "'?' is taken as a class (6 labels). If it means 'no label', add --unlabelled '?'." in notes


def test_ids_without_a_row(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", reviews())
    write_csv(tmp_path / "y.csv", {"id": ["r001", "r0O2"], "topic": ["car", "food"]})
    with pytest.raises(DataError, match="labels for 1 ids that no row has: 'r0O2'"):
        gather(RunSettings(table=path, id="id", labels=[tmp_path / "y.csv"], label="topic"))
