"""`anchorview predict`: labels for new files, in blocks, and again after an interrupt."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchorview.app.label_parts import label_parts
from anchorview.app.predicting import Predictor
from support.command import invoke, quick, read_csv, refused, reviews, write_csv


@pytest.fixture
def model(raw_run: Path) -> Path:
    """Return the model of a run on a raw table."""
    return raw_run / "model.anchorview"


@pytest.fixture(scope="module")
def arrays_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the model of a run on an array and columns of a table."""
    folder = tmp_path_factory.mktemp("arrays")
    write_arrays(folder)
    done = invoke(
        *["fit", "--view", f"a={folder}/a.npy", "--view", f"b={folder}/b.csv:u,v", "--labels", folder / "b.csv"],
        *["--label", "y", "--id", "id", "--assume-order", "-o", folder / "run", "--config", quick(folder)],
    )
    assert done.exit_code == 0, done.output
    return folder / "run" / "model.anchorview"


def write_arrays(folder: Path) -> None:
    rng = np.random.RandomState(0)
    classes = np.arange(40) % 2
    np.save(folder / "a.npy", rng.rand(40, 3) + classes[:, None] * [1, 2, 0])
    u, v = (rng.rand(2, 40) + classes * [[1], [0]]).tolist()
    write_csv(
        folder / "b.csv", {"id": [f"n{n}" for n in range(40)], "u": u, "v": v, "y": [f"c{n % 2}" for n in range(40)]}
    )


def new_reviews(n_rows: int = 50) -> dict[str, list[Any]]:
    columns = reviews(n_rows, seed=1)
    del columns["topic"]
    columns["text"][0] = "the engine of a quite unknown kind"
    columns["shop"][1] = "east"
    return columns


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_raw_table(model: Path, tmp_path: Path, suffix: str) -> None:
    columns = new_reviews()
    if suffix == "csv":
        path = write_csv(tmp_path / "new.csv", columns)
    else:
        path = tmp_path / "new.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=7)
    done = invoke("predict", model, path, "--id", "id", "-o", tmp_path / "labels.csv")
    assert done.exit_code == 0, done.output
    assert "Column 'shop': 1 of 50 categories are new and were ignored (2.0%)." in done.stdout
    assert "Column 'text'" in done.stdout
    rows = read_csv(tmp_path / "labels.csv")
    assert list(rows[0]) == ["id", "label", "confidence", "second_label", "second_confidence"]
    assert [row["id"] for row in rows] == columns["id"]
    assert np.mean([row["label"] == ["car", "food", "sport"][n % 3] for n, row in enumerate(rows)]) > 0.9
    assert {path.name for path in tmp_path.iterdir()} == {f"new.{suffix}", "labels.csv"}


def test_several_files(model: Path, tmp_path: Path) -> None:
    first, second = (write_csv(tmp_path / f"{name}.csv", new_reviews(9)) for name in "ab")
    done = invoke("predict", model, first, second, "-o", tmp_path / "labels.parquet", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == 18
    table = pq.read_table(tmp_path / "labels.parquet")
    assert table.column("file").to_pylist() == [str(first)] * 9 + [str(second)] * 9
    assert table.column("id").to_pylist() == [f"r{row:03d}" for row in range(9)] * 2  # as at the fit


def test_views_of_files(arrays_model: Path, tmp_path: Path) -> None:
    write_arrays(tmp_path)
    words = "predict", arrays_model, "--view", f"a={tmp_path}/a.npy", "--view", f"b={tmp_path}/b.csv:u,v"
    line = refused(*words, "-o", tmp_path / "labels.csv", code=2)  # the model knows the column of ids, b.csv has it
    assert line.startswith(f"View 'a' ({tmp_path}/a.npy) has no ids, and {tmp_path}/b.csv has")
    done = invoke(*words, "--assume-order", "-o", tmp_path / "labels.csv")
    assert done.exit_code == 0, done.output
    assert "View 'a' has no ids; rows are taken to be in the order of" in done.stdout
    rows = read_csv(tmp_path / "labels.csv")
    assert [row["id"] for row in rows] == [f"n{n}" for n in range(40)]
    assert np.mean([row["label"] == f"c{n % 2}" for n, row in enumerate(rows)]) > 0.9
    assert "does not know the columns of view 'a'" in refused("predict", arrays_model, tmp_path / "b.csv", code=2)


def test_columns_as_views(tmp_path: Path) -> None:
    write_arrays(tmp_path)
    words = "fit", tmp_path / "b.csv", "--view", "b=u,v", "--label", "y", "--id", "id", "-o", tmp_path / "run"
    assert invoke(*words, "--config", quick(tmp_path)).exit_code == 0
    model, out = tmp_path / "run" / "model.anchorview", ("-o", tmp_path / "labels.csv", "--force", "--block-rows", 15)
    columns = {
        name: [row[name] for row in read_csv(tmp_path / "b.csv")] for name in ("v", "more", "u") if name != "more"
    }
    new = write_csv(tmp_path / "new.csv", {"more": ["?"] * 40, **columns})
    assert invoke("predict", model, new, *out).exit_code == 0
    assert np.mean([row["label"] == f"c{n % 2}" for n, row in enumerate(read_csv(tmp_path / "labels.csv"))]) > 0.9
    columns["u"][30] = "cold"
    write_csv(new, columns)
    assert refused("predict", model, new, *out, code=3).startswith(
        f"{new}, column 'u', line 32: 'cold' is not a number."
    )


def test_blocks_that_are_done_are_not_done_again(model: Path, tmp_path: Path) -> None:
    columns = reviews(410)  # three blocks
    del columns["topic"]
    columns["price"][-9:] = ["dear"] * 9  # a column whose type changes in the last block: an error there
    path = write_csv(tmp_path / "new.csv", columns)
    words = "predict", model, path, "--id", "id", "--block-rows", 200, "-o", tmp_path / "labels.csv"
    line = refused(*words, code=3)
    assert "rows 400 to 409: Column 'price' held numbers at the fit and now holds text such as 'dear'" in line
    parts = tmp_path / ".labels.csv.parts"
    kept = {part.name: part.stat().st_mtime_ns for part in parts.glob("*.parquet")}
    assert sorted(kept) == ["part-0000000.parquet", "part-0000001.parquet"]
    refused(*words, code=3)
    assert {part.name: part.stat().st_mtime_ns for part in parts.glob("*.parquet")} == kept
    assert not (tmp_path / "labels.csv").exists()
    write_csv(path, {name: values[:300] for name, values in columns.items()})  # another file: all anew
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    assert len(read_csv(tmp_path / "labels.csv")) == 300
    assert not parts.exists()


def test_after_an_interrupt_it_says_how_to_go_on(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "new.csv", new_reviews(60))
    label = Predictor.label
    calls: list[int] = []

    def stopped(self: Predictor, ids: Any, views: Any) -> Any:
        calls.append(len(ids))
        if len(calls) == when:
            raise KeyboardInterrupt
        return label(self, ids, views)

    monkeypatch.setattr(Predictor, "label", stopped)
    words = "predict", model, path, "--block-rows", 20, "-o", tmp_path / "labels.csv"
    when = 1
    done = invoke(*words)
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "Stopped."  # nothing is done yet
    calls.clear()
    when = 3
    done = invoke(*words)
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "Stopped. What is done is kept: the same command goes on from there."
    calls.clear()
    assert invoke(*words).exit_code == 0
    assert calls == [20]
    assert len(read_csv(tmp_path / "labels.csv")) == 60


def test_another_process_that_labels_to_the_same_file(model: Path, tmp_path: Path) -> None:
    path, out = write_csv(tmp_path / "new.csv", new_reviews(9)), tmp_path / "labels.csv"
    with label_parts(out, "the same"):
        line = refused("predict", model, path, "-o", out, code=1)
    assert line.startswith(f"Another process is writing {out} (process {os.getpid()} on ")
    assert line.endswith("; wait for it.")


def test_bad_input(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where labels would go
    columns = new_reviews(9)
    path = write_csv(tmp_path / "new.csv", columns)
    other = write_csv(tmp_path / "other.csv", {name: columns[name] for name in ("id", "text", "shop")})
    out = "-o", tmp_path / "labels.csv"
    done = invoke("predict", model, other, *out)
    assert done.exit_code == 0 and "Columns that are missing, and count as empty: 'price'." in done.output, done.output
    (tmp_path / "labels.csv").unlink()
    strange = write_csv(tmp_path / "strange.csv", {"id": columns["id"], "size": columns["price"]})
    assert refused("predict", model, strange, *out, code=3) == f"{strange} has no column of the fit; it has id, size."
    assert "is not a model file of anchorview" in refused("predict", path, path, *out, code=3)
    assert "no.csv cannot be read" in refused("predict", model, tmp_path / "no.csv", *out, code=3)
    assert "no.anchorview cannot be read" in refused("predict", tmp_path / "no.anchorview", path, *out, code=3)
    assert "must end in .csv or .parquet" in refused("predict", model, path, "-o", tmp_path / "labels.txt", code=2)
    assert "Name tables to label" in refused("predict", model, *out, code=2)
    (tmp_path / "labels.csv").write_text("mine")
    assert "exists" in refused("predict", model, path, *out, code=2)
    assert (tmp_path / "labels.csv").read_text() == "mine"
    assert invoke("predict", model, path, *out, "--force").exit_code == 0
    assert not list(tmp_path.glob(".*.parts"))  # nothing was done that could be kept
