"""Models written to files and read back: what they answer, what is left out, and what is refused."""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import anchorview
from anchorview import FSSMSC, ActiveSet, load, save
from anchorview.app.model_file import VERSION
from anchorview.export import results_frame
from anchorview.plotting import plot_summary
from support.models import KINDS, N_ROWS, SHORT, fitted, labels, made, quick, search

DATA = Path(__file__).parent / "data"


def rows_of(X: Any, rows: slice) -> Any:
    if isinstance(X, dict):
        return {name: part[rows] for name, part in X.items()}
    if isinstance(X, list):
        return [part[rows] for part in X]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def last(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def same(first: Any, second: Any) -> bool:
    return first.dtype == second.dtype and first.shape == second.shape and bool((first == second).all())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_same_to_the_last_bit(kind: str, tmp_path: Path) -> None:
    model, X = fitted(kind)
    path = tmp_path / "model.anchorview"
    save(model, path)
    back = load(path)
    assert type(back) is type(model)
    some = rows_of(X, slice(3, 40))
    for method in ("predict", "predict_proba", "transform"):
        assert same(getattr(back, method)(some), getattr(model, method)(some)), method
    if hasattr(some, "iloc"):  # tomorrow's rows come one by one
        assert same(back.predict_proba(some[:1]), model.predict_proba(some[:1]))
    if kind not in ("clusters", "frame"):  # whose RandomState has an address, and whose pandas Index becomes an array
        assert repr(back) == repr(model)
    assert same(last(back).classes_, last(model).classes_)
    assert back.get_params().keys() == model.get_params().keys()
    assert last(back).status_ == last(model).status_
    save(back, tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["gaps", "pairs", "search", "weighted search"])
def test_rows_are_kept_on_demand(kind: str, tmp_path: Path) -> None:
    model = fitted(kind)[0]
    save(model, tmp_path / "model", rows=True)
    back = load(tmp_path / "model")
    of_rows = {"_coordinates", "_code_space", "_unlikeness"}
    assert back.__dict__.keys() == model.__getstate__().keys() - {"_sklearn_version"} | of_rows
    for name in ("labels_", "confidence_", "embedding_"):
        assert same(getattr(back, name), getattr(model, name))
    assert (back.codes_ != model.codes_).nnz == 0
    assert same(back.suggest_labels(5), model.suggest_labels(5))
    assert back.constraint_conflicts_ == model.constraint_conflicts_
    assert results_frame(back).equals(results_frame(model))


def test_what_was_left_out_is_an_attribute_error_with_the_remedy(tmp_path: Path) -> None:
    model, X = fitted("plain")
    save(model, tmp_path / "model")
    back = load(tmp_path / "model")
    for ask in (
        lambda: back.labels_,
        lambda: back.codes_,
        lambda: back.suggest_labels(3),
        lambda: results_frame(back),
        lambda: plot_summary(back),
    ):
        with pytest.raises(AttributeError, match=r"loaded from a file without the rows.*rows=True"):
            ask()
    with pytest.raises(AttributeError, match="'FSSMSC' object has no attribute 'nonsense'"):
        _ = back.nonsense
    assert not hasattr(back, "labels_")
    assert same(copy.deepcopy(back).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="loaded from a file without its rows, so rows=True cannot keep"):
        save(back, tmp_path / "again", rows=True)
    again = back.fit(X, labels())
    assert same(again.labels_, model.labels_)
    save(again, tmp_path / "again", rows=True)
    assert same(load(tmp_path / "again").labels_, model.labels_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["plain", "auto", "text", "pipeline", "search", "all readers", "table"])
def test_the_same_fit_gives_the_same_file(kind: str, tmp_path: Path) -> None:
    for name in ("first", "second"):
        save(fitted.__wrapped__(kind)[0], tmp_path / name, rows=True)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert last(load(tmp_path / "first")).stage_seconds_ == {}


def test_a_search_goes_on_from_a_file_with_rows(tmp_path: Path) -> None:
    model = search(warm_start=True).fit(made().views, labels())
    save(model, tmp_path / "with", rows=True)
    save(model, tmp_path / "without")
    back = load(tmp_path / "with").fit(made().views, labels())
    assert np.isnan(back.cv_results_["mean_fit_time"]).all()  # not judged again; files hold no times
    fresh = load(tmp_path / "without").fit(made().views, labels())
    assert not np.isnan(fresh.cv_results_["mean_fit_time"]).any()
    assert same(fresh.labels_, model.labels_)


def test_the_file_of_many_rows_is_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(20_000, 5)), rng.normal(size=(20_000, 4))]
    y = np.full(20_000, -1)
    y[:60] = np.arange(60) % 3
    model = quick(solver__tol=1.0, solver__max_iter=1).fit(X, y)
    save(model, tmp_path / "small")
    save(model, tmp_path / "large", rows=True)
    assert (tmp_path / "small").stat().st_size < 20_000
    assert (tmp_path / "large").stat().st_size > 1_000_000


@pytest.mark.parametrize("kind", ["plain", "search"])
def test_no_array_has_a_row_for_each_row_of_the_fit(kind: str, tmp_path: Path) -> None:
    options = {**SHORT, "max_graph_rows": 0}  # new rows are compared with those of a graph
    model = search(search_options=options) if kind == "search" else quick()
    save(model.fit(made().views, labels()), tmp_path / "model")
    with ZipFile(tmp_path / "model") as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        shapes = [np.lib.format.read_array(archive.open(name)).shape for name in names]
    assert [shape for shape in shapes if N_ROWS in shape] == []


def test_shared_parts_are_stored_once_and_stay_shared(tmp_path: Path) -> None:
    save(fitted("search")[0], tmp_path / "model")
    back = load(tmp_path / "model")._model
    assert any(branch.scaler is back.embedder.scaler for branch in back.branches)
    assert back.embedder.encoder.grams.complete is back.embedder.encoder.gram
    back = fitted("plain")[0]
    save(back, tmp_path / "plain")
    with ZipFile(tmp_path / "plain") as archive:
        members = json.loads(archive.read("manifest.json"))["members"]
    checksums = [about["sha256"] for about in members.values()]
    assert len(set(checksums)) == len(checksums)


def test_columns_are_still_known_by_name(tmp_path: Path) -> None:
    model, X = fitted("frame")
    save(model, tmp_path / "model")
    back = load(tmp_path / "model")
    assert list(back.feature_names_in_) == list(X.columns)
    assert same(back.predict_proba(X[X.columns[::-1]]), model.predict_proba(X))
    with pytest.raises(ValueError, match="b5"):
        back.predict(X.rename(columns={"b5": "c"}))


# Writing


def test_a_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "model.anchorview"
    path.write_text("something of the user's")
    with pytest.raises(FileExistsError, match=r"model\.anchorview exists.*overwrite=True"):
        save(fitted("plain")[0], path)
    assert path.read_text() == "something of the user's"
    save(fitted("plain")[0], path, overwrite=True)
    assert load(path).n_features_in_ == 14
    assert [item.name for item in tmp_path.iterdir()] == ["model.anchorview"]


def test_a_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    model = copy.copy(fitted("plain")[0])
    model.solver = ActiveSet(omit=[print])
    with pytest.raises(TypeError, match=r"FSSMSC\.solver\.omit\[0\] is a builtins\.builtin_function.*pickle"):
        save(model, path, overwrite=True)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are those of Unix")
def test_no_space_for_the_file(tmp_path: Path) -> None:
    import resource
    import signal

    path = tmp_path / "model"
    save(fitted("plain")[0], path)
    before = path.read_bytes()
    old, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, old[1]))
        with pytest.raises(OSError, match="model cannot be written: files may not become so large here"):
            save(fitted("search")[0], path, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_places_that_cannot_be_written_to(tmp_path: Path) -> None:
    model = fitted("plain")[0]
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder .*none to write model to"):
        save(model, tmp_path / "none" / "model")
    with pytest.raises(TypeError, match="path must name a file"):
        save(model, 5)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


class Mine(FSSMSC):
    """Somebody's subclass."""


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (quick(), NotFittedError, "not fitted"),
        (make_pipeline(quick()), NotFittedError, "not fitted"),
        (
            FunctionTransformer(),
            TypeError,
            "holds a fitted FSSMSC or AnchorViewClassifier, or a Pipeline that ends with one; got Func",
        ),
        (make_pipeline(quick(), FunctionTransformer()), TypeError, "a Pipeline that ends with one"),
        (Mine(), TypeError, "holds a fitted FSSMSC"),
        (5, TypeError, "got 5"),
        (None, TypeError, "got None"),
    ],
    ids=str,
)
def test_what_is_no_model_is_not_saved(model: Any, error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_steps_that_run_functions_of_the_user_are_refused_by_name(tmp_path: Path) -> None:
    pipeline = make_pipeline(FunctionTransformer(np.abs), quick(solver__tol=1.0)).fit(np.hstack(made().data), labels())
    with pytest.raises(TypeError, match=r"Pipeline\.steps\[0\]\[1\] is a sklearn\.preprocessing.*FunctionTransformer"):
        save(pipeline, tmp_path / "model")


def test_the_cache_folder_of_a_pipeline_is_not_in_the_file(tmp_path: Path) -> None:
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(), quick(), memory=str(tmp_path / "cache"))
    pipeline.fit(np.hstack(made().data), labels())
    save(pipeline, tmp_path / "model")
    assert load(tmp_path / "model").memory is None


# Files of earlier releases


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.anchorview")))
def test_files_of_earlier_releases_load(name: str) -> None:
    """Written by `python tests/support/keep_models.py` when its format version was new; never to be written again."""
    model = load(DATA / f"{name}.anchorview")
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as kept:
        X = {view: kept[view] for view in model.view_names_}
        assert model.predict(X).tolist() == kept["labels"].tolist()
        np.testing.assert_allclose(model.predict_proba(X), kept["probabilities"], rtol=1e-4, atol=1e-6)


def test_every_version_has_its_files() -> None:
    kept = {path.stem for path in DATA.glob("*.anchorview")}
    assert {f"{kind}-{version}" for version in range(1, VERSION + 1) for kind in ("fssmsc", "fssmsccv")} <= kept
    assert {f"joined-{version}" for version in range(2, VERSION + 1)} <= kept


def test_the_manifest_tells_what_is_in_the_file(tmp_path: Path) -> None:
    save(fitted("plain")[0], tmp_path / "model")
    with ZipFile(tmp_path / "model") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    assert (manifest["format"], manifest["version"], manifest["class"]) == ("anchorview model", VERSION, "FSSMSC")
    assert manifest["written_with"]["anchorview"] == anchorview.__version__
    assert manifest["model"]["object"][1]["parameters"]["n_landmarks"] == 12
    assert {name: about["size"] for name, about in manifest["members"].items()} | {
        "manifest.json": sizes["manifest.json"]
    } == sizes
    assert os.listdir(tmp_path) == ["model"]
