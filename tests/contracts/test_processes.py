"""Fits in threads and in processes of any kind give what a fit in this one gives, and end."""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed

from anchorview import FSSMSC, Views

SECONDS = 80  # a fit that hangs is an error; spawned processes load everything anew
N_FITS = 2
STARTS = [  # joblib's loky, below, starts processes anew as well
    pytest.param(how, marks=[pytest.mark.slow] if how == "spawn" else [])
    for how in sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods()))
]


def fit_labels(views: Views, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of all rows and the probabilities of some, with two threads in the fit, which judges settings."""
    model = FSSMSC(n_landmarks=40, scaling="minmax", n_jobs=2, random_state=0).fit(views, y)
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
        # Not to the last bit: a process that has compiled a kernel itself may round otherwise than one that loads it.
        np.testing.assert_allclose(probabilities, expected[1], rtol=1e-9, atol=1e-12)


def send_labels(pipe: Any, views: Views, y: np.ndarray) -> None:
    """Send what a fit finds; a process whose parent is gone does not wait for ever."""
    if hasattr(signal, "alarm"):
        signal.alarm(2 * SECONDS)
    pipe.send(fit_labels(views, y))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("how", STARTS)
def test_fits_in_processes(how: str, given: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    """Without multiprocessing's pool, whose end waits for processes that hang."""
    context: Any = multiprocessing.get_context(how)
    pipes = [context.Pipe(duplex=False) for _ in range(N_FITS)]
    others = [context.Process(target=send_labels, args=(pipe[1], *given), daemon=True) for pipe in pipes]
    try:
        for other in others:
            other.start()
        ready = [pipe[0].poll(SECONDS) for pipe in pipes]
        assert all(ready), "a fit hangs"
        check([pipe[0].recv() for pipe in pipes], expected)
    finally:
        for other in others:
            if other.pid is not None:
                other.kill()
                other.join(10)


def test_fits_in_threads(given: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    with ThreadPoolExecutor(N_FITS) as pool:
        check(list(pool.map(fit_labels, *zip(*[given] * N_FITS, strict=True), timeout=SECONDS)), expected)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_in_joblib(backend: str, given: Any, expected: tuple[np.ndarray, np.ndarray]) -> None:
    jobs = (delayed(fit_labels)(*given) for _ in range(N_FITS))
    check(Parallel(2, backend=backend, timeout=SECONDS)(jobs), expected)
