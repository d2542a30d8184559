"""Arrays of model files: what is packed."""

from __future__ import annotations

import io
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from anchorview.app.model_arrays import parse_array, write_array

RNG = np.random.default_rng(0)
ROWS = RNG.random((200, 30), dtype=np.float32).astype(np.float64)
GRAM = ROWS @ ROWS.T
BITS = RNG.integers(0, 2**62, 20_000).view(np.float64)  # nothing to save


@pytest.mark.parametrize(
    ("array", "form"),
    [
        (GRAM[np.triu_indices(200)], ZIP_DEFLATED),  # a tenth is saved
        (RNG.normal(size=(200, 50)).astype(np.float32), ZIP_DEFLATED),
        (BITS, ZIP_STORED),
        (RNG.integers(-9, 9, (300, 20), dtype=np.int8), ZIP_DEFLATED),
    ],
)
def test_arrays_are_packed_where_that_saves_space(array: np.ndarray, form: int) -> None:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        write_array(archive, "arrays/0.npy", array)
    with ZipFile(stream) as archive:
        (member,) = archive.infolist()
        assert member.compress_type == form
        np.testing.assert_array_equal(parse_array(archive.read(member)), array)
