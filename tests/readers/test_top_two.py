"""The second class of each row."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from anchorview.readers import nearest
from anchorview.readers.base import TopTwo, class_probabilities, runner_up


def test_it_is_the_best_of_the_others_in_every_block() -> None:
    probabilities = np.random.RandomState(0).dirichlet(np.ones(5), size=9000)  # more than two blocks
    class_ids = np.arange(9000) % 5
    seconds, values = runner_up(probabilities, class_ids)
    for row in (0, 4095, 4096, 8999):
        others = {number: p for number, p in enumerate(probabilities[row]) if number != class_ids[row]}
        assert seconds[row] == max(others, key=others.__getitem__)
        assert values[row] == max(others.values())
    assert (seconds != class_ids).all()


def test_a_single_class_has_no_second() -> None:
    seconds, values = runner_up(np.ones((3, 1)), np.zeros(3, dtype=np.intp))
    assert seconds.tolist() == [-1, -1, -1]
    assert values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_rows", [7, 10, 33])
def test_blocks_of_rows_are_joined_in_their_order(n_rows: int, n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "READ_ROWS", 10)
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), size=n_rows).astype(np.float32)
    reader = SimpleNamespace(reads="embedding", temperature=1.0, scores=lambda rows, n_threads: rows)
    found = nearest.likeliest(reader, probabilities, n_threads)
    expected = TopTwo.of(class_probabilities(reader, probabilities))
    for field in dataclasses.fields(TopTwo):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))
        assert getattr(found, field.name).dtype == getattr(expected, field.name).dtype
