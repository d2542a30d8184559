"""A column of text turned into vectors by an encoder, each text once: what was encoded before is read from a cache."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.progress import Ticker
from .column_encoders import Part, Report, expect_storage
from .columns import Column
from .text_models import AUTO, WORDLLAMA, TextModel, Vectors, is_same_encoder, load_text_model
from .vector_cache import VectorCache, default_folder

_BATCH = 256  # texts that an encoder gets together
_WORTH_KEEPING = 1e-3  # seconds a text from which on vectors are kept unless a folder is named: the disk takes 0.1 ms
_TELLING = 16  # numbers a text from which on two encoders do not agree by chance, as counts of letters may
Cache = str | os.PathLike[str] | None


def encode_texts(model: TextModel, texts: Sequence[str], cache: Cache = None) -> Vectors:
    """Return a vector for each text; the same text is encoded once.

    Parameters
    ----------
    model : TextModel
        The encoder.
    texts : sequence of str
        The texts.
    cache : path, "auto" or None
        A folder in which vectors are kept, by text and encoder, for the next time; "auto" is one in the home folder,
        and is used for encoders that take longer than a millisecond a text. None keeps nothing.
    """
    unique = list(dict.fromkeys(texts))
    if cache == AUTO and model.name == WORDLLAMA:  # it looks vectors up: no slower than a cache would be
        cache = None
    kept = None if cache is None else VectorCache(default_folder() if cache == AUTO else cache, model.digest)
    found = {} if kept is None else kept.read(unique)
    lacking = [text for text in unique if text not in found]
    # Long texts first: batches of texts of like length are quick, and the time left is not underestimated.
    lacking.sort(key=len, reverse=True)
    batches = [lacking[start : start + _BATCH] for start in range(0, len(lacking), _BATCH)]

    def encode(batch: list[str]) -> Vectors:
        start = time.perf_counter()
        vectors = model.vectors(batch)
        is_slow = time.perf_counter() - start > _WORTH_KEEPING * len(batch)
        if kept is not None and (is_slow or cache != AUTO):
            kept.write(batch, vectors)
        return vectors

    ticker = Ticker("encoding", len(lacking), "texts")
    for batch in batches:  # one at a time: encoders bring threads of their own
        found |= dict(zip(batch, encode(batch), strict=True))
        ticker.done(len(batch))
    sizes = {len(vector) for vector in found.values()}
    if len(sizes) > 1:
        raise ValueError(f"{model.name} gave vectors of several lengths: {sorted(sizes)}.")
    return np.stack([found[text] for text in texts]).astype(np.float32, copy=False)


@dataclass(frozen=True)
class TextVectors:
    """What a fit made of a column: which encoder, by name and fingerprint, and how many numbers it gives."""

    column: str
    encoder: str
    fingerprint: str
    n_features: int

    @classmethod
    def fit(cls, column: Column, model: TextModel, cache: Cache) -> tuple[TextVectors, list[Part]]:
        """Encode the cells of a column."""
        array, present = _encode(column, model, cache)
        fitted = cls(column.name, model.name, model.fingerprint, array.shape[1])
        return fitted, [fitted._part(array, present)]

    def bound(self, given: Any, cache: Cache) -> BoundTextVectors:
        """Return what encodes texts as at the fit; an error if the encoder is another, or another version."""
        if given is None or (isinstance(given, str) and given == AUTO):  # none was given
            given = WORDLLAMA if self.encoder == WORDLLAMA else None
        model = load_text_model(given)
        if model is None or not self._is_of(model):
            now = "none" if model is None else f"{model.name} ({model.fingerprint})"
            raise ValueError(
                f"Column {self.column!r} was encoded by {self.encoder} ({self.fingerprint}) at the fit, and now by "
                f"{now}; give the same encoder in the same version (text_encoder=…), or fit again."
            )
        return BoundTextVectors(self, model, cache)

    def _is_of(self, model: TextModel) -> bool:
        """Tell whether a model is the one of the fit: its folder may be called otherwise here, or be an object now."""
        is_named = model.name == self.encoder or self.n_features >= _TELLING
        return is_named and is_same_encoder(model.fingerprint, self.fingerprint)

    def _part(self, array: Vectors, present: npt.NDArray[np.bool_]) -> Part:
        return Part(f"{self.column}:meaning", array, present, [str(number) for number in range(self.n_features)])


@dataclass(frozen=True)
class BoundTextVectors:
    """Encodes texts as at the fit."""

    fitted: TextVectors
    model: TextModel
    cache: Cache

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
    column: Column, model: TextModel, cache: Cache, n_features: int = 0
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
