"""The row solver in pieces: wherever the kernel pauses, and however little room it has, the codes are the same."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from anchorview.engine.blocks import StoppedError, iter_blocks
from anchorview.solver import codes as codes_module
from anchorview.solver import row_solver
from anchorview.solver.codes import code_gram
from anchorview.solver.elastic_net import ElasticNetEncoder, hessian_of, solve_codes


def make_problem(dtype: type) -> tuple[Any, Any]:
    """E and G whose codes have some 20 non-zeros of 60; the last landmark is a copy of the first."""
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(160, 40))) + 0.3 * rng.normal(size=(160, 40))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    landmarks = np.vstack([rows[:59], rows[:1]])
    return (rows[60:] @ landmarks.T).astype(dtype), landmarks @ landmarks.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("small", [{"BUDGET": 0}, {"BUDGET": 20_000}, {"_CAPACITY": 8}, {"_USUAL": 1}])
def test_codes_do_not_depend_on_the_pieces(dtype: type, small: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    cross, gram = make_problem(dtype)
    whole = ElasticNetEncoder(gram, 0.01, 0.05).encode(cross)
    n_pauses = 0

    def count(share: float) -> None:
        nonlocal n_pauses
        n_pauses += 1

    for name, value in small.items():
        monkeypatch.setattr(row_solver, name, value)
    monkeypatch.setattr(row_solver, "checkpoint", count)
    pieces = ElasticNetEncoder(gram, 0.01, 0.05).encode(cross)
    assert n_pauses > 0
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))


def test_coordinate_descent_goes_on_where_it_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    cross, gram = make_problem(np.float64)
    hessian, linear = hessian_of(gram, 0.01, np.dtype(np.float64)), 3 * cross  # beyond the upper bound
    whole = solve_codes(hessian, linear, 1e-12)
    assert whole.max() == 1.0
    monkeypatch.setattr(row_solver, "BUDGET", 0)
    np.testing.assert_array_equal(solve_codes(hessian, linear, 1e-12).toarray(), whole.toarray())


def test_sums_do_not_depend_on_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    cross, gram = make_problem(np.float64)
    codes, weights = ElasticNetEncoder(gram, 0.01, 0.05).encode(cross), np.linspace(0, 2, len(cross))
    whole = code_gram(codes, weights)
    monkeypatch.setattr(codes_module, "_PAIRS", 1000)
    np.testing.assert_array_equal(code_gram(codes, weights), whole)


def test_blocks_begun_end_when_another_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    cross, gram = make_problem(np.float64)
    monkeypatch.setattr(row_solver, "BUDGET", 0)
    encoder, ends = ElasticNetEncoder(gram, 0.01, 0.05), list[BaseException]()
    encoder.prepare(np.dtype(np.float64))
    begun = threading.Event()

    def encode(number: int) -> None:
        if number == 1:
            begun.wait(60)
            raise ValueError("a block that fails")
        begun.set()
        try:
            while True:
                encoder.encode(cross)
        except BaseException as error:
            ends.append(error)
            raise

    with pytest.raises(ValueError, match="a block that fails"):
        for _ in iter_blocks(encode, [1, 0], 2):
            pass
    assert [type(error) for error in ends] == [StoppedError]
