"""Tables that a script wrote are those of its records: nobody has changed one without the other."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from anchorview.bench.records import Records

ROOT = Path(__file__).parents[2]


@pytest.fixture
def headline(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("headline")


def test_the_table_of_readme_and_results_is_that_of_the_records(headline: Any) -> None:
    """If this fails: python benchmarks/headline.py --fashion FOLDER (or --tables, if only the form has changed)."""
    for path, text in headline.pages(Records(headline.RECORDS)).items():
        assert path.read_text() == text, path.name


def test_every_cell_is_measured_and_every_record_names_commit_and_date(headline: Any) -> None:
    records = Records(headline.RECORDS)
    runs = headline.newest_runs(records)
    assert len(runs) == sum(draws for _, draws in headline.SETS.values()) * len(headline.METHODS)
    assert all(records.made(key) for key, _ in runs)
    assert not any(key["code"]["commit"].endswith("-dirty") for key, _ in runs)


def test_a_changed_record_is_noticed(headline: Any, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in headline.RECORDS.read_text().splitlines()]
    lines[0]["result"]["acc"] -= 30
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert headline.pages(Records(changed))[headline.README] != headline.README.read_text()
