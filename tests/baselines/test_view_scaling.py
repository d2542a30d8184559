"""Scaling of views as the published methods do it, also of rows that come later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import Views
from anchorview.baselines._new_rows import NewRowScaling
from anchorview.baselines._scaling import SCALINGS, check_nonnegative, scale_views
from anchorview.core.arrays import squared_norms
from support.slow_ways import FORMS, made_rows


def scaled(array: Any, kind: str) -> Any:
    return scale_views(Views([array]), kind)[0]


def test_scalings_of_dense_views() -> None:
    rows = made_rows()
    np.testing.assert_array_equal(scaled(rows, "none"), rows)
    np.testing.assert_allclose(squared_norms(scaled(rows, "l2")), 1.0)
    np.testing.assert_allclose(np.abs(scaled(rows, "sum")).sum(axis=1), 1.0)
    standard = scaled(rows, "standard")
    np.testing.assert_allclose(standard.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(standard.std(axis=0, ddof=1), 1.0)
    by_row = scaled(rows, "row_standard")
    np.testing.assert_allclose(by_row.mean(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(by_row.std(axis=1, ddof=1), 1.0)
    minmax = scaled(rows, "minmax")
    np.testing.assert_allclose(minmax.min(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(minmax.max(axis=0), 1.0)


@pytest.mark.parametrize("kind", ["none", "l2", "sum", "standard", "minmax", "row_standard"])
@pytest.mark.parametrize("form", FORMS)
def test_constant_and_zero_parts_do_not_become_nan(kind: str, form: Any) -> None:
    rows = made_rows()
    rows[:, 2], rows[5], rows[6] = 0.1, 0.0, 3.0
    found = scaled(form(rows), kind)
    assert sparse.issparse(found) == (form is sparse.csr_array)
    dense = found.toarray() if sparse.issparse(found) else found
    assert np.isfinite(dense).all()
    if kind in ("standard", "minmax") and form is np.asarray:
        full = made_rows()
        full[:, 2] = 0.1
        assert (scaled(full, kind)[:, 2] == 0).all()
    if kind == "row_standard" and form is np.asarray:
        assert (dense[5:7] == 0).all()


def test_sparse_views_are_divided_as_dense_ones_but_not_shifted() -> None:
    rows = np.abs(made_rows())
    for kind in ("none", "l2", "sum", "minmax"):
        np.testing.assert_allclose(scaled(sparse.csr_array(rows), kind).toarray(), scaled(rows, kind), atol=1e-14)
    for axis, kind in ((0, "standard"), (1, "row_standard")):
        found = scaled(sparse.csr_array(rows), kind).toarray()
        np.testing.assert_allclose(found, rows / rows.std(axis=axis, ddof=1, keepdims=True), rtol=1e-12)


def test_huge_features_are_scaled_or_refused() -> None:
    rows = made_rows() * 1e200
    for kind in ("l2", "sum", "standard", "minmax", "row_standard"):
        np.testing.assert_allclose(scaled(rows, kind), scaled(made_rows(), kind), atol=1e-12)
    with pytest.raises(ValueError, match="'view0' holds values up to .* overflow"):
        scaled(rows, "none")


def test_scaling_choices_are_checked() -> None:
    views = Views({"a": made_rows(), "b": made_rows()})
    first, second = scale_views(views, ["none", "minmax"])
    assert first.min() < 0 <= second.min()
    with pytest.raises(ValueError, match="scaling='log' \\(view 'a'\\) is not known; choose one of none, l2"):
        scale_views(views, "log")
    with pytest.raises(ValueError, match="lists 1 choices for 2 views"):
        scale_views(views, ["l2"])


@pytest.mark.parametrize("form", FORMS)
def test_negative_features_are_named(form: Any) -> None:
    rows = np.abs(made_rows())
    check_nonnegative([form(rows)], ["text"], "GPSNMF")
    rows[4, 1] = rows[9, 0] = -1.0
    with pytest.raises(ValueError, match="Negative values in data passed to GPSNMF: view 'text', rows 4, 9; use scal"):
        check_nonnegative([form(rows)], ["text"], "GPSNMF")


# New rows


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_of_the_fit_are_scaled_alike_when_they_come_again(scaling: str, form: Any) -> None:
    rows = np.random.RandomState(0).randn(30, 5) * [1, 1e-3, 1e4, 1, 1] + [0, 1, 1e4, 0, 0]
    rows[:, 3] = 0.7  # constant
    rows[rows[:, 4] < 0, 4] = 0.0
    views = Views([form(rows), rows])
    scaled = scale_views(views, scaling)
    again = NewRowScaling(views, scaled, scaling).apply(views[5:9])
    for one, other in zip(scaled, again, strict=True):
        one, other = (x.toarray() if sparse.issparse(x) else x for x in (one[5:9], other))
        np.testing.assert_allclose(other, one, atol=1e-11)


def test_a_view_may_be_sparse_in_the_fit_and_dense_later_or_the_other_way_round() -> None:
    rows = np.abs(np.random.RandomState(0).randn(20, 4))
    for first, second in ((sparse.csr_array, np.asarray), (np.asarray, sparse.csr_array)):
        views = Views([first(rows)])
        scaled = scale_views(views, "standard")
        found = NewRowScaling(views, scaled, "standard").apply(Views([second(rows)]))[0]
        dense = [x.toarray() if sparse.issparse(x) else x for x in (found, scaled[0])]
        np.testing.assert_allclose(dense[0], dense[1], atol=1e-12)
