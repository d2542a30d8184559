"""Numbers too large to compute with are refused by view and row, whatever the scaling."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC, AnchorViewClassifier, Views, open_rows
from anchorview.data.validation import check_magnitude

RNG = np.random.default_rng(0)
TARGET = np.arange(90) % 3
ROWS = RNG.random((90, 8)) + 3 * np.eye(3, 8)[TARGET]
Y = np.where(RNG.random(90) < 0.4, TARGET, -1)
SCALINGS = ("auto", "minmax", "symmetric", "standard", "l2", "tfidf", "lsa", "none")


def spoilt(value: float, dtype: Any, as_sparse: bool = False) -> Any:
    rows = ROWS.astype(dtype)
    rows[7, 2] = value
    return sparse.csr_array(rows) if as_sparse else rows


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize(("value", "dtype"), [(1.7e308, "f8"), (-1.7e308, "f8"), (3.4e38, "f4"), (-3.4e38, "f4")])
def test_a_fit_refuses_them_for_every_scaling(value: float, dtype: str, as_sparse: bool) -> None:
    models: list[Any] = [AnchorViewClassifier(20, random_state=0)]
    models += [FSSMSC(n_landmarks=20, scaling=kind, random_state=0) for kind in SCALINGS]
    for model in models:
        if as_sparse and model.scaling in ("symmetric", "standard"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=r"View 'b' holds .*e\+.* in row 7, too large to compute with"):
                model.fit({"a": ROWS, "b": spoilt(value, dtype, as_sparse)}, Y)


@pytest.mark.parametrize("scaling", ["auto", "minmax", "symmetric", "standard", "l2", "none"])
def test_rows_of_a_store_and_on_dask_are_looked_at_while_they_are_scaled(scaling: str, tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", spoilt(1.7e308, "f8"))
    model = FSSMSC(n_landmarks=20, scaling=scaling, random_state=0)
    for views in (
        {"a": ROWS, "b": open_rows(tmp_path / "b.npy")},
        {"a": da.from_array(ROWS, chunks=(30, -1)), "b": da.from_array(spoilt(1.7e308, "f8"), chunks=(30, -1))},
    ):
        with pytest.raises(ValueError, match=r"View 'b' holds 1.7e\+308 in row 7, too large to compute with"):
            model.fit(views, Y)


@pytest.mark.parametrize("model", [FSSMSC(n_landmarks=20, random_state=0), AnchorViewClassifier(20, random_state=0)])
def test_predictions_refuse_them_too(model: Any) -> None:
    for dtype, value in (("f8", 1.7e308), ("f4", -3.4e38)):
        for as_sparse in (False, True):
            whole = sparse.csr_array(ROWS.astype(dtype)) if as_sparse else ROWS.astype(dtype)
            model.fit({"a": ROWS, "b": whole}, Y)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for answer in (model.predict, model.predict_proba, model.transform):
                    with pytest.raises(ValueError, match="View 'b' holds .* in row 7, too large"):
                        answer({"a": ROWS, "b": spoilt(value, dtype, as_sparse)})


def test_rows_of_later_chunks_have_their_own_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anchorview.model.predicting.CHUNK_ROWS", 5)
    model = FSSMSC(n_landmarks=20, scaling="minmax", random_state=0).fit([ROWS], Y)
    with pytest.raises(ValueError, match="in row 7, too large"):
        model.predict([spoilt(1.7e308, "f8")])


def test_rows_without_the_view_and_infinity_are_not_its_business() -> None:
    views = Views([spoilt(1.7e308, "f8")])
    present = np.ones((90, 1), dtype=bool)
    present[7] = False
    check_magnitude(views, present)
    check_magnitude(Views([spoilt(np.inf, "f8")]))
    check_magnitude(Views([spoilt(1e301, "f8"), spoilt(1e32, "f4"), ROWS.astype(np.int64)]))
    check_magnitude(Views([spoilt(1e151, "f8"), spoilt(1e16, "f4")]), unscaled=True)
    with pytest.raises(ValueError, match="row 107 "):
        check_magnitude(Views([spoilt(1e160, "f8")], ids=np.arange(90) + 500), first_row=100, unscaled=True)
