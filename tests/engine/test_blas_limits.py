"""BLAS has one thread while anybody works on blocks, and what it had before once nobody does."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from anchorview import FSSMSC, ActiveSet
from anchorview.engine.blocks import OneThreadHere, iter_blocks, one_blas_thread
from support.processes import run
from support.settled import CHOSEN

MANY = 3  # more than there are cores here, so that nothing sets it by chance


def blas_threads() -> list[int]:
    """What BLAS may use, read afresh."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def in_a_thread(function: Callable[[], Any]) -> Any:
    """Call in a new thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.fixture(autouse=True)
def many_threads() -> Iterator[list[int]]:
    """Let BLAS have several threads, whatever the machine and the runner, and demand that it has them afterwards."""
    with threadpool_limits(MANY, user_api="blas"):
        before = blas_threads()
        assert set(before) == {MANY}
        yield before
        assert blas_threads() == before
        assert in_a_thread(blas_threads) == before


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_the_last_of_two_threads_restores_whoever_entered_first(
    first_leaves_first: bool, many_threads: list[int]
) -> None:
    entered, leave = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]

    def hold(number: int) -> None:
        with one_blas_thread():
            entered[number].set()
            assert leave[number].wait(10)

    with ThreadPoolExecutor(2) as pool:
        held = []
        for number in (0, 1):
            held.append(pool.submit(hold, number))
            assert entered[number].wait(10)
        for number in (0, 1) if first_leaves_first else (1, 0):
            assert set(blas_threads()) == {1}
            leave[number].set()
            held[number].result(10)
        assert blas_threads() == many_threads


@pytest.mark.parametrize("n_threads", [2, 4, 8])
def test_any_order_of_entering_and_leaving(n_threads: int) -> None:
    def hold(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            with one_blas_thread():
                time.sleep(rng.random() * 2e-4)
                with one_blas_thread():
                    assert set(blas_threads()) == {1}
                assert set(blas_threads()) == {1}
            time.sleep(rng.random() * 2e-4)

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(hold, range(n_threads)))


def test_threads_that_are_the_first_to_ask_share_one_limit() -> None:
    """In a new process, where nobody has looked for BLAS yet."""
    script = """
import threading
from anchorview.engine.blocks import _blas_limits
barrier, found = threading.Barrier(8), []
def ask():
    barrier.wait()
    found.append(_blas_limits())
threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 8 and len(set(map(id, found))) == 1
"""
    run([sys.executable, "-c", script], seconds=60)


@pytest.mark.parametrize("repetition", range(8))
def test_fits_and_predictions_in_threads_leave_blas_as_it_was(some_digits: SimpleNamespace, repetition: int) -> None:
    views, y = some_digits.views[::2], some_digits.y[::2]
    n_clusters = [None, None, 10][repetition % 3]  # every third clusters, by scikit-learn's k-means
    settled = CHOSEN if repetition else {}  # the first judges settings, too

    def fit(seed: int) -> tuple[np.ndarray, np.ndarray]:
        given = None if n_clusters else y
        model = FSSMSC(n_clusters, n_landmarks=20, solver=ActiveSet(tol=1e-2), random_state=seed, **settled).fit(
            views, given
        )
        return model.labels_, model.predict_proba(views)

    n_threads = 2 + repetition % 4
    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(fit, [0] * n_threads))
    assert set(blas_threads()) == {MANY}
    labels, probabilities = fit(0)
    for other_labels, other_probabilities in found:
        np.testing.assert_array_equal(other_labels, labels)
        np.testing.assert_array_equal(other_probabilities, probabilities)


def test_the_limit_is_what_blas_works_with() -> None:
    """Not a number only: within the block one thread multiplies, after it several."""

    def cpu_of_other_threads() -> float:
        """Return the share of processor time that threads other than this one spend on products."""
        before = time.process_time(), time.thread_time()
        for _ in range(4):
            _ = matrix @ matrix
        everybody, here = time.process_time() - before[0], time.thread_time() - before[1]
        return (everybody - here) / everybody

    matrix = np.random.default_rng(0).normal(size=(900, 900))
    with one_blas_thread():
        time.sleep(0.1)  # threads that have just worked wait busily for more
        assert cpu_of_other_threads() < 0.2
    assert cpu_of_other_threads() > 0.2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_within_restores(error: type[BaseException]) -> None:
    with pytest.raises(error), one_blas_thread():
        assert set(blas_threads()) == {1}
        raise error
    with pytest.raises(error), one_blas_thread():
        list(iter_blocks(lambda item: (_ for _ in ()).throw(error), range(4), 2))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of signals")
def test_interrupts_at_any_moment_restore(many_threads: list[int]) -> None:
    """Signals that come while a holder enters and leaves, 300 of them a random moment apart."""
    rng = np.random.default_rng(0)
    caught = 0
    for _ in range(300):
        try:
            end = time.perf_counter() + 5
            signal.setitimer(signal.ITIMER_REAL, 2e-5 + rng.random() * 2e-4)
            while time.perf_counter() < end:
                with one_blas_thread():
                    pass
        except KeyboardInterrupt:
            caught += 1
        assert blas_threads() == many_threads
    assert caught == 300


@pytest.fixture(autouse=True)
def alarm_interrupts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let SIGALRM raise KeyboardInterrupt, as Ctrl-C does."""
    if not hasattr(signal, "SIGALRM") or "interrupts" not in request.node.name:
        yield
        return
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    gc.disable()  # Python drops an exception in a callback of the collector, and hypothesis has one: a signal was lost
    yield
    gc.enable()
    signal.signal(signal.SIGALRM, old)


def test_a_generator_left_alone_gives_the_limit_back(many_threads: list[int]) -> None:
    results = iter_blocks(lambda item: item, range(5), 2)
    assert next(results) == 0
    assert set(blas_threads()) == {1}
    in_a_thread(results.close)  # collected by another thread, say
    assert blas_threads() == many_threads


def test_limits_set_by_somebody_else_stand(many_threads: list[int]) -> None:
    with threadpool_limits(2, user_api="blas"):
        in_a_thread(lambda: FSSMSC(2, n_landmarks=4).fit(np.random.default_rng(0).normal(size=(30, 4))))
        assert set(blas_threads()) == {2}
        with one_blas_thread():
            KMeans(2, n_init=1).fit(np.eye(4))  # has a limit of its own within ours
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}
    assert blas_threads() == many_threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_another_thread_works_has_all_its_threads() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        assert entered.wait(10)
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # ends it, should it hang: nobody else would
            os._exit(0 if set(blas_threads()) == {MANY} else 1)
        leave.set()
        held.result(10)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_pools_with_a_limit_for_each_thread_are_held_in_each() -> None:
    """OpenMP's own pools are such ones; OpenBLAS has them where it is built on OpenMP."""
    pools = [pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "openmp"]
    limit = OneThreadHere(pools)
    with threadpool_limits(MANY, user_api="openmp"):

        def limits() -> list[int]:
            return [pool.num_threads for pool in pools]

        def hold() -> tuple[list[int], list[int]]:
            before = limits()
            limit.hold("one")
            limit.hold("two")
            limit.hold("two", False)
            within = limits()
            limit.hold("one", False)
            assert limits() == before
            return before, within

        limit.hold("main")
        assert set(in_a_thread(hold)[1]) == {1}
        assert set(limits()) == {1}
        limit.hold("main", False)
        assert set(limits()) == {MANY}
