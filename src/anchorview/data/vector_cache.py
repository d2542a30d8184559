"""Vectors of texts kept on disk, one SQLite file for each encoder: a long encoding goes on where it was stopped."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

_AT_A_TIME = 500  # keys of a query: SQLite takes at most 999
_PATIENCE = 30.0  # seconds to wait for another process


def default_folder() -> Path:
    """Return the folder of caches: that of the user, or what ANCHORVIEW_CACHE names."""
    named = os.environ.get("ANCHORVIEW_CACHE")
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else (Path(home) if home else Path("~/.cache").expanduser()) / "anchorview"


class VectorCache:
    """Vectors by text, of one encoder.

    What cannot be read or written is a warning, since texts can be encoded again.

    Parameters
    ----------
    folder : path
        Where the files are.
    encoder : str
        What tells the encoder from others, and from other versions of itself.
    """

    def __init__(self, folder: str | os.PathLike[str], encoder: str) -> None:
        self.file = Path(folder) / f"texts-{hashlib.sha256(encoder.encode()).hexdigest()[:24]}.sqlite"

    def read(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors that are known, by text."""
        if not self.file.exists():
            return {}
        text_of = {_key(text): text for text in texts}
        keys = list(text_of)
        found: dict[str, npt.NDArray[np.float32]] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _AT_A_TIME):
                some = keys[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(some))
                rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)
                found |= {text_of[key]: np.frombuffer(vector, dtype="<f4") for key, vector in rows}
        return found

    def write(self, texts: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        """Keep vectors, all of them or none."""
        rows = [(_key(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with self._open() as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.file, timeout=_PATIENCE)) as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            warnings.warn(
                f"The cache of encoded texts, {self.file}, cannot be used ({error}); texts are encoded anew. If it is "
                "damaged, delete it; text_cache names another folder.",
                UserWarning,
                stacklevel=4,
            )


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
