"""A column of text turned into vectors by an encoder: wordllama, a local model, a callable, or an object."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.versions import package_versions
from ..engine.blocks import iter_blocks
from .column_encoders import Part, Report, expect_storage
from .columns import Column

AUTO, WORDLLAMA = "auto", "wordllama"
_PROBED = 4  # numbers of a fingerprint
_BATCH = 1024  # texts that an encoder gets together
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TextModel:
    """An encoder that is ready: what it is called, what tells its versions apart, and what it does."""

    name: str
    fingerprint: str
    encode: Callable[[list[str]], Any]


def load_text_model(given: Any) -> TextModel | None:
    """Return the encoder that was asked for; None for none, and for "auto" if wordllama is not installed.

    Parameters
    ----------
    given : None, "auto", "wordllama", path, callable, or object with .encode or .embed
        A path is a folder of sentence-transformers or model2vec. An object of these libraries, or of fastembed, is
        used as it is; a callable gets a list of texts, and returns an array with a row for each.
    """
    if given is None or (given == AUTO and importlib.util.find_spec(WORDLLAMA) is None):
        return None
    if isinstance(given, str) and given in (AUTO, WORDLLAMA):
        return _wordllama()
    if isinstance(given, str | os.PathLike):
        return _from_folder(Path(given))
    method = next((getattr(given, name) for name in ("encode", "embed") if hasattr(given, name)), given)
    if not callable(method):
        raise ValueError(
            f"text_encoder={given!r} is no encoder: give 'auto', 'wordllama', None, the folder of a model, a callable, "
            "or an object with .encode or .embed."
        )
    name = f"{type(given).__module__}.{type(given).__qualname__}"
    if method is given:
        name = f"{getattr(given, '__module__', '')}.{getattr(given, '__qualname__', type(given).__qualname__)}"
    return TextModel(name, _probe(method), method)


@lru_cache(maxsize=1)
def _wordllama() -> TextModel:
    """Return wordllama with the weights and the tokenizer of its wheel: nothing is asked of the network."""
    try:
        package = importlib.import_module(WORDLLAMA)
    except ImportError:
        raise ImportError("text_encoder='wordllama' needs wordllama: pip install 'anchorview[text]'") from None
    folder = Path(str(package.__file__)).parent
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    version = package_versions([WORDLLAMA])[WORDLLAMA]
    return TextModel(WORDLLAMA, f"{version} {_probe(model.embed)}", model.embed)


def _from_folder(folder: Path) -> TextModel:
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}; a text encoder is 'auto', 'wordllama', or a model's folder.")
    library = "sentence_transformers" if (folder / "modules.json").exists() else "model2vec"
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise ImportError(f"{folder} needs the package {library}: pip install {library}") from None
    is_static = library == "model2vec"
    model = module.StaticModel.from_pretrained(folder) if is_static else module.SentenceTransformer(str(folder))
    return TextModel(folder.name, _probe(model.encode), model.encode)


def _probe(encode: Callable[[list[str]], Any]) -> str:
    """Return some of what an encoder makes of a sentence: other weights, or another tokenizer, give something else."""
    found = _array(encode(["The quick brown fox, 1 of 2."]), 1)[0]
    return " ".join([f"{len(found)} numbers:", *(f"{value:.5g}" for value in np.resize(found, _PROBED))])


def _is_same(one: str, other: str) -> bool:
    """Tell whether two fingerprints are of one encoder: machines may round its numbers otherwise."""
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


def encode_texts(model: TextModel, texts: Sequence[str], cache: str | os.PathLike[str] | None = None) -> Vectors:
    """Return a vector for each text; the same text is encoded once.

    Parameters
    ----------
    model : TextModel
        The encoder.
    texts : sequence of str
        The texts.
    cache : path, optional
        A folder in which vectors are kept, by texts and encoder, for the next time.
    """
    unique = list(dict.fromkeys(texts))
    file = None if cache is None else Path(cache) / f"{_key(model, unique)}.npy"
    if file is not None and file.exists():
        vectors = np.load(file, allow_pickle=False)
    else:
        batches = [unique[start : start + _BATCH] for start in range(0, len(unique), _BATCH)]
        # One batch at a time: encoders bring threads of their own.
        made = iter_blocks(lambda batch: _array(model.encode(batch), len(batch)), batches, 1, "texts")
        vectors = np.concatenate(list(made))
        if file is not None:
            _keep(file, vectors)
    place = {text: number for number, text in enumerate(unique)}
    return np.asarray(vectors[[place[text] for text in texts]], dtype=np.float32)


def _key(model: TextModel, texts: Sequence[str]) -> str:
    digest = hashlib.sha256(f"{model.name}\0{model.fingerprint}".encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()[:32]


def _keep(file: Path, vectors: Vectors) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as stream:
        np.save(stream, vectors)
    os.replace(stream.name, file)  # whole or not there


@dataclass(frozen=True)
class TextVectors:
    """What a fit made of a column: which encoder, by name and fingerprint, and how many numbers it gives."""

    column: str
    encoder: str
    fingerprint: str
    n_features: int

    @classmethod
    def fit(
        cls, column: Column, model: TextModel, cache: str | os.PathLike[str] | None
    ) -> tuple[TextVectors, list[Part]]:
        """Encode the cells of a column."""
        array, present = _encode(column, model, cache)
        fitted = cls(column.name, model.name, model.fingerprint, array.shape[1])
        return fitted, [fitted._part(array, present)]

    def bound(self, given: Any, cache: str | os.PathLike[str] | None) -> BoundTextVectors:
        """Return what encodes texts as at the fit; an error if the encoder is another, or another version."""
        model = load_text_model(WORDLLAMA if self.encoder == WORDLLAMA and given in (None, AUTO) else given)
        if model is None or model.name != self.encoder or not _is_same(model.fingerprint, self.fingerprint):
            now = "none" if model is None else f"{model.name} ({model.fingerprint})"
            raise ValueError(
                f"Column {self.column!r} was encoded by {self.encoder} ({self.fingerprint}) at the fit, and now by "
                f"{now}; give the same encoder in the same version (text_encoder=…), or fit again."
            )
        return BoundTextVectors(self, model, cache)

    def _part(self, array: Vectors, present: npt.NDArray[np.bool_]) -> Part:
        return Part(f"{self.column}:meaning", array, present, [str(number) for number in range(self.n_features)])


@dataclass(frozen=True)
class BoundTextVectors:
    """Encodes texts as at the fit."""

    fitted: TextVectors
    model: TextModel
    cache: str | os.PathLike[str] | None

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return one dense view; a row without text lacks it."""
        column = columns[self.fitted.column]
        expect_storage(column, ("text", "category"), "text")
        array, present = _encode(column, self.model, self.cache, self.fitted.n_features)
        if array.shape[1] != self.fitted.n_features:
            raise ValueError(
                f"{self.model.name} gave {array.shape[1]} numbers a text; it was {self.fitted.n_features}."
            )
        return [self.fitted._part(array, present)]


def _encode(
    column: Column, model: TextModel, cache: str | os.PathLike[str] | None, n_features: int = 0
) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    texts = column.texts()
    rows = [row for row, text in enumerate(texts) if text is not None]
    present = np.zeros(len(texts), dtype=bool)
    if not rows:
        return np.zeros((len(texts), n_features), np.float32), present
    found = encode_texts(model, [text for text in texts if text is not None], cache)
    array = np.zeros((len(texts), found.shape[1]), np.float32)
    array[rows] = found
    # Words that an encoder does not know may give zeros, which have no direction.
    present[rows] = (found != 0).any(axis=1)
    return array, present
