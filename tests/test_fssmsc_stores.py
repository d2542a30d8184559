"""Fits on rows that are kept in stores: the same as in memory, whatever the store and its chunks, with few reads."""

from __future__ import annotations

import gc
import os
import pickle
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview import FSSMSC, ActiveSet, Views, datasets, open_rows
from anchorview.engine.sources.base import SourceError
from support.stores import DENSE, SPARSE, CountingRows, as_csr_npz, as_npy, as_parquet

N_ROWS = 120
WEIGHTS = {"view_weights": None, "ridge": 3.0, "must_link_weight": 3.0}
CHOSEN = {**WEIGHTS, "readers": "nearest", "n_landmarks": 12, "random_state": 0}


def build(**options: Any) -> FSSMSC:
    return FSSMSC().set_params(**{**CHOSEN, "scaling": ["minmax", "standard", "lsa"], "n_jobs": 1, **options})


@pytest.fixture(scope="module")
def data() -> SimpleNamespace:
    made = datasets.make_multiview_subspaces(N_ROWS, 3, (6, 4), random_state=0)
    counts = np.random.default_rng(0).poisson(0.5 + 2 * (np.arange(30) % 3 == made.target[:, None]))
    arrays = [*(array.astype(np.float32) for array in made.views.arrays), counts.astype(np.float32)]
    y = datasets.hide_labels(made.target, 0.2, random_state=0)
    in_memory = [*arrays[:2], sparse.csr_array(arrays[2])]
    return SimpleNamespace(arrays=arrays, y=y, in_memory=in_memory, model=build().fit(in_memory, y))


def check_same(model: FSSMSC, expected: FSSMSC) -> None:
    """Compare fits; directions of text are kept in whole steps, and rounding may fall to either side of one."""
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.codes_[:].toarray(), expected.codes_[:].toarray(), atol=1e-3)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-3)
    np.testing.assert_allclose(model.confidence_, expected.confidence_, atol=1e-3)


@pytest.mark.parametrize("chunk", [1, 50])
@pytest.mark.parametrize("kind", DENSE)
def test_a_fit_on_dense_stores(data: Any, tmp_path: Path, kind: str, chunk: int) -> None:
    stored = [DENSE[kind](array, tmp_path / f"view{place}", chunk) for place, array in enumerate(data.arrays[:2])]
    views = [*stored, data.in_memory[2]]
    model = build().fit(views, data.y)
    check_same(model, data.model)
    np.testing.assert_array_equal(model.predict(views), data.model.predict(data.in_memory))


@pytest.mark.parametrize("kind", SPARSE)
def test_a_fit_on_sparse_stores(data: Any, tmp_path: Path, kind: str) -> None:
    stored = SPARSE[kind](data.arrays[2], tmp_path / "words", 0)
    assert repr(Views([stored])) == "Views(120 rows; view0: 30 sparse)"
    model = build().fit([*data.arrays[:2], stored], data.y)
    check_same(model, data.model)


@pytest.mark.parametrize("scaling", ["minmax", "l2", "tfidf", "none"])
def test_scalings_of_sparse_stores(data: Any, tmp_path: Path, scaling: str) -> None:
    stored = as_csr_npz(data.arrays[2], tmp_path / "words", 0)
    fits = [build(scaling=scaling).fit([view], data.y) for view in (stored, data.in_memory[2])]
    check_same(*fits)


def test_what_is_left_to_the_fit_is_chosen_alike(data: Any, tmp_path: Path) -> None:
    stored = [as_npy(array, tmp_path / f"view{place}", 0) for place, array in enumerate(data.arrays[:2])]
    fits = [FSSMSC(n_landmarks=12, random_state=0, n_jobs=1).fit(views, data.y) for views in (stored, data.arrays[:2])]
    assert fits[0].chosen_ == fits[1].chosen_
    check_same(*fits)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_are_read_a_fixed_number_of_times() -> None:
    """In order for missing rows, for the scaling (twice for "standard") and for the codes; by number a few more."""
    made = datasets.make_multiview_subspaces(1000, 3, (6, 4), random_state=0)
    y = datasets.hide_labels(made.target, 0.1, random_state=0)
    sources = [CountingRows(array) for array in made.views.arrays]
    model = build(scaling=["minmax", "standard"], solver__max_iter=9, solver__tol=1e-9).fit(sources, y)
    assert model.n_iter_ > 3
    assert (sources[0].n_read == 3).all() and (sources[1].n_read == 4).all()
    for source in sources:  # the landmarks' sample, 500 rows for the weights, labelled rows once and not every round
        assert source.n_taken.max() <= 5


def test_no_view_is_read_as_a_whole() -> None:
    rows = np.random.default_rng(0).random((40_000, 40), dtype=np.float32)
    source = CountingRows(rows)
    FSSMSC(2, n_landmarks=4, scaling="minmax", ridge=3.0, random_state=0, n_jobs=1, solver=ActiveSet(max_iter=2)).fit(
        [source]
    )
    assert 4096 <= source.longest < 40_000
    assert (source.n_read <= 3).all()


def test_ids_masks_and_missing_rows_are_as_in_memory(data: Any, tmp_path: Path) -> None:
    first, second, words = data.arrays
    first = first.copy()
    first[[3, 40]] = np.nan  # these rows lack the view
    ids = [f"row{number}" for number in range(N_ROWS)]
    own_ids = [ids, ids[::-1], ids[10:]]
    in_memory = [first, second[::-1], sparse.csr_array(words[10:])]
    stored = [
        as_parquet(first, tmp_path / "first", 11),
        as_npy(second[::-1], tmp_path / "second", 0),
        as_csr_npz(words[10:], tmp_path / "words", 0),
    ]
    fits = [build().fit(Views(views, ids=own_ids), data.y) for views in (stored, in_memory)]
    check_same(*fits)
    mask = {"view1": np.arange(N_ROWS) % 7 > 0}
    masked = [build(scaling="minmax").fit(Views(v, mask=mask), data.y) for v in (stored[:2], in_memory[:2])]
    check_same(*masked)
    assert Views(stored[:2], mask=mask)[5:8].present.tolist() == [[True, True], [True, True], [True, False]]


def test_one_store_is_cut_into_views_and_columns_are_matched_by_name(data: Any, tmp_path: Path) -> None:
    side_by_side = np.hstack(data.arrays[:2])
    stored = as_parquet(side_by_side, tmp_path / "table", 50)
    fits = [build(views=[6, 4], scaling="minmax").fit(X, data.y) for X in (stored, side_by_side)]
    check_same(*fits)
    names = [f"feature{number}" for number in range(10)]
    by_name = build(views={"a": names[:6], "b": names[6:]}, scaling="minmax").fit(stored, data.y)
    check_same(by_name, fits[0])
    turned = open_rows(tmp_path / "table", columns=names[::-1])
    np.testing.assert_array_equal(by_name.predict(turned), by_name.predict(stored))
    one, listed, expected = (
        build(scaling="minmax").fit(X, data.y) for X in (tmp_path / "table", [str(tmp_path / "table")], side_by_side)
    )
    check_same(one, expected)
    check_same(listed, expected)


def test_weights_count_in_stores(data: Any, tmp_path: Path) -> None:
    weights = np.random.default_rng(1).integers(0, 3, N_ROWS)
    stored = [as_npy(array, tmp_path / f"view{place}", 0) for place, array in enumerate(data.arrays[:2])]
    stored.append(as_csr_npz(data.arrays[2], tmp_path / "words", 0))
    check_same(*(build().fit(views, data.y, sample_weight=weights) for views in (stored, data.in_memory)))


def test_codes_go_to_files_beyond_the_limit(data: Any) -> None:
    before = set(os.listdir(tempfile.gettempdir()))
    model = build(solver__memory_limit=0).fit(data.in_memory, data.y)
    folders = [name for name in set(os.listdir(tempfile.gettempdir())) - before if name.startswith("anchorview-codes-")]
    assert not sparse.issparse(model.codes_) and "Codes are kept in files" in model.status_ and len(folders) == 1
    check_same(model, data.model)
    assert model.nonzeros_ == data.model.nonzeros_ and model.codes_.nnz == data.model.codes_.nnz
    np.testing.assert_array_equal(model.codes_[[7, 2]].toarray(), data.model.codes_[[7, 2]].toarray())
    np.testing.assert_array_equal(model.suggest_labels(5), data.model.suggest_labels(5))
    kept = pickle.loads(pickle.dumps(model))
    assert sparse.issparse(kept.codes_)
    check_same(kept, data.model)
    del model
    gc.collect()
    assert not set(folders) & set(os.listdir(tempfile.gettempdir()))
    missing = Views(data.in_memory, mask={"view1": np.arange(N_ROWS) % 5 > 0})
    both = (build(solver__memory_limit=limit, relabel=0.6).fit(missing, data.y) for limit in (0, None))
    check_same(*both)
    for limit in (10**12, None):
        assert sparse.issparse(build(solver__memory_limit=limit).fit(data.in_memory, data.y).codes_)
    with pytest.raises(ValueError, match=r"solver\.memory_limit must be"):
        build(solver__memory_limit=-1).fit(data.in_memory, data.y)


def test_a_store_that_changes_ends_the_fit_and_leaves_the_old_model(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "view0.npy"
    stored = as_npy(data.arrays[0], path, 0)
    model = build(scaling="minmax").fit([stored], data.y)
    old = model.labels_
    np.save(path, data.arrays[0] * 2)
    with pytest.raises(SourceError, match=r"view0\.npy has changed since it was opened.*open it again"):
        model.fit([stored], data.y)
    assert model.labels_ is old
    with path.open("r+b") as stream:
        stream.truncate(500)
    with pytest.raises(SourceError, match=r"view0\.npy has changed"):
        model.predict([stored])


def test_values_that_are_not_finite_are_named_by_row(data: Any, tmp_path: Path) -> None:
    rows = data.arrays[0].copy()
    rows[77, 2] = np.inf
    with pytest.raises(ValueError, match="View 'image' contains .* in row 77"):
        build(scaling="minmax").fit({"image": as_npy(rows, tmp_path / "rows", 0)}, data.y)


def test_transformers_and_arrays_get_rows_in_memory(data: Any, tmp_path: Path) -> None:
    from sklearn.preprocessing import StandardScaler

    from anchorview import baselines

    stored = Views([as_npy(array, tmp_path / f"view{place}", 0) for place, array in enumerate(data.arrays[:2])])
    in_memory = Views(data.arrays[:2])
    mapped, expected = stored.map(StandardScaler()), in_memory.map(StandardScaler())
    np.testing.assert_array_equal(mapped.arrays[1], expected.arrays[1])
    np.testing.assert_array_equal(stored.to_array(), in_memory.to_array())
    rival = baselines.ConcatKMeans(3, random_state=0)
    np.testing.assert_array_equal(rival.fit(stored).labels_, rival.fit(in_memory).labels_)


def test_backed_annotated_data_stay_on_disk(data: Any, tmp_path: Path) -> None:
    import anndata
    import mudata

    first, second, words = data.arrays
    cells = [f"cell{number}" for number in range(N_ROWS)]
    obs = {"obs": {"kind": data.y}, "obsm": {"X_pca": second}}
    adata = anndata.AnnData(sparse.csr_matrix(words), **obs)
    adata.obs_names = cells
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert Views(backed).is_stored and Views(backed).ids.tolist() == cells
    asked = {"views": ["X", "obsm:X_pca"], "scaling": {"X": "lsa", "obsm:X_pca": "standard"}}
    expected = build(**asked).fit(adata, data.y)
    check_same(build(**asked).fit(backed, data.y), expected)
    paths = {"X": open_rows(tmp_path / "cells.h5ad"), "obsm:X_pca": open_rows(tmp_path / "cells.h5ad", "obsm/X_pca")}
    check_same(build(scaling=asked["scaling"]).fit(paths, data.y), expected)
    backed.file.close()

    protein = anndata.AnnData(first[20:])
    protein.obs_names = cells[20:]
    mdata = mudata.MuData({"rna": adata, "protein": protein})
    mdata.write_h5mu(tmp_path / "cells.h5mu")
    opened = mudata.read_h5mu(tmp_path / "cells.h5mu", backed="r")
    assert Views(opened).is_stored
    scaling = {"rna": "tfidf", "protein": "minmax"}
    check_same(*(build(scaling=scaling).fit(given, data.y) for given in (opened, mdata)))
    assert open_rows(tmp_path / "cells.h5mu", "mod/protein/X").shape == (100, 6)
    opened.file.close()
