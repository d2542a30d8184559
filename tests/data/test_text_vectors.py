"""Text encoders: wordllama without a network, callables and objects, the cache, and model files."""

from __future__ import annotations

import json
import socket
import time
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import anchorview
from anchorview import FSSMSC, TableViews
from anchorview.core.progress import watch
from anchorview.data.text_models import TextModel, load_text_model
from anchorview.data.text_vectors import encode_texts
from support.command import invoke, quick, reviews, write_csv


def lengths(texts: Any) -> Any:
    """Encode a text by its length and its vowels."""
    return np.array([[len(text), sum(text.count(vowel) for vowel in "aeiou"), 1.0] for text in texts])


class Library:
    """An object as sentence-transformers has them."""

    def encode(self, texts: list[str]) -> Any:
        return lengths(texts)


class Generating:
    """An object as fastembed has them."""

    def embed(self, texts: list[str]) -> Any:
        return (row for row in lengths(texts))


TABLE = pd.DataFrame({"text": [*reviews()["text"][:20], None]})


@pytest.mark.parametrize("encoder", [lengths, Library(), Generating()])
def test_callables_and_objects(encoder: Any) -> None:
    transformer = TableViews(text_encoder=encoder)
    views = transformer.fit_transform(TABLE)
    assert views.names == ["text:words", "text:characters", "text:meaning"]
    meaning = views.arrays[2]
    assert meaning.dtype == np.float32 and views.present is not None and not views.present[20, 2]
    np.testing.assert_array_equal(meaning[:20], lengths(TABLE["text"][:20]).astype(np.float32))
    np.testing.assert_array_equal(transformer.transform(TABLE[:5]).arrays[2], meaning[:5])


@pytest.mark.parametrize(
    ("modules", "kind", "library"),
    [(True, "bert", "sentence-transformers"), (True, "model2vec", "model2vec"), (False, "model2vec", "model2vec")],
)
def test_the_package_that_a_folder_needs_is_named(tmp_path: Path, modules: bool, kind: str, library: str) -> None:
    if find_spec(library.replace("-", "_")) is not None:
        pytest.skip(f"{library} is installed")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    if modules:  # folders of model2vec have it too, for sentence-transformers
        (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(ImportError, match=f"needs the package {library}: pip install {library}"):
        TableViews(text_encoder=tmp_path).fit(TABLE)


def test_an_encoder_is_known_by_what_it_gives() -> None:
    """The same model is the same whatever it is called; small encoders may agree by chance, and need the same name."""

    def hashed(texts: Any, size: int) -> Any:
        return [[zlib.crc32(f"{text} {place}".encode()) % 1000 - 500 for place in range(size)] for text in texts]

    class Elsewhere:
        def __init__(self, size: int) -> None:
            self.size = size

        def embed(self, texts: Any) -> Any:
            return hashed(texts, self.size)

    for size in (32, 3):
        transformer = TableViews(text_encoder=lambda texts, size=size: hashed(texts, size)).fit(TABLE)
        transformer.text_encoder = Elsewhere(size)
        if size == 32:
            assert transformer.transform(TABLE).names[-1] == "text:meaning"
        else:
            with pytest.raises(ValueError, match="was encoded by .*<lambda>.* and now by .*Elsewhere"):
                transformer.transform(TABLE)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no model of sentence-transformers or model2vec"):
        TableViews(text_encoder=tmp_path).fit(TABLE)


def test_wordllama_asks_nothing_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama")

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    model = load_text_model("auto")
    assert model is not None and model.name == "wordllama"
    car, auto, bread = encode_texts(model, ["my car is broken", "the automobile is damaged", "fresh bread and butter"])
    cosine = [car @ other / np.linalg.norm(car) / np.linalg.norm(other) for other in (auto, bread)]
    assert cosine[0] > cosine[1] + 0.1


def counting(seen: list[str], digest: str = "1") -> TextModel:
    def encode(texts: list[str]) -> Any:
        seen.extend(texts)
        return lengths(texts)

    return TextModel("counting", digest, encode, digest)


def test_each_text_is_encoded_once(tmp_path: Path) -> None:
    seen: list[str] = []
    for texts in (["a", "bb", "a"], ["bb", "ccc"]):
        assert encode_texts(counting(seen), texts, tmp_path)[:, 0].tolist() == [len(text) for text in texts]
    assert sorted(seen) == ["a", "bb", "ccc"]
    encode_texts(counting(seen, "2"), ["a"], tmp_path)  # another version
    encode_texts(counting(seen), ["a"], None)
    assert len(seen) == 5 and len(list(tmp_path.iterdir())) == 2


def test_an_interrupted_encoding_goes_on(tmp_path: Path) -> None:
    seen: list[str] = []
    model = counting(seen)

    def failing(texts: list[str]) -> Any:
        if seen:
            raise KeyboardInterrupt
        return model.encode(texts)

    texts = [f"text {number}" for number in range(600)]
    with pytest.raises(KeyboardInterrupt):
        encode_texts(TextModel("counting", "1", failing, "1"), texts, tmp_path)
    n_done = len(seen)
    assert 0 < n_done < 600
    encode_texts(model, texts, tmp_path)
    assert sorted(seen) == sorted(texts)


def test_slow_encoders_are_kept_by_default_and_quick_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANCHORVIEW_CACHE", str(tmp_path / "kept"))
    encode_texts(counting([]), ["a"], "auto")
    assert not (tmp_path / "kept").exists()

    def slow(texts: list[str]) -> Any:
        time.sleep(0.01)
        return lengths(texts)

    encode_texts(TextModel("slow", "1", slow, "1"), ["a"], "auto")
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_a_damaged_cache_is_a_warning(tmp_path: Path) -> None:
    encode_texts(counting([]), ["a"], tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"no database " * 100)
    with pytest.warns(UserWarning, match="cannot be used .*texts are encoded anew"):
        assert encode_texts(counting([]), ["a", "bb"], tmp_path)[:, 0].tolist() == [1, 2]


def test_progress_is_told_while_texts_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr("anchorview.core.progress._EVERY", 0.0)
    with watch(lines.append):
        encode_texts(counting([]), [f"text {number}" for number in range(600)])
    assert lines and "encoding: 256 of 600 texts" in lines[0] and "left" in lines[0]


def test_bad_encoders() -> None:
    with pytest.raises(ValueError, match="is not an encoder"):
        TableViews(text_encoder=3).fit(TABLE)
    with pytest.raises(ValueError, match="There is no folder"):
        TableViews(text_encoder="no/such/model").fit(TABLE)
    with pytest.raises(ValueError, match="a row of finite numbers for each text"):
        TableViews(text_encoder=lambda texts: [[np.nan]] * len(texts)).fit(TABLE)


def test_a_model_file_names_the_encoder_and_holds_none(tmp_path: Path) -> None:
    rows = reviews()
    table = pd.DataFrame({"text": rows["text"]})
    model = make_pipeline(TableViews(text_encoder=lengths), FSSMSC(n_landmarks=12, random_state=0))
    before = model.fit(table, rows["topic"]).predict_proba(table)
    anchorview.save(model, tmp_path / "m.anchorview")
    loaded = anchorview.load(tmp_path / "m.anchorview")
    with pytest.raises(ValueError, match="was encoded by .*lengths .* at the fit, and now by none"):
        loaded.predict(table)
    loaded[0].text_encoder = lengths
    np.testing.assert_array_equal(loaded.predict_proba(table), before)
    loaded[0].text_encoder = Library()
    with pytest.raises(ValueError, match="give the same encoder in the same version"):
        loaded.predict(table)


def test_the_command(tmp_path: Path) -> None:
    pytest.importorskip("wordllama")
    path = write_csv(tmp_path / "t.csv", reviews())
    options = ("--label", "topic", "--config", quick(tmp_path))
    done = invoke("fit", path, *options, "--text-encoder", "auto", "-o", tmp_path / "run")
    assert done.exit_code == 0 and "text:meaning: 256 features" in done.output, done.output
    done = invoke("predict", tmp_path / "run", path, "-o", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output
