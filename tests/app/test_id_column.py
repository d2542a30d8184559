"""The column of ids of a table: recognised, used, remembered by the model; and columns that are nearly ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview.app.inputs.gathering import gather
from anchorview.app.settings import RunSettings, read_settings
from support.command import invoke, quick, read_csv, refused, reviews, write_csv

KINDS = ["red", "green", "blue", "grey"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a table of reviews in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "reviews.csv", reviews())
    quick(tmp_path)
    return tmp_path


def run(*words: Any) -> list[str]:
    """Fit to the folder `run`, and return the ids in its labels.csv."""
    done = invoke("fit", "reviews.csv", "--label", "topic", "--config", "quick.toml", "-o", "run", *words)
    assert done.exit_code == 0, done.output
    return [row["id"] for row in read_csv(Path("run/labels.csv"))]


def test_ids_are_recognised_and_remembered(folder: Path) -> None:
    assert run() == reviews()["id"]
    assert read_settings(Path("run/run.toml")).id == "id"
    new = reviews(9, seed=1)
    del new["topic"]
    write_csv(folder / "new.csv", new)
    done = invoke("predict", "run", "new.csv", "-o", "labels.csv")  # a folder in place of its model
    assert done.exit_code == 0, done.output
    assert [row["id"] for row in read_csv(folder / "labels.csv")] == new["id"]
    assert invoke("predict", "run/model.anchorview", "new.csv", "--id", "none", "-o", "numbers.csv").exit_code == 0
    assert [row["id"] for row in read_csv(folder / "numbers.csv")] == [str(row) for row in range(9)]
    del new["id"]
    write_csv(folder / "bare.csv", new)
    done = invoke("predict", "run", "bare.csv", "-o", "bare-labels.csv")
    assert "Note: bare.csv has no column 'id', the ids of the fit; its rows are numbered." in done.stdout
    assert [row["id"] for row in read_csv(folder / "bare-labels.csv")] == [str(row) for row in range(9)]
    write_csv(folder / "twice.csv", {"id": ["a"] * 9, **new})
    assert refused("predict", "run", "twice.csv", "-o", "x.csv", code=3).endswith("number the rows instead: --id none.")


def test_rows_can_be_numbered(folder: Path) -> None:
    assert run("--id", "none") == [str(row) for row in range(90)]
    done = invoke("fit", "--config", "run/run.toml", "-o", "again")
    assert done.exit_code == 0, done.output
    assert Path("again/labels.csv").read_bytes() == Path("run/labels.csv").read_bytes()
    assert invoke("export", "run", "-o", "tasks.json").exit_code == 0
    task = json.loads(Path("tasks.json").read_text())[40]
    assert task["data"]["row_id"] == 40
    assert task["data"]["text"] == reviews()["text"][40]


def test_the_model_of_views_remembers_ids(folder: Path) -> None:
    words = "fit", "reviews.csv", "--view", "price=price", "--id", "id", "--label", "topic", "--config", "quick.toml"
    assert invoke(*words, "-o", "run").exit_code == 0
    assert invoke("predict", "run", "reviews.csv", "-o", "labels.csv").exit_code == 0
    assert [row["id"] for row in read_csv(folder / "labels.csv")] == reviews()["id"]


def test_zeros_in_front_and_long_numbers_stay(tmp_path: Path) -> None:
    long = [str(9_007_199_254_740_993_000 + row) for row in range(30)]
    longer = [str(10**22 + row) for row in range(30)]
    for ids in ([f"{row:05d}" for row in range(30)], long, longer):
        path = write_csv(tmp_path / "t.csv", {"ref": ids, "kind": KINDS[:3] * 10, "y": ["a", "b"] + [None] * 28})
        data = gather(RunSettings(table=path, label="y"))
        assert data.settings.id == "ref"
        assert data.ids is not None and data.ids.tolist() == ids


def test_a_column_that_is_named_an_id_goes_first(tmp_path: Path) -> None:
    words = [f"w{row}" for row in range(20)]
    path = write_csv(tmp_path / "t.csv", {"w": words, "row_id": words[::-1], "n": list(np.arange(20.0) ** 2)})
    assert gather(RunSettings(table=path, clusters=2)).settings.id == "row_id"
    path = write_csv(tmp_path / "t.csv", {"w": words, "row_id": ["w1", *words[1:]], "n": list(np.arange(20.0) ** 2)})
    assert gather(RunSettings(table=path, clusters=2)).settings.id == "w"  # the other names a row twice


def test_names_that_may_tell_something(tmp_path: Path) -> None:
    parts = ["lib", "python", "fonts", "doc"]
    names = [f"{parts[row % 4]}-{row}x" for row in range(40)]
    columns = {"package": names, "kind": KINDS * 10, "y": ["a", "b", *[None] * 38]}
    path = write_csv(tmp_path / "t.csv", columns)
    hint = "Column 'package' is not used as a feature. If parts of it are informative, read it as text: --column "
    for id_column in (None, "package", "none"):
        assert f"{hint}package=text." in gather(RunSettings(table=path, label="y", id=id_column)).notes
    data = gather(RunSettings(table=path, label="y", id="package", columns={"package": "text"}))
    assert data.ids is not None and data.ids.tolist() == names  # both: the id, and text
    assert "package:characters" in data.views.names
    assert not any("package=text" in note for note in data.notes)
    random = [f"{(row * 2654435761) % 2**32:08x}" for row in range(40)]
    path = write_csv(tmp_path / "t.csv", columns | {"package": random})
    assert not any("package=text" in note for note in gather(RunSettings(table=path, label="y")).notes)


def test_kinds_of_columns_as_an_option(folder: Path) -> None:
    assert run("--column", "shop=ignore", "--column", "id=text", "--id", "id") == reviews()["id"]
    kinds = read_settings(Path("run/run.toml")).columns
    assert kinds["shop"] == "ignore"
    assert kinds["id"] == "text"
    assert "is not NAME=KIND" in refused("fit", "reviews.csv", "--column", "shop", "-o", "other", code=2)
    assert "has no column 'colour'" in refused("fit", "reviews.csv", "--column", "colour=text", "-o", "x", code=3)


def test_empty_cells_are_counted(folder: Path) -> None:
    columns = reviews()
    columns["price"][7] = columns["shop"][8] = None
    write_csv(folder / "gaps.csv", columns)
    done = invoke("fit", "gaps.csv", "--label", "topic", "--check", "--config", "quick.toml")
    assert "Cells that are empty: 2 (price 1, shop 1)." in done.stdout


def test_a_decimal_comma(folder: Path) -> None:
    columns = reviews()
    columns["price"] = [str(price).replace(".", ",") for price in columns["price"]]
    write_csv(folder / "semicolons.csv", columns, delimiter=";")
    done = invoke("fit", "semicolons.csv", "--label", "topic", "--config", "quick.toml", "-o", "comma")
    assert done.exit_code == 0, done.output
    assert "(numbers with a decimal comma)" in done.stdout
    run()
    assert Path("comma/labels.csv").read_bytes() == Path("run/labels.csv").read_bytes()
    assert invoke("predict", "comma", "semicolons.csv", "-o", "a.csv").exit_code == 0
    assert invoke("predict", "run", "reviews.csv", "-o", "b.csv").exit_code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    line = refused("fit", "semicolons.csv", "--view", "p=price", "--label", "topic", "-o", "x", code=3)
    assert "'0,591' is not a number" in line
    assert "decimal point" in line
