"""AnnData as input and output: layers, embeddings and labels by name; the same spelling for MuData."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score

from anchorview import FSSMSC, AnchorViewClassifier, Views
from anchorview.baselines import MVAR
from anchorview.datasets import hide_labels, make_multiview_subspaces
from anchorview.export import write_results
from support.settled import CHOSEN

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:.*will be pulled:UserWarning")

MADE = make_multiview_subspaces(120, 3, (6, 4), nonnegative=True, random_state=0)
CELLS = [f"cell{row}" for row in range(120)]
NAMES = np.array(["ash", "birch", "cedar"])
TRUTH = NAMES[MADE.target]
Y = hide_labels(MADE.target, 0.3, random_state=0)
PCA = pd.DataFrame(MADE.data[1], index=CELLS, columns=[f"pc{i}" for i in range(4)])


def make(as_sparse: bool = False) -> Any:
    obs = pd.DataFrame(
        {"celltype": pd.Categorical(np.where(Y < 0, None, NAMES[Y])), "truth": TRUTH, "weight": 1.5}, index=CELLS
    )
    return anndata.AnnData(
        sparse.csr_matrix(MADE.data[0]) if as_sparse else MADE.data[0].copy(),
        obs=obs,
        var=pd.DataFrame(index=[f"gene{i}" for i in range(6)]),
        obsm={"X_pca": MADE.data[1].copy(), "frame": PCA.copy()},
        layers={"counts": sparse.csr_matrix(MADE.data[0] * 2)},
    )


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 30, "random_state": 0, **parameters})


def test_views_by_name_and_labels_from_obs() -> None:
    adata = make()
    views = Views(adata, views=["X", "layer:counts", "obsm:X_pca", "obsm:frame"])
    assert views.names == ["X", "layer:counts", "obsm:X_pca", "obsm:frame"] and views.sizes == [6, 6, 4, 4]
    assert views.ids.tolist() == CELLS and views.features[0][0] == "gene0" and views.features[3][1] == "pc1"
    assert np.shares_memory(views.arrays[0], adata.X) and isinstance(views.arrays[1], sparse.csr_array)
    assert Views(adata).names == ["X"] and Views(adata, views=["layers:counts"]).sizes == [6]
    model = build(views={"genes": "X", "pca": "obsm:X_pca"}).fit(adata, "celltype", sample_weight="weight")
    plain = build().fit({"genes": MADE.data[0], "pca": MADE.data[1]}, adata.obs["celltype"].to_numpy())
    assert model.view_names_ == ["genes", "pca"] and model.classes_.tolist() == NAMES.tolist()
    assert (model.labels_ == plain.labels_).mean() > 0.95
    assert model.score(adata, "truth") == (model.predict(adata) == TRUTH).mean() > 0.9
    assert MVAR(views=["X", "obsm:X_pca"]).fit(adata, "celltype").labels_.shape == (120,)


def test_new_cells_are_matched_by_the_names_of_their_genes() -> None:
    adata = make()
    model = build(views=["X", "obsm:frame"]).fit(adata, "celltype")
    expected = model.predict(adata)
    moved = adata[::-1, ::-1].copy()
    moved.obsm["frame"] = moved.obsm["frame"].iloc[:, ::-1]
    np.testing.assert_array_equal(model.predict(moved)[::-1], expected)
    with pytest.raises(ValueError, match=r"columns of view 'X' are not those .*: it lacks \['gene4', 'gene5'\]"):
        model.predict(adata[:, :4])
    del moved.obsm["frame"]
    np.testing.assert_array_equal(model.predict(moved)[::-1], model.predict({"X": MADE.data[0]}))


def test_results_go_back_to_the_cells_of_their_names() -> None:
    adata = make()
    model = build(views=["X", "obsm:X_pca"]).fit(adata, "celltype")
    other = adata[::-1].copy()
    write_results(model, adata)
    write_results(model, other)
    assert adata.obs["anchorview_label"].tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(adata.obsm["X_anchorview"], model.embedding_)
    assert other.obs["anchorview_label"].tolist() == model.labels_[::-1].tolist()
    np.testing.assert_array_equal(other.obsm["X_anchorview"], model.embedding_[::-1])
    stranger = make()
    stranger.obs_names = [f"x{row}" for row in range(120)]
    with pytest.raises(ValueError, match="not fitted on these cells: 'x0'"):
        write_results(model, stranger)
    assert "anchorview_label" not in stranger.obs


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_backed_file_is_read(tmp_path: Any, as_sparse: bool) -> None:
    adata = make(as_sparse)
    adata.write(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    model = build(views=["X", "obsm:X_pca"]).fit(backed, "celltype")
    same = build(views=["X", "obsm:X_pca"]).fit(adata, "celltype")
    np.testing.assert_array_equal(model.labels_, same.labels_)
    np.testing.assert_array_equal(model.predict(backed[5:9]), model.predict(adata[5:9]))


def test_cross_validation_slices_the_object() -> None:
    adata = make()
    assert cross_val_score(build(views=["X", "obsm:X_pca"]), adata, adata.obs["truth"], cv=2).min() > 0.8


@pytest.mark.parametrize(
    ("views", "y", "message"),
    [
        (["obsm:X_umap"], "celltype", "no view 'obsm:X_umap' in the AnnData; it has 'X', 'layer:counts', 'obsm:X_pca'"),
        (["layer:raw"], "celltype", r"View 'layer:raw' has no layer 'raw'; it has \['counts'\]"),
        ([3, 3], "celltype", "does not say which views to read of a AnnData; name some of 'X', 'layer:counts'"),
        (["X", "X"], "celltype", "View names must differ"),
        ("X", "celltype", "views must be a sequence"),
        (None, "type", r"y='type' is no column of obs, which has \['celltype', 'truth', 'weight'\]"),
    ],
)
def test_what_is_not_there_is_named(views: Any, y: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(views=views).fit(make(), y)


def test_names_need_an_object_to_look_them_up_in() -> None:
    with pytest.raises(ValueError, match="y is the text 'celltype'.* X is a ndarray"):
        build().fit(MADE.data[0], "celltype")
    bare = anndata.AnnData(obs=make().obs, obsm={"X_pca": MADE.data[1]})
    with pytest.raises(ValueError, match="View 'X' has no X; pass layer= or views= .*'obsm:X_pca'"):
        build().fit(bare, "celltype")


def test_cells_whose_names_repeat_go_by_position() -> None:
    adata = make()
    adata.obs_names = ["cell"] * 120
    assert Views(adata).ids is None
    assert build().fit(adata, "celltype").labels_.shape == (120,)


# MuData, by the same names


def joined() -> Any:
    rna = make()
    protein = anndata.AnnData(
        MADE.data[1], obs=pd.DataFrame(index=CELLS), var=pd.DataFrame(index=[f"protein{i}" for i in range(4)])
    )[:90].copy()
    mdata = mudata.MuData({"rna": rna, "protein": protein})
    mdata.obs["celltype"] = rna.obs["celltype"]
    return mdata


def test_modalities_layers_and_embeddings_of_mudata() -> None:
    mdata = joined()
    assert Views(mdata, views=["rna:X", "rna:layer:counts"]).sizes == [6, 6]
    views = Views(mdata, views={"pca": "rna:obsm:X_pca", "protein": "protein"})
    assert views.names == ["pca", "protein"] and views.present[:, 1].sum() == 90
    model = build(views=["rna:layer:counts", "protein"]).fit(mdata, "celltype")
    assert model.view_names_ == ["rna:layer:counts", "protein"]
    assert model.score(mdata, "rna:truth") > 0.8
    np.testing.assert_array_equal(model.predict(mdata[::-1])[::-1], model.predict(mdata))
    alone = mudata.MuData({"rna": mdata.mod["rna"]})  # a modality that is not there is a missing view
    expected = model.predict({"rna:layer:counts": MADE.data[0] * 2})
    np.testing.assert_array_equal(model.predict(alone), expected)
    whole = build().fit(mdata, "celltype")
    np.testing.assert_array_equal(whole.predict(alone), whole.predict({"rna": MADE.data[0]}))
    with pytest.raises(ValueError, match="no view 'rna:obsm:X_umap' in the MuData; it has 'rna', 'protein'"):
        Views(mdata, views=["rna:obsm:X_umap"])


def test_the_genes_of_mudata_are_matched_by_name() -> None:
    mdata = joined()
    model = build().fit(mdata, "celltype")
    moved = mudata.MuData({"rna": mdata.mod["rna"][:, ::-1].copy(), "protein": mdata.mod["protein"].copy()})
    np.testing.assert_array_equal(model.predict(moved), model.predict(mdata))


def test_the_tuner_reads_the_same() -> None:
    adata = make()
    few = {"feature_strengths": (1.0,), "graph_strengths": (0.8,), "ridges": (), "l1s": (), "must_link_weights": ()}
    tuner = AnchorViewClassifier(
        views=["X", "obsm:X_pca"], n_landmarks=20, scaling="minmax", search_options=few, random_state=0
    )
    assert tuner.fit(adata, "celltype").score(adata, "truth") > 0.8
