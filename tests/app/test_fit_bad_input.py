"""Bad input to `anchorview fit`, as a user types it: one line that says what is wrong and where; nothing written."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchorview.app.run_folder import RunFolder
from support.command import quick, refused, reviews, write_csv


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a good table in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "reviews.csv", reviews())
    quick(tmp_path)
    return tmp_path


def fit_refused(*words: Any, code: int = 3) -> str:
    """Run `fit`, which must refuse; nothing may be left of it."""
    before = sorted(Path().rglob("*"))
    line = refused("fit", *words, "-o", "run", "--config", "quick.toml", code=code)
    assert sorted(Path().rglob("*")) == before
    return line


def test_a_missing_file(folder: Path) -> None:
    assert fit_refused("no.csv", "--label", "topic") == "no.csv cannot be read: No such file or directory."
    assert "no.npy" in fit_refused("--view", "a=no.npy", "--clusters", 2)
    assert "no.csv" in fit_refused("reviews.csv", "--labels", "no.csv")
    assert "no.toml" in refused("fit", "--config", "no.toml", "-o", "run", code=2)


def test_nothing_named(folder: Path) -> None:
    assert refused("fit", code=2).startswith("Name a table and the folder for the results: anchorview fit rows.csv")
    assert refused("fit", "reviews.csv", code=2) == "Name the folder for the results: -o run."


def test_files_that_are_something_else(folder: Path) -> None:
    (folder / "a.parquet").write_bytes(b"PAR1 but not really")
    assert "a.parquet cannot be read" in fit_refused("a.parquet", "--label", "topic")
    (folder / "a.npy").write_bytes(b"\x93NUMPY\x01\x00")
    assert "a.npy cannot be read" in fit_refused("--view", "a=a.npy", "--clusters", 2)
    (folder / "a.npz").write_bytes(b"PK\x03\x04")
    assert "a.npz cannot be read" in fit_refused("--view", "a=a.npz", "--clusters", 2)
    (folder / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:15])
    assert "a.csv.gz" in fit_refused("a.csv.gz", "--label", "a")
    (folder / "empty.csv").write_bytes(b"")
    assert "empty.csv is empty" in fit_refused("empty.csv", "--label", "a")
    (folder / "a.h5ad").write_bytes(b"no HDF5")
    assert "a.h5ad cannot be read" in fit_refused("a.h5ad", "--label", "a")
    assert "not of a kind that can be read" in fit_refused("notes.docx", "--label", "a", code=2)
    np.save(folder / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "objects.npy cannot be read" in fit_refused("--view", "a=objects.npy", "--clusters", 2)


def test_a_line_that_cannot_be_parsed(folder: Path) -> None:
    (folder / "bad.csv").write_text("text,topic\ngood thing,a\none,two,three\n")
    line = fit_refused("bad.csv", "--label", "topic")
    assert line == "bad.csv: line 3: 2 cells were expected, as in the first line, and 3 found: one,two,three"
    (folder / "twice.csv").write_text("a,a,topic\n1,2,x\n")
    assert "twice.csv: line 1 names a column twice: 'a'" in fit_refused("twice.csv", "--label", "topic")
    (folder / "headless.csv").write_text("1,2\n3,4\n")
    assert "headless.csv: line 1 holds numbers only" in fit_refused("headless.csv", "--label", "topic")


def test_text_where_numbers_should_be(folder: Path) -> None:
    columns: dict[str, list[Any]] = {"a": [1.5, 2, "cold", 4], "b": [1, 2, 3, 4], "y": [0, 1, 0, 1]}
    write_csv(folder / "numbers.csv", columns)
    line = fit_refused("numbers.csv", "--view", "v=a,b", "--label", "y")
    assert line.startswith("numbers.csv, column 'a', line 4: 'cold' is not a number.")
    pq.write_table(pa.table({"a": ["1", "cold"], "y": [0, 1]}), folder / "numbers.parquet")
    line = fit_refused("--view", "v=numbers.parquet:a", "--labels", "numbers.parquet", "--label", "y")
    assert line.startswith("numbers.parquet, column 'a', row 1: 'cold' is not a number.")


def test_text_far_down_in_a_column_of_numbers(folder: Path) -> None:
    values: list[Any] = [f"{row}.12345678901234567890" for row in range(50_000)]  # beyond what types are inferred from
    values[45_000] = "cold"
    write_csv(folder / "long.csv", {"a": values, "y": [row % 2 for row in range(50_000)]})
    line = fit_refused("long.csv", "--view", "v=a", "--label", "y")
    assert line.startswith("long.csv, column 'a', line 45002: 'cold' is not a number.")


def test_cells_without_a_number(folder: Path) -> None:
    write_csv(folder / "gaps.csv", {"a": [1.5, None, 3, 4], "b": [1, 2, 3, 4], "y": [0, 1, 0, 1]})
    line = fit_refused("gaps.csv", "--view", "v=a,b", "--label", "y")
    assert "view 'v', row 1" in line
    assert "column 'a'" in line


def test_ids(folder: Path) -> None:
    columns = reviews()
    write_csv(folder / "labels.csv", {"id": ["r001", "nobody", "else"], "topic": ["car", "food", "car"]})
    line = fit_refused("reviews.csv", "--labels", "labels.csv", "--label", "topic", "--id", "id")
    assert line.startswith("labels.csv has labels for 2 ids that no row has: 'nobody', 'else'")
    write_csv(folder / "twice.csv", columns | {"id": ["r000", "r001", "r000", *columns["id"][3:]]})
    line = fit_refused("twice.csv", "--label", "topic", "--id", "id")
    assert line.startswith("twice.csv: column 'id' repeats 1 of its ids, first 'r000' (line 2 and line 4)")
    write_csv(folder / "gap.csv", columns | {"id": ["r000", None, *columns["id"][2:]]})
    assert fit_refused("gap.csv", "--label", "topic", "--id", "id").startswith("gap.csv: line 3 has no id")
    write_csv(folder / "double.csv", {"id": ["r001", "r001"], "topic": ["car", "food"]})
    line = fit_refused("reviews.csv", "--labels", "double.csv", "--label", "topic", "--id", "id")
    assert line.startswith("double.csv: column 'id' repeats")
    assert "no column 'key' (--id); it has id, text" in fit_refused("reviews.csv", "--label", "topic", "--id", "key")


def test_views_without_a_common_id(folder: Path) -> None:
    write_csv(folder / "a.csv", {"id": ["a1", "a2", "a3"], "v": [1, 2, 3], "y": [0, 1, 0]})
    write_csv(folder / "b.csv", {"id": ["b1", "b2", "b3"], "v": [1, 2, 3]})
    line = fit_refused("--view", "a=a.csv:v", "--view", "b=b.csv:v", "--labels", "a.csv", "--label", "y", "--id", "id")
    assert line.startswith("View 'b' (b.csv) has no id in common with the others: 'b1', … there, 'a1', … here.")


def test_views_of_different_lengths(folder: Path) -> None:
    np.save(folder / "a.npy", np.ones((5, 2)))
    np.save(folder / "b.npy", np.ones((4, 2)))
    assert "(a 5, b 4) and no ids" in fit_refused("--view", "a=a.npy", "--view", "b=b.npy", "--clusters", 2)
    write_csv(folder / "t.csv", {"id": ["x", "y", "z"], "v": [1, 2, 3]})
    line = fit_refused("--view", "a=a.npy", "--view", "t=t.csv:v", "--clusters", 2, "--id", "id")
    assert line.startswith("View 'a' (a.npy) has 5 rows and no ids; the ids are 3.")


def test_views_as_they_are_typed(folder: Path) -> None:
    words = "reviews.csv", "--label", "topic"
    line = fit_refused(*words, "--view", "a=price", "--view", "a=shop", code=2)
    assert line == "--view a is given twice; views need different names."
    assert "is not NAME=SPEC" in fit_refused(*words, "--view", "price", code=2)
    assert "no column 'emb_*'; it has id, text" in fit_refused(*words, "--view", "a=emb_*")
    assert "no column 'img_0' of the range" in fit_refused(*words, "--view", "a=img_0..img_9")
    assert "the id or the label" in fit_refused(*words, "--view", "a=topic", code=2)
    assert "no table is given" in fit_refused("--view", "a=price", "--clusters", 2, code=2)
    assert "Name a table" in fit_refused("--clusters", 2, code=2)
    np.save(folder / "flat.npy", np.ones(5))
    assert "shape (5,)" in fit_refused("--view", "a=flat.npy", "--clusters", 2)


def test_labels_of_no_use(folder: Path) -> None:
    columns = reviews()
    write_csv(folder / "one.csv", columns | {"topic": ["car" if row < 9 else None for row in range(90)]})
    assert "every label is 'car'" in fit_refused("one.csv", "--label", "topic")
    assert "9 different labels" not in fit_refused("reviews.csv", "--label", "id")
    line = fit_refused("reviews.csv", "--label", "id")
    assert line.startswith("reviews.csv, column 'id': 90 different labels in 90 labelled rows. This looks like an id")
    write_csv(folder / "none.csv", columns | {"topic": [None] * 90})
    assert "no label in any row" in fit_refused("none.csv", "--label", "topic")
    assert "There are no labels; give some" in fit_refused("reviews.csv")
    line = fit_refused("reviews.csv", "--label", "price")
    assert "looks like an id" in line
    assert "has no column 'subject' (--label)" in fit_refused("reviews.csv", "--label", "subject")


def test_one_label_for_each_class(folder: Path) -> None:
    columns = reviews()
    write_csv(folder / "few.csv", columns | {"topic": [*columns["topic"][:3], *[None] * 87]})
    line = refused("fit", "few.csv", "--label", "topic", "-o", "run", code=3)
    assert "needs at least two labels in one class" in line
    assert line.endswith("label more rows, or use the plain model: --fast.")


def test_a_value_that_means_no_label(folder: Path) -> None:
    columns = reviews()
    write_csv(folder / "words.csv", columns | {"topic": [topic or "unknown" for topic in columns["topic"]]})
    line = fit_refused("words.csv", "--label", "topic")
    assert "60 of 90 labels are 'unknown', which looks like 'no label'" in line
    assert "add --unlabelled unknown;" in line
    write_csv(folder / "marks.csv", columns | {"topic": [topic or "?" for topic in columns["topic"]]})
    assert "add --unlabelled '?';" in fit_refused("marks.csv", "--label", "topic")
    done = refused("fit", "words.csv", "--label", "topic", "--unlabelled", "unknown", "-o", "missing/run", code=2)
    assert "The folder" in done  # the labels are not what is wrong any more


def test_columns_that_are_empty(folder: Path) -> None:
    write_csv(folder / "empty.csv", {"text": [None] * 8, "topic": ["a", "b"] * 4})
    line = fit_refused("empty.csv", "--label", "topic")
    assert line.startswith("empty.csv: No column of the table can be used.")
    assert "text: left out (every cell is empty)" in line


def test_settings_that_are_wrong(folder: Path) -> None:
    for text, message in (
        ("colour = 1", "'colour' is no setting"),
        ("seed = 'a'", "seed = 'a' is not of the right type (int)"),
        ("table = ", "wrong.toml: "),
        ("[columns]\ncolour = 'text'", "has no column 'colour'"),
        ("[columns]\ntext = 'poem'", "kinds['text']"),
        ("[parameters]\nmagic = 1", "has no parameter 'magic'"),
        ("[parameters]\nn_landmarks = -1", "n_landmarks"),
    ):
        (folder / "wrong.toml").write_text(text)
        code = 3 if text.startswith("[") else 2
        line = refused("fit", "reviews.csv", "--label", "topic", "--config", "wrong.toml", "-o", "run", code=code)
        assert message in line


def test_no_memory(folder: Path) -> None:
    words = "reviews.csv", "--label", "topic", "--fast", "--memory-limit", 0.001
    words_of_refusal = " ".join(refused("fit", *words, "-o", "run", code=1).split())
    assert "more than --memory-limit 0.001 (GB); use --fast" in words_of_refusal
    assert not (folder / "run").exists()


@pytest.mark.parametrize("package", ["pyarrow", "bokeh"])
def test_a_package_that_is_not_installed(folder: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    line = fit_refused("reviews.csv", "--label", "topic", code=1)
    assert package in line
    assert "pip install 'anchorview[cli]'" in line


def test_another_run_to_the_same_folder(folder: Path) -> None:
    with RunFolder(folder / "run", False):
        line = refused("fit", "reviews.csv", "--label", "topic", "-o", "run", "--config", "quick.toml", code=1)
    assert line.startswith(f"Another run is writing to {folder / 'run'} (process {os.getpid()} on ")


def test_errors_for_machines(folder: Path) -> None:
    line = refused("fit", "no.csv", "--label", "a", "-o", "run", "--json", code=3)
    assert "no.csv" in line
    assert not (folder / "run").exists()
