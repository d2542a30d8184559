"""Labels and weights as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anchorview.data.labels import check_weights, encode_labels


@pytest.mark.parametrize(
    ("y", "classes", "class_ids"),
    [
        ([0, -1, 2, 0], [0, 2], [0, -1, 1, 0]),
        ([-2, 5, -1, -2], [-2, 5], [0, 1, -1, 0]),
        ([3.0, np.nan, 1.0, np.nan], [1, 3], [1, -1, 0, -1]),
        (["b", "", "a", None], ["a", "b"], [1, -1, 0, -1]),
        ([True, False, True, True], [False, True], [1, 0, 1, 1]),
        (None, [], [-1, -1, -1, -1]),
    ],
)
def test_labels_are_numbered_in_the_order_of_the_classes(y: Any, classes: list[Any], class_ids: list[int]) -> None:
    found, numbers = encode_labels(y, 4)
    assert found.tolist() == classes
    assert numbers.tolist() == class_ids


def test_a_value_of_ones_own_for_no_label() -> None:
    assert encode_labels([9, 0, 1], 3, unlabelled=9)[1].tolist() == [-1, 0, 1]


def test_minus_one_beside_one_only_is_a_class() -> None:
    with pytest.warns(UserWarning, match="read as two classes"):
        assert encode_labels([-1, 1, 1], 3)[1].tolist() == [0, 1, 1]
    assert encode_labels([-1, 1, 1], 3, np.array([0, 1]))[1].tolist() == [-1, 0, 0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0, -0.5, 1.0], "row 1 has -0.5"), ([1.0, np.nan, np.inf], "2 such rows"), ([0.0] * 3, "zero for every row")],
)
def test_weights_that_cannot_work_are_named(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 3)


def test_weights_of_one_are_no_weights() -> None:
    assert check_weights(None, 3) is None
    assert check_weights([1, 1, 1], 3) is None
    np.testing.assert_array_equal(check_weights([0, 2, 1], 3), [0.0, 2.0, 1.0])
    np.testing.assert_array_equal(check_weights(2.0, 3), [2.0, 2.0, 2.0])


def test_blank_text_is_no_class() -> None:
    for y in (
        ["a", " ", "b", "\t"],
        np.array(["a", "  ", "b", ""]),
        [b"a", b" ", b"b", b""],
        np.array(["a", " ", "b", None]),
    ):
        classes, class_ids = encode_labels(y, 4)
        assert len(classes) == 2 and class_ids.tolist() == [0, -1, 1, -1]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_minus_one_in_an_unsigned_array_is_refused(dtype: type) -> None:
    y = np.array([0, 1, -1, 1]).astype(dtype)
    with pytest.raises(ValueError, match=r"row 2 holds \d+, which is what -1 becomes.*signed"):
        encode_labels(y, 4)
    assert encode_labels(np.array([0, 1, 200, 1], dtype=dtype), 4)[1].tolist() == [0, 1, 2, 1]
