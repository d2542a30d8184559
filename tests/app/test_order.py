"""Arrays without ids beside files with ids: somebody has to say whose order they have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview.app.errors import DataError, UsageError
from anchorview.app.inputs.gathering import RunData, gather
from anchorview.app.settings import RunSettings, read_settings
from support.command import invoke, quick, read_csv, refused, write_csv

N_ROWS = 60
TRUTH = {f"a{row:02d}": f"c{row % 2}" for row in range(N_ROWS)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an array in one order and a table in another, which is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    classes, ids = np.arange(N_ROWS) % 2, list(TRUTH)
    np.save("emb.npy", rng.rand(N_ROWS, 4) + classes[:, None] * [1, 2, 0, 0])
    order = rng.permutation(N_ROWS)
    sizes = rng.rand(N_ROWS) + classes
    write_csv(
        tmp_path / "meta.csv",
        {"id": [ids[row] for row in order], "size": sizes[order].tolist(), "other": rng.rand(N_ROWS).tolist()},
    )
    write_csv(tmp_path / "index.csv", {"id": ids, "page": list(range(N_ROWS))})
    Path("ids.txt").write_text("\n".join(ids) + "\n")
    np.save("ids.npy", np.array(ids))
    write_csv(tmp_path / "labels.csv", {"id": ids[:16], "label": [TRUTH[row] for row in ids[:16]]})
    quick(tmp_path)
    return tmp_path


VIEWS = "--view", "emb=emb.npy", "--view", "meta=meta.csv:size,other"
WORDS = "fit", *VIEWS, "--labels", "labels.csv", "--id", "id", "--config", "quick.toml"


def test_nothing_is_assumed(folder: Path) -> None:
    line = refused(*WORDS, "-o", "run", code=2)
    assert line.startswith("View 'emb' (emb.npy) has no ids, and meta.csv has: whose order do its rows have?")
    assert "--assume-order" in line and "--order FILE" in line
    assert not Path("run").exists()


@pytest.mark.parametrize("order", ["index.csv", "ids.txt", "ids.npy"])
def test_a_file_says_the_order(folder: Path, order: str) -> None:
    done = invoke(*WORDS, "--order", order, "-o", "run")
    assert done.exit_code == 0, done.output
    assert f"View 'emb' has no ids; rows are taken to be in the order of {order}." in done.stdout
    rows = read_csv(folder / "run" / "labels.csv")
    assert {row["id"] for row in rows} == set(TRUTH)
    assert np.mean([row["label"] == TRUTH[row["id"]] for row in rows]) > 0.95
    notes = json.loads(Path("run/run.json").read_text())["notes"]
    assert any("in the order of" in note for note in notes)
    assert Path(str(read_settings(Path("run/run.toml")).order)).resolve() == folder / order


def embedding_of(data: RunData) -> dict[str, float]:
    """Return the first number of the array, by the id of its row."""
    assert data.ids is not None
    return dict(zip(data.ids.tolist(), data.views.arrays[0][:, 0].tolist(), strict=True))


def test_a_view_says_the_order(folder: Path) -> None:
    settings: dict[str, Any] = {"views": ["emb=emb.npy", "meta=meta.csv:size"], "id": "id", "clusters": 2}
    first = np.load("emb.npy")[:, 0].tolist()
    in_table = [row["id"] for row in read_csv(folder / "meta.csv")]
    for said in ({"order": "meta"}, {"assume_order": True}):
        assert embedding_of(gather(RunSettings(**settings, **said))) == dict(zip(in_table, first, strict=True))
    assert embedding_of(gather(RunSettings(**settings, order="index.csv"))) == dict(zip(TRUTH, first, strict=True))
    with pytest.raises(UsageError, match="--order emb: this view has no ids"):
        gather(RunSettings(**settings, order="emb"))
    with pytest.raises(DataError, match="needs a column 'id'"):
        gather(RunSettings(**settings, order=str(write_csv(folder / "x.csv", {"n": [1]}))))
    Path("twice.txt").write_text("a\na\n")
    with pytest.raises(DataError, match="one id a line, each of them once"):
        gather(RunSettings(**settings, order="twice.txt"))


def test_labels_without_ids(folder: Path) -> None:
    np.save("y.npy", np.array([1, 0] * 30))
    settings: dict[str, Any] = {"views": ["meta=meta.csv:size"], "id": "id", "labels": [folder / "y.npy"]}
    with pytest.raises(UsageError, match="y.npy has no ids, and the rows have: whose order do its labels have"):
        gather(RunSettings(**settings))
    data = gather(RunSettings(**settings, order="index.csv"))
    assert data.ids is not None and data.labels.values is not None
    assert dict(zip(data.ids.tolist(), data.labels.values.tolist(), strict=True)) == {
        name: 1 - row % 2 for row, name in enumerate(TRUTH)
    }


def test_arrays_named_by_the_file_of_labels(folder: Path) -> None:
    write_csv(folder / "all.csv", {"id": list(TRUTH), "label": list(TRUTH.values())})
    settings: dict[str, Any] = {"views": ["emb=emb.npy"], "id": "id", "labels": [folder / "all.csv"]}
    with pytest.raises(UsageError, match=r"View 'emb' \(emb.npy\) has no ids, and .*all.csv has"):
        gather(RunSettings(**settings))
    data = gather(RunSettings(**settings, assume_order=True))
    assert data.ids is not None and data.ids.tolist() == list(TRUTH)


def test_new_rows_too(folder: Path) -> None:
    assert invoke(*WORDS, "--order", "ids.txt", "-o", "run").exit_code == 0
    words = "predict", "run", *VIEWS, "-o", "labels-new.csv"
    assert refused(*words, code=2).startswith("View 'emb' (emb.npy) has no ids, and meta.csv has")
    done = invoke(*words, "--order", "ids.txt")
    assert done.exit_code == 0, done.output
    assert "View 'emb' has no ids; rows are taken to be in the order of ids.txt." in done.stdout
    rows = read_csv(folder / "labels-new.csv")
    assert np.mean([row["label"] == TRUTH[row["id"]] for row in rows]) > 0.95


def test_a_typo_in_an_id_is_named(folder: Path) -> None:
    ids = list(TRUTH)
    write_csv(folder / "more.csv", {"id": ["a0O", *ids[1:]], "n": list(range(N_ROWS))})
    data = gather(RunSettings(views=["meta=meta.csv:size", "more=more.csv:n"], id="id", clusters=2))
    assert data.notes == [
        "View 'meta' is missing in 1 of 61 rows ('a0O').",
        "View 'more' is missing in 1 of 61 rows ('a00').",
    ]
