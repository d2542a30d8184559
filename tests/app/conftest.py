"""A run of the bench that several tests look at."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from anchorview import datasets
from anchorview.app.cli import app


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tiny data set."""
    folder = tmp_path_factory.mktemp("data")
    made = datasets.make_multiview_subspaces(240, 3, noise=0.1, random_state=0)
    views = {f"v{number}": view for number, view in enumerate(made.data)}
    np.savez(folder / "tiny.npz", y=made.target, view_names=made.view_names, **views)
    return folder


@pytest.fixture(scope="session")
def everything(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of all experiments on tiny data; a test that changes them works on a copy."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "everything"
    out, done = folder / "bench", folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:  # another worker makes them
        while not done.exists():
            time.sleep(0.1)
    else:
        try:
            run_everything(data, out)
        finally:
            done.touch()
    assert (out / "report.html").exists()
    return out


def run_everything(data: Path, out: Path) -> None:
    words = ["bench", "all", "--data", str(data), "--method", "FSSMSC", "--method", "mvar", "--quick", "--repeats", "2"]
    words += ["--labels", "0.1", "--rows", "400", "--rows", "800", "--out", str(out)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
