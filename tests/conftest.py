"""Data and models that many tests look at; made once, and never changed by a test."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from inspect import ismodule
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads its BLAS, so that the limit below holds for it)
from threadpoolctl import threadpool_limits

from anchorview import FSSMSC, datasets

matplotlib.use("Agg")
gc.set_threshold(200_000)  # a search for cycles looks through all modules: a twentieth of the suite's time
STARTERS = {"subprocess", "multiprocessing", "support.browser", "support.dask_clusters", "support.processes"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu", action="store_true", help="print processor seconds by folder, file and test")


class ClosedFigures:
    """Closes what a test has drawn, an example of a docstring too: pyplot keeps figures, and warns above twenty."""

    @staticmethod
    def pytest_runtest_teardown() -> None:
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ClosedFigures())  # a fixture of this file would not reach docstrings
    if config.getoption("--cpu"):
        from support.cpu import CpuReport

        config.pluginmanager.register(CpuReport())


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of modules that start processes, clusters or a browser."""
    for item in items:
        used = vars(getattr(item, "module", None) or object).values()
        if any((value.__name__ if ismodule(value) else getattr(value, "__module__", "")) in STARTERS for value in used):
            item.add_marker("processes")


@pytest.fixture(scope="session", autouse=True)
def one_core_per_worker() -> Iterator[None]:
    """Under pytest-xdist each worker keeps to one BLAS thread: several pools on the same cores slow each other."""
    with threadpool_limits(1 if "PYTEST_XDIST_WORKER" in os.environ else None, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def digits() -> Any:
    """The 2,000 handwritten digits, six views."""
    return datasets.load_handwritten()


@pytest.fixture(scope="session")
def digits_y(digits: Any) -> np.ndarray:
    """Labels of 5 % of the digits, the rest -1."""
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    y.flags.writeable = False
    return y


@pytest.fixture(scope="session")
def digits_model(digits: Any, digits_y: np.ndarray) -> FSSMSC:
    """A default fit on the digits."""
    return FSSMSC(random_state=0).fit(digits.views, digits_y)


@pytest.fixture(scope="session")
def some_digits(digits: Any) -> SimpleNamespace:
    """Every eighth digit: `views`, `target`, and `y` with labels of 16 % of the rows (`hidden` are the others)."""
    views, target = digits.views[::8], digits.target[::8]
    y = datasets.hide_labels(target, 0.16, random_state=0)
    y.flags.writeable = False
    return SimpleNamespace(views=views, target=target, y=y, hidden=y == -1)


@pytest.fixture(scope="session")
def raw_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run on one raw table, reviews.csv beside it; tests must not change it."""
    folder = tmp_path_factory.mktemp("raw")
    from support.command import invoke, quick, reviews, write_csv  # typer: not for tests that need none

    path = write_csv(folder / "reviews.csv", reviews())
    done = invoke("fit", path, "--label", "topic", "--id", "id", "-o", folder / "run", "--config", quick(folder))
    assert done.exit_code == 0, done.output
    assert "text: text" in done.stdout  # the columns are said in words
    assert "Expected accuracy" in done.stdout
    return folder / "run"
