"""Scaling: each choice against its formula, extreme values, any block of rows, and nothing of the user's changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anchorview import Views
from anchorview.features.auto import resolve_scaling, scaled_cosine
from anchorview.features.scaled import ViewsScaler
from anchorview.features.scaling import check_finite, fit_scaling, working_dtype

SCALINGS = ("minmax", "symmetric", "standard", "l2", "none")  # of dense views

UNIT = ("minmax", "symmetric", "standard", "l2")
ROWS = np.random.default_rng(0).normal(size=(40, 5)) * [1, 10, 0.1, 3, 5] + [0, 5, -2, 100, 1]


def literal(array: npt.ArrayLike, kind: str, fitted_on: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """Scale as the documentation says, in float64 and all at once."""
    x = np.asarray(array, dtype=np.float64)
    train = x if fitted_on is None else np.asarray(fitted_on, dtype=np.float64)
    low, high = train.min(axis=0), train.max(axis=0)
    if kind == "none":
        return x
    if kind == "minmax":
        x = np.where(high > low, (x - low) / np.where(high > low, high - low, 1), 0)
    elif kind == "symmetric":
        x = np.where(high > low, 2 * (x - low) / np.where(high > low, high - low, 1) - 1, 0)
    elif kind == "standard":
        deviation = train.std(axis=0)
        x = np.where(high > low, (x - train.mean(axis=0)) / np.where(high > low, deviation, 1), 0)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(norms > 0, norms, 1)


def scaled(arrays: Any, scaling: Any, n_threads: int = 1) -> npt.NDArray[np.floating]:
    """Scale all rows as the estimators do: the choice is resolved, fitted, applied."""
    views = Views(arrays)
    return all_rows(fit_scaling(views, resolve_scaling(views, scaling), n_threads), views)


def all_rows(scaler: ViewsScaler, views: Views) -> npt.NDArray[np.floating]:
    return scaler.read(views, slice(0, len(views))).dense()


# Formulas


@pytest.mark.parametrize("kind", SCALINGS)
def test_a_view_that_a_row_lacks_is_zero_there_and_no_part_of_the_fit(kind: str) -> None:
    present = np.column_stack([np.arange(40) % 4 > 0, np.arange(40) % 3 > 0])
    views = Views([np.where(present[:, :1], ROWS, 1e6), ROWS])  # whatever stands there
    scaler = fit_scaling(views, kind, present=present)
    expected = np.zeros((40, 10))
    for number, columns in enumerate((slice(0, 5), slice(5, 10))):
        expected[present[:, number], columns] = literal(ROWS[present[:, number]], kind)
    np.testing.assert_allclose(scaler.read(views, slice(0, 40), present).dense(), expected, atol=1e-12)
    some = np.array([8, 3, 0])
    np.testing.assert_allclose(scaler.take(views, some, present).dense(), expected[some], atol=1e-12)


@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_each_choice_is_its_formula(kind: str, n_threads: int) -> None:
    np.testing.assert_allclose(scaled([ROWS], kind, n_threads), literal(ROWS, kind), atol=1e-12)


@pytest.mark.parametrize("kind", SCALINGS)
def test_new_rows_are_scaled_by_what_the_fit_saw(kind: str) -> None:
    train, new = Views([ROWS[:20]]), Views([ROWS[20:] * 3])
    found = all_rows(fit_scaling(train, kind), new)
    np.testing.assert_allclose(found, literal(ROWS[20:] * 3, kind, fitted_on=ROWS[:20]), atol=1e-12)


@pytest.mark.parametrize("kind", UNIT)
def test_rows_have_unit_length_in_each_view(kind: str) -> None:
    found = scaled([ROWS, ROWS[:, :2] * 1e6], kind)
    np.testing.assert_allclose(np.linalg.norm(found[:, :5], axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found[:, 5:], axis=1), 1, atol=1e-12)


def test_each_view_may_have_its_own_choice() -> None:
    expected = np.hstack([literal(ROWS, "l2"), literal(ROWS[:, :3], "standard")])
    arrays = {"image": ROWS, "text": ROWS[:, :3]}
    np.testing.assert_allclose(scaled(arrays, ["l2", "standard"]), expected, atol=1e-12)
    np.testing.assert_allclose(scaled(arrays, {"text": "standard", "image": "l2"}), expected, atol=1e-12)
    one_named = np.hstack([literal(ROWS, "minmax"), literal(ROWS[:, :3], "none")])
    np.testing.assert_allclose(scaled(arrays, {"text": "none"}), one_named, atol=1e-12)


@pytest.mark.parametrize(
    ("scaling", "message"),
    [
        ("zscore", "scaling='zscore' .*choose one of auto, minmax, symmetric, standard, l2, tfidf, lsa, none"),
        (["l2"], "scaling lists 1 choices for 2 views"),
        (["l2", "max"], "scaling='max' .view 'text'. is not known"),
        ({"sound": "l2"}, r"scaling names views that are not there: \['sound'\]; the views are \['image', 'text'\]"),
        (None, "scaling=None .*is not known; choose one of"),
    ],
)
def test_unknown_choices_are_named(scaling: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_scaling(Views({"image": ROWS, "text": ROWS}), scaling)


# Features and rows that say nothing


@pytest.mark.parametrize("kind", ["minmax", "symmetric", "standard"])
@pytest.mark.parametrize("value", [0.0, 3.7, -1e8, 1e-300])
def test_a_constant_feature_is_zero_also_in_new_rows(kind: str, value: float) -> None:
    with_constant = np.column_stack([ROWS, np.full(40, value)])
    scaler = fit_scaling(Views([with_constant]), kind)
    new = with_constant[:3].copy()
    new[:, 5] += 17
    for rows in (with_constant, new):
        found = all_rows(scaler, Views([rows]))
        assert (found[:, 5] == 0).all()
        np.testing.assert_allclose(found[:, :5], literal(rows[:, :5], kind, fitted_on=ROWS), atol=1e-9)


@pytest.mark.parametrize("kind", SCALINGS)
def test_rows_of_zeros_stay_finite(kind: str) -> None:
    rows = ROWS.copy()
    rows[[0, 7]] = 0
    found = scaled([rows], kind)
    np.testing.assert_allclose(found, literal(rows, kind), atol=1e-12)
    if kind in ("l2", "none"):
        assert (found[[0, 7]] == 0).all()


@pytest.mark.parametrize("kind", SCALINGS)
def test_identical_rows_and_a_single_row_are_finite(kind: str) -> None:
    for rows in (np.ones((6, 3)), np.zeros((6, 3)), ROWS[:1]):
        assert np.isfinite(scaled([rows], kind)).all()


# Types and precision


@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int64", "uint64", "bool", "float16"])
def test_integers_and_short_floats(kind: str, dtype: str) -> None:
    rows = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, (30, 4)).astype(dtype)
    if dtype.startswith("int"):
        rows[::3] *= -1
    found = scaled([rows], kind)
    np.testing.assert_allclose(found, literal(rows, kind), atol=2e-6)


def test_bytes_do_not_wrap_around() -> None:
    rows = np.array([[250, 3], [1, 255], [0, 0]], dtype=np.uint8)
    np.testing.assert_allclose(scaled([rows], "standard"), literal(rows, "standard"), atol=1e-6)


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["float32", "float32"], "float32"),
        (["float32", "float64"], "float64"),
        (["uint8", "float16"], "float32"),
        (["int32", "float32"], "float64"),
        (["bool"], "float32"),
        (["int64"], "float64"),
    ],
)
def test_working_precision_loses_nothing(dtypes: list[str], expected: str) -> None:
    views = Views([np.abs(ROWS).astype(dtype) for dtype in dtypes])
    assert working_dtype(views) == expected
    assert fit_scaling(views, "minmax").read(views, slice(0, 3)).dense().dtype == expected


@pytest.mark.parametrize("kind", SCALINGS)
def test_float32_is_within_its_rounding_of_float64(kind: str) -> None:
    narrow = ROWS.astype(np.float32)
    np.testing.assert_allclose(scaled([narrow], kind), literal(narrow, kind), rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("kind", UNIT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [1e8, -1e8])
def test_a_huge_offset_does_not_bias(kind: str, dtype: type, offset: float) -> None:
    rows = (ROWS * 100 + offset).astype(dtype)  # float32 keeps multiples of 8 here
    np.testing.assert_allclose(scaled([rows], kind), literal(rows, kind), atol=5e-6)


@pytest.mark.parametrize("kind", UNIT)
@pytest.mark.parametrize("scale", [1e20, 1e37, 1e-20, 1e-37])
def test_huge_and_tiny_scales_in_float32(kind: str, scale: float) -> None:
    rows = (literal(ROWS, "standard") * scale).astype(np.float32)
    found = scaled([rows], kind)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, literal(rows.astype(np.float64) / scale, kind), atol=5e-6)


@pytest.mark.parametrize("kind", UNIT)
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_huge_and_tiny_scales_in_float64(kind: str, scale: float) -> None:
    rows = literal(ROWS, "standard") * scale
    np.testing.assert_allclose(scaled([rows], kind), literal(rows / scale, kind), atol=1e-9)


@pytest.mark.parametrize("kind", ["minmax", "symmetric", "standard"])
def test_the_whole_range_of_float32(kind: str) -> None:
    """A feature that holds a "no data" value at the end of the range, on either side."""
    rows = np.column_stack([ROWS[:, 0], ROWS[:, 0]]).astype(np.float32)
    rows[3, 1], rows[4, 1] = np.finfo(np.float32).min, np.finfo(np.float32).max
    np.testing.assert_allclose(scaled([rows], kind), literal(rows, kind), atol=5e-6)


def test_unscaled_values_whose_squares_overflow_are_refused() -> None:
    huge = (ROWS * 1e20).astype(np.float32)
    with pytest.raises(ValueError, match="View 'view1' holds values up to .*choose a scaling other than 'none'"):
        scaled([ROWS.astype(np.float32), huge], "none")
    assert np.isfinite(scaled([ROWS.astype(np.float32), huge], ["none", "l2"])).all()


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=finite), st.sampled_from(UNIT))
@settings(max_examples=150, deadline=None)
def test_any_finite_rows_become_unit_rows_or_zero(rows: npt.NDArray[np.float32], kind: str) -> None:
    lengths = np.linalg.norm(scaled([rows], kind).astype(np.float64), axis=1)
    assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()


# Blocks


@given(st.lists(st.integers(0, 39), max_size=60), st.sampled_from(SCALINGS))
@settings(max_examples=60, deadline=None)
def test_any_choice_of_rows_is_the_same_as_the_whole(rows: list[int], kind: str) -> None:
    views = Views([ROWS, ROWS[:, :2].astype(np.float32)])
    scaler = fit_scaling(views, kind)
    index = np.array(rows, dtype=np.intp)
    np.testing.assert_array_equal(scaler.take(views, index).dense(), all_rows(scaler, views)[index])


@given(st.lists(st.integers(0, 40), max_size=4))
@settings(max_examples=30, deadline=None)
def test_any_split_into_blocks_is_the_same_as_the_whole(cuts: list[int]) -> None:
    views = Views([ROWS, ROWS[:, :2]])
    scaler = fit_scaling(views, "minmax")
    edges = [0, *sorted(cuts), 40]
    parts = [scaler.read(views, slice(a, b)).dense() for a, b in zip(edges[:-1], edges[1:], strict=True)]
    np.testing.assert_array_equal(np.concatenate(parts), all_rows(scaler, views))


def test_the_fit_does_not_depend_on_threads_beyond_one_block() -> None:
    rows = np.random.default_rng(2).normal(size=(9000, 3)) + 1e6
    one, two = (fit_scaling(Views([rows]), "standard", n).scalers[0] for n in (1, 2))
    np.testing.assert_array_equal(one.shift, two.shift)
    np.testing.assert_array_equal(one.factor, two.factor)
    np.testing.assert_allclose(one.shift, rows.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(1 / one.factor, rows.std(axis=0), rtol=1e-9)


# The user's arrays


@pytest.mark.parametrize("kind", SCALINGS)
def test_read_only_memory_maps(kind: str, tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="w+", shape=ROWS.shape)
    mapped[:] = ROWS
    mapped.flush()
    read_only = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="r", shape=ROWS.shape)
    np.testing.assert_allclose(scaled([read_only], kind), literal(ROWS, kind), atol=1e-12)


@pytest.mark.parametrize("kind", SCALINGS)
def test_the_users_arrays_are_not_changed(kind: str) -> None:
    arrays = [ROWS.copy(), ROWS.astype(np.float32), (ROWS * 9).astype(np.int32), np.asfortranarray(ROWS)]
    before = [array.copy() for array in arrays]
    views = Views(arrays)
    scaler = fit_scaling(views, kind)
    all_rows(scaler, views)[:] = 9
    scaler.take(views, np.arange(3)).dense()[:] = 9
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


# NaN and infinity


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", SCALINGS)
def test_the_fit_names_view_and_rows_that_are_not_finite(kind: str, bad: float) -> None:
    rows = np.vstack([ROWS] * 120)
    rows[[7, 4500], 2] = bad
    with pytest.raises(ValueError, match="View 'text' contains .* in rows 7, 4500;"):
        fit_scaling(Views({"image": ROWS[:1].repeat(4800, 0), "text": rows}), kind, 2)
    with pytest.raises(ValueError, match="View 'text' contains .* in rows 7, 4500;"):
        check_finite(Views({"text": rows}))


def test_many_bad_rows_are_cut_short() -> None:
    rows = ROWS.copy()
    rows[10:, 0] = np.nan
    with pytest.raises(ValueError, match="in rows 10, 11, 12, 13, 14, …; remove or impute"):
        check_finite(Views([rows]))


def test_text_that_was_filled_in_is_scaled_as_text() -> None:
    rng = np.random.RandomState(0)
    words = rng.poisson(0.03, size=(80, 120)).astype(float)
    pixels = np.where(rng.uniform(size=(80, 120)) < 0.8, 0.0, 1.0)
    few, signed, empty = words[:, :50], -words, np.zeros((80, 120))
    missing = words.copy()
    missing[3] = np.nan
    views = Views([words, pixels, few, signed, empty, missing])
    assert resolve_scaling(views, "auto") == ["lsa", "minmax", "minmax", "standard", "minmax", "lsa"]
    assert resolve_scaling(views, "minmax") == ["minmax"] * 6


def test_rows_that_all_point_the_same_way_are_centred() -> None:
    rng = np.random.RandomState(0)
    spread = rng.uniform(size=(60, 8))
    common = rng.uniform(size=(60, 1))  # brightness: what all features share
    parallel = 5 + common + 0.02 * spread
    parallel[0] = 0  # the minimum is far from the others
    assert resolve_scaling(Views([spread]), "auto") == ["minmax"]
    assert resolve_scaling(Views([parallel, parallel + 1]), "auto") == ["standard", "standard"]
    one_tells_rows_apart = Views([parallel, spread])
    assert resolve_scaling(one_tells_rows_apart, "auto") == ["standard", "minmax"]
    assert resolve_scaling(Views([parallel]), "minmax") == ["minmax"]
    assert resolve_scaling(Views({"a": parallel, "b": parallel}), {"a": "l2"}) == ["l2", "standard"]
    # What stands where a view is missing does not count.
    mask = np.full((60, 1), True)
    mask[1:30] = False
    filled = parallel.copy()
    filled[1:30] = rng.uniform(-100, 100, size=(29, 8))
    assert resolve_scaling(Views([filled], mask=mask), "auto") == ["standard"]


def test_a_constant_or_empty_view_is_not_parallel() -> None:
    assert resolve_scaling(Views([np.ones((5, 3))]), "auto") == ["minmax"]
    assert resolve_scaling(Views([np.full((5, 3), np.nan)]), "auto") == ["minmax"]


def cosine_of_all(array: Any, has_view: Any) -> float:
    """The mean cosine between rows, each column scaled to 0 … 1: written out, for as many rows as are looked at."""
    rows = array.astype(np.float64)[np.ones(len(array), dtype=bool) if has_view is None else has_view]
    rows = rows[np.isfinite(rows).all(axis=1)]
    if len(rows) < 2:
        return 0.0
    rows = rows[:, np.ptp(rows, axis=0) > 0]
    scaled = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit = scaled / np.where(lengths > 0, lengths, 1)
    squares = (unit**2).sum(axis=1).mean() if unit.size else 0.0
    return float((unit.mean(axis=0) ** 2).sum() / squares) if squares else 0.0


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.sampled_from([0, 1, 2, 30, 511, 512, 513, 999]),  # around the blocks that ranges are taken from
    kind=st.sampled_from(["float64", "float32", "int64", "bool", "nan", "infinite", "constant"]),
    masked=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_cosine_of_scaled_rows_is_that_of_all_finite_ones(seed: int, n_rows: int, kind: str, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    array: Any = rng.normal(size=(n_rows, 5)) * 10 ** rng.uniform(-3, 3, size=5) + 5.0 * rng.normal()
    if kind in ("nan", "infinite"):
        array[rng.random(array.shape) < 0.01] = np.nan if kind == "nan" else np.inf
    elif kind == "constant":
        array[:, 1:] = 3.0
    else:
        array = array > 5.0 if kind == "bool" else array.astype(kind)
    has_view = rng.random(n_rows) < 0.7 if masked else None
    assert scaled_cosine(array, has_view) == pytest.approx(cosine_of_all(array, has_view), abs=1e-9)
