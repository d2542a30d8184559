"""The rows of a table as the report shows them: what they hold, and in which line of the file they begin."""

from __future__ import annotations

import csv
import gzip
import json
import re
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchorview.app.inputs.row_places import RowPlaces
from anchorview.app.run_record import read_summary
from anchorview.files.tables import find_lines
from support.command import invoke, quick, read_csv, reviews, write_csv


def test_a_line_for_each_row(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "rows.csv", {"text": ["a", "b", "c"]})
    assert find_lines(path, [0, 2], 3) == {0: 2, 2: 4}
    assert RowPlaces(path, 3)([1]) == ["rows.csv, line 3"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.csv.gz"])
def test_cells_with_line_breaks_and_empty_lines(tmp_path: Path, name: str) -> None:
    tab = "\t" if "tsv" in name else ","
    lines = ["text,n", '"two', 'lines",1', "", "plain,2", '"a ""quote""', "", 'more",3', "last,4"]
    data = "\r\n".join(lines).replace(",", tab).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert find_lines(path, [0, 1, 2, 3], 4) == {0: 2, 1: 5, 2: 6, 3: 9}


def test_other_files_have_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "rows.parquet")
    assert RowPlaces(tmp_path / "rows.parquet", 2)([0, 1]) == ["rows.parquet, row 1", "rows.parquet, row 2"]
    assert RowPlaces(tmp_path / "gone.csv", 2)([1]) == ["gone.csv, row 2"]


def test_the_page_of_a_run_shows_the_rows(raw_run: Path) -> None:
    """Texts and lines of all rows to label next, no folder of this machine; and again from the files of the run."""
    page, table = (raw_run / "report.html").read_text(), read_csv(raw_run.parent / "reviews.csv")
    summary = read_summary(raw_run)
    assert len(summary.suggested) > 5
    for row in summary.suggested.tolist():
        assert f"reviews.csv, line {row + 2}" in page and table[row]["text"] in unescape(page)
    assert str(raw_run.parent) not in page
    assert "topic" not in {name for about in summary.details.values() for name, _ in about.cells}
    assert any(summary.telling) and summary.comparison is not None
    invoke("report", raw_run, "-o", raw_run.parent / "again.html")
    again = (raw_run.parent / "again.html").read_text()
    (raw_run.parent / "again.html").unlink()
    of_rows = re.compile(r'<section id="part-(?:next|suspects|classes|check)".*?</section>', re.DOTALL)
    assert len(of_rows.findall(page)) == 4 and of_rows.findall(again) == of_rows.findall(page)


def test_a_run_of_before_has_no_contents(raw_run: Path, tmp_path: Path) -> None:
    record = json.loads((raw_run / "run.json").read_text())
    for name in ("details", "telling", "comparison"):
        del record["report"][name]
    (tmp_path / "run.json").write_text(json.dumps(record))
    (tmp_path / "labels.parquet").write_bytes((raw_run / "labels.parquet").read_bytes())
    summary = read_summary(tmp_path)
    assert summary.details == {} and summary.comparison is None


def test_text_beside_the_columns_of_views_is_shown(tmp_path: Path) -> None:
    """The views are numbers; the column that nobody fits is what a person reads."""
    made = reviews()
    columns = {
        "note": made["text"],
        "a": [len(text) for text in made["text"]],
        "b": list(range(90)),
        "y": made["topic"],
    }
    path = write_csv(tmp_path / "rows.csv", columns)
    done = invoke("fit", path, "--view", "n=a,b", "--label", "y", "--config", quick(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    summary = read_summary(tmp_path / "run")
    row = int(summary.suggested[0])
    with path.open(newline="") as stream:
        note = list(csv.DictReader(stream))[row]["note"]
    assert ("note", note) in summary.about(row).cells and summary.about(row).where == f"rows.csv, line {row + 2}"


def test_clusters_are_not_called_sure(tmp_path: Path) -> None:
    made = reviews()
    made.pop("topic")
    path = write_csv(tmp_path / "rows.csv", made)
    done = invoke("fit", path, "--clusters", "3", "--config", quick(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "run" / "report.html").read_text().partition("<script")[0]
    assert "% sure" not in page and "rows were put into 3 clusters" in page and "between clusters" in page
