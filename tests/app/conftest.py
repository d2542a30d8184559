"""A run of the command that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import invoke, quick, reviews, write_csv


@pytest.fixture(scope="session")
def raw_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run on one raw table, reviews.csv beside it; tests must not change it."""
    folder = tmp_path_factory.mktemp("raw")
    path = write_csv(folder / "reviews.csv", reviews())
    done = invoke("fit", path, "--label", "topic", "--id", "id", "-o", folder / "run", "--config", quick(folder))
    assert done.exit_code == 0, done.output
    assert "text: text" in done.stdout  # the columns are said in words
    assert "Expected accuracy" in done.stdout
    return folder / "run"
