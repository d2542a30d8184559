"""Values named by their content: every byte counts, how they lie in memory does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview.core import digest
from anchorview.core.digest import content_key
from anchorview.engine.sources.base import as_stored
from anchorview.solver.elastic_net import ElasticNetEncoder
from anchorview.supervision.constraints import Constraints
from support.stores import CountingRows


def test_keys_tell_contents_apart() -> None:
    rows = np.arange(6.0).reshape(2, 3)
    values = [
        rows,
        rows.T,
        rows + 0.5,
        rows.astype(np.float32),
        sparse.csr_array(rows),
        sparse.csr_array(rows.T),
        [rows, 5],
        [rows, 6],
        {"k": rows},
        None,
        "None",
    ]
    assert len({content_key(value) for value in values}) == len(values)
    assert content_key([rows.copy(), {"k": 5}]) == content_key([rows, {"k": 5}])


def test_the_same_bytes_of_another_type_are_something_else() -> None:
    zeros = [np.zeros(4, dtype=dtype) for dtype in (np.int32, np.uint32, np.float32)]
    assert len({content_key(array) for array in zeros}) == 3
    assert content_key(zeros[0]) != content_key(zeros[0].reshape(2, 2))


def test_every_cell_counts() -> None:
    rows = np.random.default_rng(0).random((211, 7))
    before = content_key(rows)
    for row, column in [(0, 0), (105, 3), (210, 6)]:
        changed = rows.copy()
        changed[row, column] = np.nextafter(changed[row, column], 2)
        assert content_key(changed) != before
    zeros = sparse.random_array((50, 40), density=0.1, format="csr", rng=np.random.default_rng(0))
    moved = zeros.copy()
    moved.indices[moved.indptr[25]] = (moved.indices[moved.indptr[25]] + 1) % 40  # the same values in another column
    assert content_key(moved) != content_key(zeros)


def test_pieces_and_memory_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_BLOCK_BYTES", 100)  # several rows at a time
    rows = np.arange(60.0).reshape(20, 3)
    for same in (np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2], rows.copy()):
        assert content_key(same) == content_key(rows)


@pytest.mark.parametrize(
    "value", [np.empty((0, 3)), np.array(5.0), np.array(["a", "bc"]), np.array([None, "x"], dtype=object), True]
)
def test_odd_values_have_a_key(value: Any) -> None:
    assert content_key(value) == content_key(value.copy() if hasattr(value, "copy") else value)


def test_groups_that_differ_in_their_members_differ() -> None:
    one, other = (
        Constraints.from_groups(cannot=np.array(groups)).resolve(4) for groups in ([0, 0, 1, 1], [0, 1, 0, 1])
    )
    assert content_key(one) != content_key(other)


def test_rows_in_a_store_are_named_by_their_content() -> None:
    rows = np.arange(12.0).reshape(4, 3)
    before = content_key(as_stored(CountingRows(rows), "rows"))
    assert before == content_key(as_stored(CountingRows(rows.copy()), "others"))
    rows[3, 2] += 1
    assert content_key(as_stored(CountingRows(rows), "rows")) != before


def test_what_an_object_has_computed_does_not_change_its_name() -> None:
    encoder = ElasticNetEncoder(np.eye(3), 1.0, 0.1)
    before = content_key(encoder)
    encoder.encode(np.ones((2, 3)))
    assert content_key(encoder) == before != content_key(ElasticNetEncoder(np.eye(3), 1.0, 0.2))
