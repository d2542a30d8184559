"""The labels of a run in the forms of other tools."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from anchorview.app.label_files import FORMATS, least_sure, read_labels, write_labels
from anchorview.app.label_studio import read_annotations


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run."""
    table = pa.table(
        {
            "id": ["r1", "r2", 'r"3,', "r4"],
            "label": ["ja", "nein", "=1+1", None],
            "confidence": pa.array([0.75, 1.0, 0.5, 0.0], pa.float32()),
            "second_label": ["nein", None, "ja", None],
            "second_confidence": pa.array([0.25, None, 0.3, None], pa.float32()),
            "source": ["model", "given", "model", "model"],
            "x": pa.array([0.1, 0.2, float("nan"), None], pa.float32()),
            "y": pa.array([0.1, 0.2, 0.3, None], pa.float32()),
            "more": [1, 2, 3, 4],
        }
    )
    folder = tmp_path / "run"
    folder.mkdir()
    parquet.write_table(table, folder / "labels.parquet")
    return folder


def test_rows_are_read_from_the_folder_or_the_file(run: Path) -> None:
    rows = list(read_labels(run))
    assert [row["id"] for row in rows] == ["r1", "r2", 'r"3,', "r4"]
    assert set(rows[0]) == {"id", "label", "confidence", "second_label", "second_confidence", "source", "x", "y"}
    assert next(read_labels(run / "labels.parquet")) == rows[0]


def test_json_lines(run: Path, tmp_path: Path) -> None:
    assert write_labels(read_labels(run), tmp_path / "out", "jsonl", {"r1": {"text": "ä\n"}}) == 4
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert lines[0] == {
        "id": "r1",
        "label": "ja",
        "confidence": 0.75,
        "second_label": "nein",
        "second_confidence": 0.25,
        "source": "model",
        "x": 0.1,
        "y": 0.1,
        "text": "ä\n",
    }
    assert lines[2]["x"] is None  # JSON has no NaN
    assert lines[3]["label"] is None


def test_comma_separated_values(run: Path, tmp_path: Path) -> None:
    assert write_labels(read_labels(run), tmp_path / "out", "csv", {"r1": {"text": 'a "b",\nc'}}) == 4
    with (tmp_path / "out").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows] == ["r1", "r2", 'r"3,', "r4"]
    assert rows[0]["text"] == 'a "b",\nc'
    assert (rows[1]["text"], rows[3]["label"], rows[3]["x"]) == ("", "", "")
    assert rows[2]["label"] == "'=1+1"  # no formula to a spreadsheet


def test_label_studio(run: Path, tmp_path: Path) -> None:
    assert write_labels(read_labels(run), tmp_path / "out", "label-studio") == 4
    tasks = json.loads((tmp_path / "out").read_text())
    assert [task["data"]["row_id"] for task in tasks] == ["r1", "r2", 'r"3,', "r4"]
    assert tasks[0]["predictions"][0]["score"] == 0.75
    assert read_annotations(tmp_path / "out").labels == {"r2": "nein"}


@pytest.mark.parametrize("form", FORMATS)
def test_no_rows_at_all(form: str, tmp_path: Path) -> None:
    assert write_labels([], tmp_path / "out", form) == 0
    text = (tmp_path / "out").read_text()
    assert {"label-studio": "[\n]\n", "jsonl": "", "csv": text}[form] == text
    assert text.startswith("id,label") or form != "csv"


def test_the_least_sure_rows_of_the_model(run: Path) -> None:
    assert [row["id"] for row in least_sure(read_labels(run), 2)] == ["r4", 'r"3,']
    assert [row["id"] for row in least_sure(read_labels(run), 10)] == ["r4", 'r"3,', "r1"]


def test_a_file_is_replaced_only_when_allowed(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(FileExistsError, match="out exists"):
        write_labels(read_labels(run), tmp_path / "out", "csv")
    assert (tmp_path / "out").read_text() == "mine"
    write_labels(read_labels(run), tmp_path / "out", "csv", overwrite=True)
    assert (tmp_path / "out").read_text().startswith("id,")


def test_rows_that_fail_half_way_leave_nothing(run: Path, tmp_path: Path) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield next(read_labels(run))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_labels(broken(), tmp_path / "out", "jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_is_no_run(run: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file .*labels\.parquet; give the folder of a run"):
        list(read_labels(tmp_path))
    (tmp_path / "x.parquet").write_text("hello")
    with pytest.raises(ValueError, match=r"x\.parquet is not a Parquet file"):
        list(read_labels(tmp_path / "x.parquet"))
    parquet.write_table(pa.table({"label": [1]}), tmp_path / "y.parquet")
    with pytest.raises(ValueError, match=r"y\.parquet has no column 'id'; it has label"):
        list(read_labels(tmp_path / "y.parquet"))
    with pytest.raises(ValueError, match="There is no format 'xml'; there are label-studio, jsonl, csv"):
        write_labels([], tmp_path / "out", "xml")
