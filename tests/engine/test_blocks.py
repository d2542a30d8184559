"""Rows in blocks: cut, read from anywhere, worked on by threads, and put together in order."""

from __future__ import annotations

import operator
import time
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from anchorview.engine.blocks import count_threads, iter_blocks, map_blocks, reduce_rows, row_blocks, rows_of

ROWS = np.random.default_rng(0).normal(size=(10, 3))


class StoredRows:
    """Rows kept elsewhere, which can only be read and taken."""

    shape, dtype = ROWS.shape, ROWS.dtype

    def read(self, start: int, stop: int) -> np.ndarray:
        return ROWS[start:stop]

    def take(self, rows: np.ndarray) -> np.ndarray:
        return ROWS[rows]


@given(st.integers(0, 200), st.integers(1, 50))
def test_blocks_hold_each_row_once_and_are_full_but_for_the_last(n_rows: int, size: int) -> None:
    blocks = row_blocks(n_rows, size)
    assert [row for block in blocks for row in range(n_rows)[block]] == list(range(n_rows))
    sizes = [block.stop - block.start for block in blocks]
    assert all(found == size for found in sizes[:-1])
    assert all(0 < found <= size for found in sizes[-1:])


@pytest.mark.parametrize("source", [ROWS, sparse.csr_array(ROWS), StoredRows()])
def test_rows_are_read_wherever_they_are_kept(source: Any) -> None:
    for index in (slice(2, 7), np.array([9, 0, 0])):
        found = rows_of(source, index)
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, ROWS[index])

    def sum_block(rows: Any, block: slice, numbers: np.ndarray, nothing: None) -> list[Any]:
        assert nothing is None
        return [(block, float(rows.sum()), numbers.tolist())]

    sums = reduce_rows(sum_block, operator.add, [], source, 4, 2, (np.arange(10), None))
    assert [(block, numbers) for block, _, numbers in sums] == [(b, list(range(10)[b])) for b in row_blocks(10, 4)]
    np.testing.assert_allclose([total for _, total, _ in sums], [ROWS[block].sum() for block in row_blocks(10, 4)])


@pytest.mark.parametrize("source", [ROWS, sparse.csr_array(ROWS)], ids=["dense", "sparse"])
def test_all_rows_of_an_array_are_not_copied(source: Any) -> None:
    assert rows_of(source, slice(0, 10)) is source


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_threads: int) -> None:
    def slow_at_first(item: int) -> int:
        time.sleep(0.01 if item < 2 else 0.0)
        return item**2

    assert map_blocks(slow_at_first, range(8), n_threads) == [item**2 for item in range(8)]
    assert map_blocks(slow_at_first, [], n_threads) == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blas_has_one_thread_within_a_block_and_what_it_had_after(n_threads: int) -> None:
    def blas_threads(_: int = 0) -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = blas_threads()
    assert set(np.ravel(map_blocks(blas_threads, range(3), n_threads))) == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_block_reaches_the_caller_and_ends_the_work(n_threads: int, error: type[BaseException]) -> None:
    done: list[int] = []

    def fails_early(item: int) -> int:
        if item == 2:
            raise error("row 2")
        time.sleep(0.002)
        done.append(item)
        return item

    with pytest.raises(error, match="row 2"):
        map_blocks(fails_early, range(500), n_threads)
    assert len(done) < 250


def test_results_are_handed_out_one_after_the_other() -> None:
    done: list[int] = []
    results = iter_blocks(lambda item: done.append(item) or item, range(5), 1)
    assert next(results) == 0
    assert done == [0]
    results.close()


def test_number_of_threads() -> None:
    with threadpool_limits(3, user_api="blas"):  # whatever the machine and the runner
        assert [count_threads(n_jobs) for n_jobs in (None, 5, -1, -2, -1000)] == [3, 5, 3, 2, 1]
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        count_threads(0)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blocks_see_what_the_caller_has_set_for_its_context(n_threads: int) -> None:
    """As the client of Dask that is current in a `with` block, or what NumPy is to do about errors."""
    current = ContextVar("current", default="nothing")
    token = current.set("ours")
    try:
        assert map_blocks(lambda item: (item, current.get()), [1, 2, 3], n_threads) == [(k, "ours") for k in (1, 2, 3)]
    finally:
        current.reset(token)
