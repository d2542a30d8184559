"""The page of results in a real browser. Without one the test fails in CI; elsewhere it is skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--window-size=1300,900"]


@pytest.fixture
def browse(tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs the browser with some more words and returns what it prints."""
    browser = shutil.which("chromium")
    if browser is None:
        missing = "the browser chromium is not installed (on Debian: apt-get install chromium)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(f"NOT TESTED: {missing}")
        pytest.skip(missing)

    def browse(*words: str) -> str:
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [browser, *FLAGS, profile, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    return browse


def test_the_page_of_results_opens(everything: Path, browse: Callable[..., str], tmp_path: Path) -> None:
    page = (everything / "report.html").as_uri()
    shown = browse("--dump-dom", page)
    assert shown.count("<figure>") == 6
    assert shown.count("<table>") >= 10
    browse(f"--screenshot={tmp_path / 'page.png'}", page)
    pixels = imread(tmp_path / "page.png")[..., :3]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50  # not a blank page
