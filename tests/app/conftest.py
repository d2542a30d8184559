"""What tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import quick, reviews, write_csv


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a good table of reviews in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "reviews.csv", reviews())
    quick(tmp_path)
    return tmp_path
