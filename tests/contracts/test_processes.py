"""Fits in threads and in processes of any kind give what a fit in this one gives, and end."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed

from anchorview import FSSMSC, Views

SECONDS = 120  # a fit that hangs is an error; spawned processes load everything anew
N_FITS = 3


def fit_labels(views: Views, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of all rows and the probabilities of some, with two threads in the fit."""
    model = FSSMSC(n_landmarks=40, n_jobs=2, random_state=0).fit(views, y)
    return model.labels_, model.predict_proba(views[:50])


@pytest.fixture(scope="module")
def given(some_digits: SimpleNamespace) -> tuple[Views, np.ndarray]:
    """Views and labels."""
    return some_digits.views, some_digits.y


@pytest.fixture(scope="module")
def expected(given: Any) -> tuple[np.ndarray, np.ndarray]:
    """What this process finds; it has threads and kernels before the others are forked."""
    return fit_labels(*given)


def check(found: list[tuple[np.ndarray, np.ndarray]], expected: tuple[np.ndarray, np.ndarray]) -> None:
    assert len(found) == N_FITS
    for labels, probabilities in found:
        np.testing.assert_array_equal(labels, expected[0])
        np.testing.assert_array_equal(probabilities, expected[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("how", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
def test_fits_in_processes(how: str, given: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    with multiprocessing.get_context(how).Pool(2) as pool:  # whose processes are ended, should one hang
        check(pool.starmap_async(fit_labels, [given] * N_FITS).get(SECONDS), expected)


def test_fits_in_threads(given: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    with ThreadPoolExecutor(N_FITS) as pool:
        check(list(pool.map(fit_labels, *zip(*[given] * N_FITS, strict=True), timeout=SECONDS)), expected)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_in_joblib(backend: str, given: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    jobs = (delayed(fit_labels)(*given) for _ in range(N_FITS))
    check(Parallel(2, backend=backend, timeout=SECONDS)(jobs), expected)
