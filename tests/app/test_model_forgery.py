"""Forged model files: every array of every kind of model is made shorter and longer, and the file is refused."""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from anchorview import ModelFileError, TableViews, load, save
from anchorview.app.model_arrays import describe_array
from anchorview.app.model_rows import CHECKS
from anchorview.fssmsc import FSSMSC
from anchorview.model.model import OfRows, names_declared
from support.models import fitted, quick

# Nothing that is stored is computed from these: how a fit went, step by step, and landmarks that the user gave, which
# the next fit checks. The state of a random generator checks itself.
RECORDS = ("objective_history_", "residual_history_", "random_state", "cv_results_")
PARAMETERS = (".landmarks",)
OF_ROWS = names_declared(FSSMSC, OfRows)
PLACES = {
    "_coordinates",
    "_code_space",
    "_unlikeness",
    "_kept",
    "_kept_plain",
}  # what other labels need too
KINDS = ("text", "admm", "clusters", "gaps", "frame", "pairs", "auto", "pipeline", "weighted search", "text search")


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name != "manifest.json"]
        arrays = {name: np.load(io.BytesIO(archive.read(name))) for name in names}
        return json.loads(archive.read("manifest.json")), arrays


def write(path: Path, manifest: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    manifest["members"] = {name: describe_array(array) for name, array in arrays.items()}
    with ZipFile(path, "w", ZIP_STORED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.save(stream, array)
            archive.writestr(name, stream.getvalue())


def fields(manifest: dict[str, Any]) -> dict[str, Any]:
    return manifest["model"]["object"][1]["fitted"]


def refuse(folder: Path, manifest: dict[str, Any], arrays: dict[str, np.ndarray], words: str) -> None:
    write(folder / "forged", manifest, arrays)
    with pytest.raises(ModelFileError, match=re.escape(words)):
        load(folder / "forged")


def used_at(tree: Any, where: str = "") -> Iterator[tuple[int, str]]:
    """Yield the number of each array in the tree, and where it is."""
    if isinstance(tree, list):
        for item in tree:
            yield from used_at(item, where)
    elif isinstance(tree, dict):
        for key, item in tree.items():
            inner = f"{where}.{key}" if key not in ("object", "parameters", "fitted", "dict", "tuple") else where
            if key in ("array", "numbers", "scalars") and isinstance(item, int):
                yield item, where
            elif key == "sparse":
                for number in item[2:]:
                    yield number, where
            elif key == "texts":
                for number in item:
                    yield number, where
            elif key == "dict":
                keys, values = item
                if isinstance(keys, list) and isinstance(values, list):
                    for name, value in zip(keys, values, strict=True):
                        yield from used_at(value, f"{where}.{name}" if isinstance(name, str) else where)
                        yield from used_at(name, where)
                else:
                    yield from used_at(item, where)
            else:
                yield from used_at(item, inner)


def forgeries(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the array with one row, or column, less and more."""
    for axis in range(array.ndim):
        if array.shape[axis]:
            kept = np.arange(array.shape[axis])
            yield array.take(kept[:-1], axis)
            yield array.take([*kept, kept[-1]], axis)
        else:
            shape = tuple(1 if i == axis else size for i, size in enumerate(array.shape))
            yield np.zeros(shape, array.dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_no_array_may_be_longer_or_shorter(kind: str, tmp_path: Path) -> None:
    path, forged = tmp_path / "whole", tmp_path / "forged"
    save(fitted(kind)[0], path, rows=True)
    manifest, arrays = read(path)
    write(forged, manifest, arrays)
    load(forged)  # forging alone changes nothing
    places: dict[int, str] = {}
    for number, where in used_at(manifest["model"]):
        places.setdefault(number, where)
    assert len(places) == len(arrays)
    loaded, tried = [], 0
    for number, where in places.items():
        name = f"arrays/{number}.npy"
        if where in PARAMETERS or any(record in where for record in RECORDS):
            continue
        for other in forgeries(arrays[name]):
            tried += 1
            write(forged, manifest, arrays | {name: other})
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    load(forged)
            except ModelFileError:
                continue
            loaded.append(f"{where}: {arrays[name].shape} -> {other.shape}")
    assert tried > 20
    assert loaded == []


def test_every_attribute_of_rows_has_a_check() -> None:
    assert set(CHECKS) == {*OF_ROWS, *PLACES}


@pytest.mark.parametrize("name", OF_ROWS)
def test_an_attribute_of_rows_that_was_taken_out(name: str, tmp_path: Path) -> None:
    save(fitted("plain")[0], tmp_path / "whole", rows=True)
    manifest, arrays = read(tmp_path / "whole")
    value = fields(manifest)[name]
    fields(manifest)[name] = 5
    refuse(tmp_path, manifest, arrays, name)
    fields(manifest)[name] = value
    write(tmp_path / "same", manifest, arrays)
    load(tmp_path / "same")
    if name in ("labels_", "codes_", "_runner_up"):
        del fields(manifest)[name]
        refuse(tmp_path, manifest, arrays, name)


# Steps before the model


def texts() -> list[str]:
    words = [["goal", "match", "team"], ["vote", "party", "law"]]
    return [" ".join(words[row % 2][(row + i) % 3] for i in range(1 + row % 3)) for row in range(40)]


def text_pipeline(**parameters: Any) -> Any:
    y = np.where(np.arange(40) < 10, np.arange(40) % 2, -1)
    return make_pipeline(CountVectorizer(**parameters), TfidfTransformer(), quick(n_landmarks=4)).fit(texts(), y)


@pytest.fixture
def pipeline(tmp_path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    save(text_pipeline(), tmp_path / "whole")
    return read(tmp_path / "whole")


def step(manifest: dict[str, Any], number: int) -> dict[str, Any]:
    return manifest["model"]["object"][1]["parameters"]["steps"][number]["tuple"][1]["object"][1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("input", "filename"),
        ("input", "file"),
        ("token_pattern", r"(?:\w+\w+)+$"),
        ("token_pattern", 5),
        ("encoding", "zip"),
        ("analyzer", "nonsense"),
        ("tokenizer", {"type": "<U0"}),
        ("ngram_range", {"tuple": [1, 10**9]}),
        ("stop_words", [1]),
        ("vocabulary", {"dict": [["a"], [7]]}),
        ("dtype", {"dtype": "<U9"}),
    ],
)
def test_parameters_of_steps_that_save_never_writes(
    name: str, value: Any, pipeline: tuple[Any, Any], tmp_path: Path
) -> None:
    manifest, arrays = pipeline
    step(manifest, 0)["parameters"][name] = value
    refuse(tmp_path, manifest, arrays, f"a CountVectorizer of a model file cannot have {name}=")


def test_what_cannot_be_loaded_is_not_saved_either(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"Pipeline\.steps\[0\]\[1\]: a CountVectorizer .* token_pattern='\[a-z\]\+'"):
        save(text_pipeline(token_pattern="[a-z]+"), tmp_path / "model")
    save(text_pipeline(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2), stop_words=["law"]), tmp_path / "model")
    assert load(tmp_path / "model")[0].stop_words == ["law"]


def test_words_in_columns_that_are_not_there(pipeline: tuple[Any, Any], tmp_path: Path) -> None:
    manifest, arrays = pipeline
    places = step(manifest, 0)["fitted"]["vocabulary_"]["dict"][1]
    places[0] = 10**6  # compiled code would read beyond the arrays
    refuse(tmp_path, manifest, arrays, "vocabulary_ of step 'countvectorizer'")


def test_weights_of_words_and_steps_of_other_sizes(pipeline: tuple[Any, Any], tmp_path: Path) -> None:
    manifest, arrays = pipeline
    name = f"arrays/{step(manifest, 1)['fitted']['idf_']['array']}.npy"
    refuse(tmp_path, manifest, arrays | {name: arrays[name][:-1]}, "idf_ of step 'tfidftransformer'")
    step(manifest, 0)["fitted"]["transform"] = 1
    refuse(tmp_path, manifest, arrays, "no fitted attribute")
    del step(manifest, 0)["fitted"]["transform"]
    step(manifest, 0)["fitted"]["_count_vocab"] = 1
    refuse(tmp_path, manifest, arrays, "is a method of CountVectorizer")


def test_categories_beyond_their_columns(tmp_path: Path) -> None:
    cells = np.array([["a", "x"], ["b", "y"], ["c", "x"]] * 10, dtype=object)
    y = np.where(np.arange(30) < 9, np.arange(30) % 3, -1)
    save(make_pipeline(OneHotEncoder(), quick(n_landmarks=3)).fit(cells, y), tmp_path / "whole")
    manifest, arrays = read(tmp_path / "whole")
    step(manifest, 0)["fitted"]["_n_features_outs"] = [2, 2]
    refuse(tmp_path, manifest, arrays, "_n_features_outs of step 'onehotencoder'")


def test_a_table_whose_views_are_not_those_of_the_model(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": texts(), "size": np.arange(40) % 7, "when": ["01.02.2024", "05.03.2024"] * 20})
    y = np.where(np.arange(40) < 10, np.arange(40) % 2, -1)
    save(make_pipeline(TableViews(kinds={"text": "text"}), quick(n_landmarks=4)).fit(frame, y), tmp_path / "whole")
    whole, arrays = read(tmp_path / "whole")
    text, numbers = [one["object"][1] for one in step(whole, 0)["fitted"]["_encoders"][:2]]
    write(tmp_path / "same", whole, arrays)
    load(tmp_path / "same")
    words = text["words"]
    text["words"] = words[:-1]
    refuse(tmp_path, whole, arrays, "_features of step 'tableviews'")
    text["words"] = [*words[:-1], words[0]]
    refuse(tmp_path, whole, arrays, "step 'tableviews'")
    text["words"] = words
    numbers["numbers"][0]["object"][1]["date_format"] = "%Y" * 1000
    refuse(tmp_path, whole, arrays, "step 'tableviews'")


# Headers


@pytest.mark.parametrize("header", ["-" * 9000 + "1", "[" * 9000, "(" * 50 + ")" * 50, "{'descr': '<f8'" * 500])
def test_a_header_without_end_is_an_error_in_words(header: str, tmp_path: Path) -> None:
    save(fitted("plain")[0], tmp_path / "whole")
    with ZipFile(tmp_path / "whole") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    data = header.encode()
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(data)) + data + bytes(64)
    members["arrays/0.npy"] = data
    manifest["members"]["arrays/0.npy"] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    with ZipFile(tmp_path / "forged", "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, part in members.items():
            archive.writestr(name, part)
    with pytest.raises(ModelFileError, match=r"is damaged: 'arrays/0\.npy' cannot be read"):
        load(tmp_path / "forged")


@pytest.mark.parametrize("value", [{"objects": [[10**12], []]}, {"sparse": ["csr_array", [10**15, 10**15], 0, 0, 0]}])
def test_sizes_that_no_memory_holds(value: Any, tmp_path: Path) -> None:
    save(fitted("plain")[0], tmp_path / "whole")
    manifest, arrays = read(tmp_path / "whole")
    fields(manifest)["status_"] = value
    refuse(tmp_path, manifest, arrays, "is not a model that this release can read, or was changed")


def test_memory_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Any:
        raise MemoryError

    save(fitted("plain")[0], tmp_path / "whole")
    monkeypatch.setattr("anchorview.app.model_file.read_arrays", fail)
    with pytest.raises(ModelFileError, match=r"whole asks for more memory than there is"):
        load(tmp_path / "whole")
