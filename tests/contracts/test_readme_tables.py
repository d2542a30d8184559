"""Tables that a script wrote are those of its records: nobody has changed one without the other."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from anchorview.bench.records import Records

ROOT = Path(__file__).parents[2]
SCRIPTS = ("headline", "update", "page", "serving")


@pytest.fixture
def headline(monkeypatch: pytest.MonkeyPatch) -> Any:
    return script("headline", monkeypatch)


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module(name)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_table_is_that_of_its_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: run the script of this name in benchmarks (with --tables, if only the form has changed)."""
    module = script(name, monkeypatch)
    for path, text in module.pages(Records(module.RECORDS)).items():
        assert path.read_text() == text, path.name


@pytest.mark.parametrize("name", SCRIPTS)
def test_records_of_a_table_name_commit_and_defaults(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(script(name, monkeypatch).RECORDS)
    assert len(records) > 0
    assert all(records.made(key) and key["code"]["defaults"] for key, _ in records)


def test_every_table_between_markers_has_a_script() -> None:
    marked = {
        name for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")) if "generated" not in page.parts
        for name in re.findall("<!-- table: (.*) -->", page.read_text())
    }  # fmt: skip
    assert marked == set(SCRIPTS)


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
