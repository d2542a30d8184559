"""Encoders of text: wordllama, a local model, a callable, or an object; each with a name and a fingerprint."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.versions import package_versions

AUTO, WORDLLAMA = "auto", "wordllama"
_PROBES = ["The quick brown fox, 1 of 2.", "Überraschung, café, 東京", "it"]  # what fingerprints are taken of
_PROBED = 4  # numbers of a fingerprint
_MOST_KEPT = 8  # encoders whose fingerprint is remembered
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TextModel:
    """An encoder that is ready: what it is called, what tells its versions apart, and what it does."""

    name: str
    fingerprint: str
    encode: Callable[[list[str]], Any]
    digest: str = ""  # of all that it makes of some texts, to the last bit

    def vectors(self, texts: list[str]) -> Vectors:
        """Return a vector for each text."""
        return _array(self.encode(texts), len(texts))


_kept: list[tuple[Any, TextModel]] = []  # encoders that were given, and what they are


def load_text_model(given: Any) -> TextModel | None:
    """Return the encoder that was asked for; None for none, and for "auto" if wordllama is not installed.

    Parameters
    ----------
    given : None, "auto", "wordllama", path, callable, or object with .encode or .embed
        A path is a folder of sentence-transformers or model2vec. An object of these libraries, or of fastembed, is
        used as it is; a callable gets a list of texts, and returns an array with a row for each.
    """
    if given is None or (isinstance(given, str) and given == AUTO and importlib.util.find_spec(WORDLLAMA) is None):
        return None
    if isinstance(given, str) and given in (AUTO, WORDLLAMA):
        return _wordllama()
    if isinstance(given, str | os.PathLike):
        folder = Path(given)
        if not folder.is_dir():
            raise ValueError(
                f"There is no folder {folder}; a text encoder is 'auto', 'wordllama', or a model's folder."
            )
        return _from_folder(
            str(folder.resolve()), max((file.stat().st_mtime_ns for file in folder.rglob("*")), default=0)
        )
    for one, model in _kept:
        if one is given:
            return model
    method = next((getattr(given, name) for name in ("encode", "embed") if hasattr(given, name)), given)
    if not callable(method):
        raise ValueError(
            f"text_encoder={given!r} is not an encoder: give 'auto', 'wordllama', None, the folder of a model, a "
            "callable, or an object with .encode or .embed."
        )
    name = f"{type(given).__module__}.{type(given).__qualname__}"
    if method is given:
        name = f"{getattr(given, '__module__', '')}.{getattr(given, '__qualname__', type(given).__qualname__)}"
    model = _made(name, "", method)
    _kept[:] = [*_kept[1 - _MOST_KEPT :], (given, model)]
    return model


@lru_cache(maxsize=1)
def _wordllama() -> TextModel:
    """Return wordllama with the weights and the tokenizer of its wheel: nothing is asked of the network."""
    try:
        package = importlib.import_module(WORDLLAMA)
    except ImportError:
        raise ImportError("text_encoder='wordllama' needs wordllama: pip install 'anchorview[text]'") from None
    folder = Path(str(package.__file__)).parent
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    return _made(WORDLLAMA, package_versions([WORDLLAMA])[WORDLLAMA], model.embed)


@lru_cache(maxsize=2)
def _from_folder(path: str, changed: int) -> TextModel:
    """Return the model of a folder; it is read again if a file in it has changed since."""
    folder = Path(path)
    library = _library_of(folder)
    try:
        module = importlib.import_module(library)
    except ImportError:
        name = library.replace("_", "-")
        raise ImportError(f"{folder} needs the package {name}: pip install {name}") from None
    is_static = library == "model2vec"
    model = module.StaticModel.from_pretrained(folder) if is_static else module.SentenceTransformer(path)
    return _made(folder.name, "", model.encode)


def _library_of(folder: Path) -> str:
    """Return the package that reads a folder; folders of model2vec have the files of sentence-transformers as well."""
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError):
        kind = None
    has_modules = (folder / "modules.json").exists()
    if kind is None and not has_modules:
        raise ValueError(
            f"{folder} holds no model of sentence-transformers or model2vec (no modules.json, config.json)."
        )
    return "sentence_transformers" if has_modules and kind != "model2vec" else "model2vec"


def _made(name: str, version: str, encode: Callable[[list[str]], Any]) -> TextModel:
    """Return a model with its fingerprint: some of what it makes of a sentence, which other weights do not give."""
    vectors = _array(encode(list(_PROBES)), len(_PROBES))
    first = vectors[0]
    numbers = " ".join([f"{len(first)} numbers:", *(f"{value:.5g}" for value in np.resize(first, _PROBED))])
    digest = hashlib.sha256(f"{version} {vectors.shape}".encode() + vectors.tobytes()).hexdigest()
    return TextModel(name, f"{version} {numbers}".strip(), encode, digest)


def is_same_encoder(one: str, other: str) -> bool:
    """Tell whether two fingerprints are of one encoder: machines may round its numbers otherwise.

    Examples
    --------
    >>> is_same_encoder("2 numbers: 1 0.5 1 0.5", "2 numbers: 1.0001 0.5 1 0.5")
    True
    """
    if one == other:
        return True
    words, others = one.split(), other.split()
    if words[:-_PROBED] != others[:-_PROBED] or len(words) != len(others):
        return False
    values, compared = (np.array([float(word) for word in found[-_PROBED:]]) for found in (words, others))
    return bool(np.allclose(values, compared, rtol=1e-3, atol=1e-3 * float(np.abs(values).max())))


def _array(made: Any, n_texts: int) -> Vectors:
    if not isinstance(made, np.ndarray) and not hasattr(made, "__array__"):
        made = list(made)  # fastembed gives a generator
    result = np.asarray(made, dtype=np.float32)
    if result.ndim != 2 or len(result) != n_texts or not np.isfinite(result).all():
        raise ValueError(f"The text encoder must give a row of finite numbers for each text; got {result.shape}.")
    return result
