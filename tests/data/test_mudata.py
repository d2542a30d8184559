"""MuData in and out, and results as a DataFrame.

Everything runs on a stand-in with the few attributes that are used, and on MuData itself where that is installed.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from anchorview import FSSMSC, Views
from anchorview.datasets import make_multiview_subspaces
from anchorview.export import results_frame, write_results
from support.processes import run
from support.settled import CHOSEN

RNA = np.arange(12, dtype=np.float32).reshape(4, 3) + 1
PEAKS = sparse.csr_matrix(np.array([[0, 7, 0, 1, 0], [2, 0, 0, 0, 0], [0, 0, 3, 0, 4]], dtype=np.float32))
RNA_CELLS, PEAK_CELLS = ["a", "b", "c", "d"], ["d", "e", "a"]


def stand_in(modalities: dict[str, tuple[Any, list[str]]]) -> Any:
    mod = {
        name: SimpleNamespace(X=X, obs_names=pd.Index(cells), layers={"raw": X * 2})
        for name, (X, cells) in modalities.items()
    }
    names = list(dict.fromkeys(cell for _, cells in modalities.values() for cell in cells))
    index = pd.Index(names)
    return SimpleNamespace(mod=mod, obs_names=index, obs=pd.DataFrame(index=index), obsm={}, shape=(len(names), 8))


def real(modalities: dict[str, tuple[Any, list[str]]]) -> Any:
    mudata, anndata = pytest.importorskip("mudata"), pytest.importorskip("anndata")
    mod = {}
    for name, (X, cells) in modalities.items():
        columns = pd.DataFrame(index=[f"{name}{i}" for i in range(X.shape[1])])
        mod[name] = anndata.AnnData(X, obs=pd.DataFrame(index=cells), var=columns, layers={"raw": X * 2})
    return mudata.MuData(mod)


@pytest.fixture(params=[stand_in, real])
def make(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def mdata(make: Any) -> Any:
    return make({"rna": (RNA.copy(), RNA_CELLS), "atac": (PEAKS.copy(), PEAK_CELLS)})


# In


@pytest.mark.parametrize("read", [Views, Views.from_mudata])
def test_modalities_are_views_and_cells_rows(mdata: Any, read: Any) -> None:
    views = read(mdata)
    assert views.names == ["rna", "atac"] and views.sizes == [3, 5]
    assert views.ids.tolist() == views.known_ids.tolist() == ["a", "b", "c", "d", "e"]
    np.testing.assert_array_equal(views.present.T, [[1, 1, 1, 1, 0], [1, 0, 0, 1, 1]])
    np.testing.assert_array_equal(views.arrays[0], [*RNA, [0, 0, 0]])
    assert isinstance(views.arrays[1], sparse.csr_array)
    peaks = PEAKS.toarray()
    np.testing.assert_array_equal(views.arrays[1].toarray(), [peaks[2], 0 * peaks[0], 0 * peaks[0], peaks[0], peaks[1]])
    np.testing.assert_array_equal(mdata.mod["rna"].X, RNA)
    np.testing.assert_array_equal(mdata.mod["atac"].X.toarray(), peaks)


def test_complete_modalities_are_not_copied(make: Any) -> None:
    mdata = make({"rna": (RNA, RNA_CELLS), "protein": (RNA[:, :2].copy(), RNA_CELLS)})
    views = Views(mdata)
    assert views.present is None and views.ids.tolist() == RNA_CELLS
    assert all(np.shares_memory(array, mdata.mod[name].X) for name, array in views.items())


def test_rows_come_in_the_order_of_the_cells(make: Any) -> None:
    """Results are written back by position, so the order is the object's and not that of first appearance."""
    mdata = make({"rna": (RNA, RNA_CELLS), "atac": (PEAKS, PEAK_CELLS)})
    straight = Views(mdata)
    order = ["e", "d", "a", "c", "b"]
    if make is real:
        mdata = mdata[order]
    else:
        mdata.obs_names = pd.Index(order)
    views = Views(mdata)
    assert views.ids.tolist() == order
    rows = [straight.ids.tolist().index(cell) for cell in order]
    np.testing.assert_array_equal(views.to_array(), straight.to_array()[rows])
    np.testing.assert_array_equal(views.present, straight.present[rows])


def test_chosen_modalities_and_layers(mdata: Any) -> None:
    assert Views.from_mudata(mdata, modalities=["atac", "rna"]).names == ["atac", "rna"]
    only = Views.from_mudata(mdata, modalities=["atac"], layer="raw")
    assert only.names == ["atac"] and len(only) == 5  # cells that only the other modality has stay rows
    assert only.arrays[0].sum() == 2 * PEAKS.sum()


def test_names_and_masks_apply(mdata: Any) -> None:
    mask = np.ones((5, 2), dtype=bool)
    mask[0, 0] = False
    views = Views(mdata, names=["x", "y"], mask=mask)
    assert views.names == ["x", "y"]
    np.testing.assert_array_equal(views.present.T, [[0, 1, 1, 1, 0], [1, 0, 0, 1, 1]])


def test_modalities_that_cannot_be_read(mdata: Any) -> None:
    for arguments, message in (
        ({"modalities": ["rna", "protein"]}, "no view 'protein' in the .*; it has 'rna', 'atac', 'rna:layer:raw'"),
        ({"modalities": []}, "views= is empty"),
        ({"layer": "counts"}, r"View 'rna' has no layer 'counts'; it has \['raw'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            Views.from_mudata(mdata, **arguments)
    with pytest.raises(ValueError, match="does not say which views to read of a .*; name some of 'rna', 'atac'"):
        Views(mdata, views=[3, 5])


def test_a_modality_without_features() -> None:
    mdata = stand_in({"rna": (RNA, RNA_CELLS), "atac": (PEAKS, PEAK_CELLS)})
    mdata.mod["rna"].X = None
    with pytest.raises(ValueError, match="View 'rna' has no X; pass layer="):
        Views(mdata)


def test_cells_that_do_not_fit() -> None:
    mdata = stand_in({"rna": (RNA, RNA_CELLS), "atac": (PEAKS, PEAK_CELLS)})
    mdata.obs_names = mdata.obs_names[:4]
    with pytest.raises(ValueError, match=r"View 'atac' has cells that are not in the .*: \['e'\]. Call mdata.update"):
        Views(mdata)
    mdata.mod["rna"].obs_names = pd.Index(["a", "b", "b", "d"])
    with pytest.raises(ValueError, match=r"View 'rna' repeats 1 of its ids: 'b' \(rows 1, 2\)"):
        Views(mdata)
    with pytest.raises(ValueError, match="share variables, not cells"):
        Views(SimpleNamespace(mod={}, obs_names=[], axis=1))


def test_a_file_that_was_not_read_into_memory(tmp_path: Any) -> None:
    mudata = pytest.importorskip("mudata")
    stored = real({"rna": (RNA, RNA_CELLS), "atac": (PEAKS, PEAK_CELLS)})
    stored.write(tmp_path / "cells.h5mu")
    views = Views(mudata.read(tmp_path / "cells.h5mu", backed=True))
    np.testing.assert_array_equal(views.to_array(), Views(stored).to_array())


def test_mudata_is_never_imported_here() -> None:
    code = "import sys; from anchorview import export, Views; Views([[[1.0]]]); print('mudata' in sys.modules)"
    done = run([sys.executable, "-c", code])
    assert done.stdout.strip() == "False"


# Out


class Fitted(BaseEstimator):
    """What a fit of five rows leaves."""

    def __init__(self, full: bool = True) -> None:
        self.full = full
        self.labels_ = np.array(["x", "y", "x", "x", "y"])
        if full:
            self.confidence_ = np.array([1, 0.5, 0.6, 0.7, 0.8])
            self.embedding_ = np.arange(10.0).reshape(5, 2)

    def fit(self, X: Any) -> Fitted:
        return self


def test_results_are_written(mdata: Any) -> None:
    model = Fitted()
    write_results(model, mdata)
    assert mdata.obs["anchorview_label"].tolist() == ["x", "y", "x", "x", "y"]
    assert mdata.obs["anchorview_label"].dtype == "category"
    assert mdata.obs["anchorview_confidence"].tolist() == [1, 0.5, 0.6, 0.7, 0.8]
    np.testing.assert_array_equal(mdata.obsm["X_anchorview"], model.embedding_)
    mdata.obsm["X_anchorview"][:] = -1
    assert model.embedding_[0, 1] == 1  # the model's own is another array


def test_results_survive_a_file(tmp_path: Any) -> None:
    mudata = pytest.importorskip("mudata")
    mdata = real({"rna": (RNA, RNA_CELLS), "atac": (PEAKS, PEAK_CELLS)})
    write_results(Fitted(), mdata, key="run")
    mdata.write(tmp_path / "cells.h5mu")
    back = mudata.read(tmp_path / "cells.h5mu")
    assert back.obs["run_label"].tolist() == ["x", "y", "x", "x", "y"]
    np.testing.assert_array_equal(back.obsm["X_run"], Fitted().embedding_)


def test_nothing_is_replaced_unasked(mdata: Any) -> None:
    write_results(Fitted(full=False), mdata)
    changed = Fitted()
    changed.labels_ = np.array([3, 1, 1, 1, 2])
    with pytest.raises(ValueError, match=r"obs\['anchorview_label'\] would be replaced; pass overwrite=True"):
        write_results(changed, mdata)
    assert "anchorview_confidence" not in mdata.obs and "X_anchorview" not in mdata.obsm
    assert mdata.obs["anchorview_label"].tolist() == ["x", "y", "x", "x", "y"]
    write_results(changed, mdata, overwrite=True)
    assert mdata.obs["anchorview_label"].tolist() == [3, 1, 1, 1, 2]
    with pytest.raises(ValueError, match=r"obs\['anchorview_confidence'\], obsm\['X_anchorview'\] would be replaced"):
        write_results(changed, mdata)
    write_results(changed, mdata, key="other")
    assert "other_label" in mdata.obs and "X_other" in mdata.obsm


def test_results_of_other_rows_are_refused(make: Any) -> None:
    mdata = make({"rna": (RNA, RNA_CELLS)})
    with pytest.raises(ValueError, match="The .* has 4 rows but the model was fitted on 5"):
        write_results(Fitted(), mdata)
    assert list(mdata.obs.columns) == []
    with pytest.raises(NotFittedError):
        write_results(FSSMSC(), mdata)


def test_results_as_a_frame() -> None:
    table = results_frame(Fitted(), index=list("abcde"))
    assert list(table.columns) == ["label", "confidence", "embedding0", "embedding1"]
    assert table.index.tolist() == list("abcde")
    assert table.loc["d"].tolist() == ["x", 0.7, 6.0, 7.0]
    assert results_frame(Fitted(full=False)).shape == (5, 1)
    with pytest.raises(ValueError, match="The index has 4 rows but the model was fitted on 5"):
        results_frame(Fitted(), index=list("abcd"))
    with pytest.raises(NotFittedError):
        results_frame(FSSMSC())


def test_a_fit_goes_there_and_back(make: Any) -> None:
    made = make_multiview_subspaces(60, 3, (6, 4), noise=0.1, random_state=0)
    cells = [f"cell{row}" for row in range(60)]
    mdata = make({"rna": (made.data[0], cells), "atac": (made.data[1], cells)})
    model = FSSMSC(**CHOSEN, n_landmarks=20, random_state=0).fit(Views(mdata), made.target)
    write_results(model, mdata)
    assert mdata.obs["anchorview_label"].tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(mdata.obsm["X_anchorview"], model.embedding_)
    np.testing.assert_array_equal(results_frame(model, index=mdata.obs_names)["confidence"], model.confidence_)


def test_mudata_goes_straight_into_the_estimator(make: Any) -> None:
    """A dense and a sparse modality, each without some of the cells, and labels from a column of `obs`."""
    made = make_multiview_subspaces(90, 3, (6, 8), noise=0.1, nonnegative=True, random_state=0)
    cells = np.array([f"cell{row}" for row in range(90)])
    first, second = np.arange(90) % 5 != 0, np.arange(90) % 5 != 1
    peaks = sparse.csr_matrix(made.data[1][second])
    mdata = make({"rna": (made.data[0][first], cells[first].tolist()), "atac": (peaks, cells[second].tolist())})
    rows = np.array([int(name.removeprefix("cell")) for name in mdata.obs_names])  # cells come in the data's own order
    truth = np.array(["ash", "birch", "cedar"])[made.target[rows]]
    mdata.obs["type"] = np.where(np.arange(90) % 3 == 0, truth, None)
    chosen = {**CHOSEN, "scaling": {"atac": "l2"}, "n_landmarks": 20, "random_state": 0}
    model = FSSMSC(**chosen).fit(mdata, mdata.obs["type"])
    assert model.view_names_ == ["rna", "atac"] and model.classes_.tolist() == ["ash", "birch", "cedar"]
    same = FSSMSC(**chosen).fit(Views(mdata), mdata.obs["type"])
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert (model.labels_ == truth).mean() > 0.9
    np.testing.assert_array_equal(model.predict(mdata)[1::3], model.labels_[1::3])
    assert model.transform(mdata).shape == (90, 3)
    assert model.score(mdata, truth) == (model.predict(mdata) == truth).mean()
    write_results(model, mdata)
    assert mdata.obs["anchorview_label"].tolist() == model.labels_.tolist()
