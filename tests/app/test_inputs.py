"""Files of every kind, read as the views, ids and labels of a run."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
from scipy import sparse

from anchorview.app.errors import DataError
from anchorview.app.inputs.gathering import RunData, gather
from anchorview.app.settings import RunSettings, read_settings
from anchorview.app.view_spec import choose_columns
from support.command import write_csv

ROWS = np.arange(12.0).reshape(4, 3)
IDS = ["a", "b", "c", "d"]


def read(**settings: Any) -> RunData:
    return gather(RunSettings(clusters=2, **settings))


def write(path: Path, array: Any) -> None:
    """Write rows in the form that the name of the file says."""
    if path.name == "v.npy":
        np.save(path, array)
    elif path.name == "dense.npz":
        np.savez(path, X=array, other=np.ones(3))
    elif path.name == "csr.npz":
        sparse.save_npz(path, sparse.csr_array(array))
    elif path.name == "v.mat":
        scipy.io.savemat(path, {"X": array, "gt": [1, 2, 1, 2]})
    elif path.name == "v.zarr":
        pytest.importorskip("zarr").save_array(str(path), array)
    elif path.name == "v.parquet":
        pq.write_table(pa.table({f"c{n}": column for n, column in enumerate(array.T)}), path)
    elif path.name == "list.parquet":
        pq.write_table(pa.table({"emb": pa.array(array.tolist(), pa.list_(pa.float32()))}), path)
    elif path.name == "fixed.parquet":
        pq.write_table(pa.table({"emb": pa.array(array.tolist(), pa.list_(pa.float32(), 3))}), path)
    elif path.name == "v.h5ad":
        pytest.importorskip("anndata").AnnData(array.copy()).write_h5ad(path)
    else:
        text = "c0,c1,c2\n" + "\n".join(",".join(map(str, row)) for row in array.tolist()) + "\n"
        if path.name.startswith("v.tsv"):
            text = text.replace(",", "\t")
        if path.name == "semicolons.csv":
            text = text.replace(",", ";")
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        *["v.npy", "dense.npz:X", "csr.npz", "v.mat:X", "v.zarr", "v.parquet", "list.parquet:emb", "fixed.parquet:emb"],
        *["v.h5ad", "v.csv", "v.csv.gz", "v.tsv", "v.tsv.gz", "semicolons.csv"],
    ],
)
def test_files_of_every_kind(tmp_path: Path, name: str) -> None:
    write(tmp_path / name.partition(":")[0], ROWS)
    data = read(views=[f"some={tmp_path}/{name}"])
    (array,) = data.views.arrays
    assert data.views.names == ["some"]
    np.testing.assert_array_equal(array.toarray() if sparse.issparse(array) else array, ROWS)


def test_numbers_keep_their_precision(tmp_path: Path) -> None:
    for kind in (np.float32, np.float64):
        table = pa.table({f"c{n}": column for n, column in enumerate(ROWS.astype(kind).T)})
        pq.write_table(table, tmp_path / "v.parquet", row_group_size=3)
        (array,) = read(views=[f"v={tmp_path}/v.parquet"]).views.arrays
        assert array.dtype == kind
        assert array.flags.c_contiguous


def test_an_empty_list_is_a_missing_view(tmp_path: Path) -> None:
    table = pa.table({"id": IDS, "emb": [[1.0, 2.0], None, [3.0, 4.0], [5.0, 6.0]], "n": [1.0, 2.0, 3.0, 4.0]})
    pq.write_table(table, tmp_path / "t.parquet")
    data = read(table=tmp_path / "t.parquet", views=["emb=emb", "n=n"], id="id")
    assert np.isnan(data.views.arrays[0][1]).all()
    pq.write_table(table.set_column(1, "emb", pa.array([[1.0], [2.0, 3.0], None, None])), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="t.parquet, column 'emb': lists need one length; row 1 differs"):
        read(table=tmp_path / "t.parquet", views=["emb=emb"])


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_annotated_data_as_the_table(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"kind": ["x", "y", None, "x"]}, index=IDS)
    anndata.AnnData(ROWS.copy(), obs=obs, obsm={"X_pca": ROWS[:, :2].copy()}).write_h5ad(tmp_path / "cells.h5ad")
    data = read(table=tmp_path / "cells.h5ad", label="kind", views=["pca=obsm:X_pca", "all=X"])
    assert data.views.names == ["pca", "all"]
    assert data.ids is not None and data.ids.tolist() == IDS
    assert data.labels.counts == {"x": 2, "y": 1}


def test_a_data_set_with_its_labels(tmp_path: Path) -> None:
    np.savez(tmp_path / "set.npz", v0=ROWS, v1=ROWS[:, :2], y=[0, 1, 1, -1], view_names=["image", "text"])
    data = gather(RunSettings(table=tmp_path / "set.npz"))
    assert data.views.names == ["image", "text"]
    assert data.labels.counts == {1: 2, 0: 1}


def test_ids_and_labels_keep_their_zeros(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", {"id": ["007", "08", "9"], "n": [1, 5, 3], "y": ["01", "02", ""]})
    data = gather(RunSettings(table=path, id="id", label="y", views=["v=n"]))
    assert data.ids is not None and data.ids.tolist() == ["007", "08", "9"]
    assert data.labels.counts == {"01": 1, "02": 1}


@pytest.mark.parametrize("unlabelled", [None, "-1", "nan"])
def test_what_means_no_label(tmp_path: Path, unlabelled: str | None) -> None:
    labels = ["a", "b", "", "-1"] if unlabelled is None else ["a", "b", unlabelled, ""]
    path = write_csv(tmp_path / "t.csv", {"n": [1, 5, 3, 4], "y": labels})
    assert gather(RunSettings(table=path, label="y", unlabelled=unlabelled)).labels.counts == {"a": 1, "b": 1}


def test_labels_in_the_order_of_the_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", ROWS)
    np.save(tmp_path / "y.npy", np.array([3, -1, 4, 3]))
    data = gather(RunSettings(views=[f"v={tmp_path}/v.npy"], labels=tmp_path / "y.npy"))
    assert data.labels.counts == {3: 2, 4: 1}
    write_csv(tmp_path / "y.csv", {"id": IDS, "y": ["p", "q", None, "p"]})  # it names the rows as well
    data = gather(RunSettings(views=[f"v={tmp_path}/v.npy"], labels=tmp_path / "y.csv", id="id"))
    assert data.ids is not None and data.ids.tolist() == IDS
    write_csv(tmp_path / "y.csv", {"id": IDS[:2], "y": ["p", "q"]})
    with pytest.raises(DataError, match="has 2 rows where the views have 4"):
        gather(RunSettings(views=[f"v={tmp_path}/v.npy"], labels=tmp_path / "y.csv", id="id"))


def test_ranges_are_by_number_or_by_place() -> None:
    names = ["id", "x2", "x10", "x1", "x3", "p", "q", "r"]
    assert choose_columns("x1..x3", names, "v", "t", ["id"]) == ["x1", "x2", "x3"]
    assert choose_columns("p..r", names, "v", "t", ["id"]) == ["p", "q", "r"]
    assert choose_columns("x?,q", names, "v", "t", ["id"]) == ["x2", "x1", "x3", "q"]
    with pytest.raises(DataError, match="no column 'x4' of the range x1..x10"):
        choose_columns("x1..x10", names, "v", "t", ["id"])
    assert choose_columns("a,b", ["a,b", "a"], "v", "t", []) == ["a,b"]  # a name with a comma


def test_settings_there_and_back(tmp_path: Path) -> None:
    settings = RunSettings(
        table=tmp_path / 'ta"ble.csv',
        views=["a=emb_*", f"b={tmp_path}/b.npy", f"c={tmp_path}/c.csv:x,y"],
        id="ключ",
        unlabelled="",
        columns={"a b": "text", "emb": "list"},
        seed=3,
        memory_limit=1.5,
        parameters={"scaling": ["minmax", "l2"], "search_options": {"ridges": [1.0]}, "second": True},
    )
    (tmp_path / "run.toml").write_text(settings.to_toml(tmp_path), encoding="utf-8")
    assert read_settings(tmp_path / "run.toml") == settings
    (tmp_path / "sub").mkdir()
    text = 'table = "t.csv"\noutput = "run"\nviews = ["a=emb_*", "b=../b.npy:X"]\n'
    (tmp_path / "sub" / "run.toml").write_text(text)
    found = read_settings(tmp_path / "sub" / "run.toml")
    assert found.table == tmp_path / "sub" / "t.csv"
    assert found.output == tmp_path / "sub" / "run"
    assert "output" not in found.to_toml(tmp_path)
    assert found.views == ["a=emb_*", f"b={tmp_path}/sub/../b.npy:X"]
