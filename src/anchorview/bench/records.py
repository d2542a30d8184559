"""An append-only file of results: each finished run is one line, written at once, never computed again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VERSION = 1


def record_key(fields: dict[str, Any]) -> str:
    """Return the identity of a run: its fields in canonical form.

    Examples
    --------
    >>> record_key({"seed": 1, "data": "hw"})
    '{"data": "hw", "seed": 1}'
    """
    return json.dumps(fields, sort_keys=True)


class Records:
    """Results in a JSON-lines file.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist. A last line cut off by a crash is ignored and written over.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = Records(folder + "/runs.jsonl")
    ...     records.add({"data": "hw", "seed": 0}, {"acc": 0.97})
    ...     again = Records(folder + "/runs.jsonl")
    ...     again.get({"seed": 0, "data": "hw"})
    {'acc': 0.97}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._runs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        whole = 0
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    entry = json.loads(line)
                    version, key, result = entry["version"], entry["key"], entry["result"]
                except (ValueError, KeyError, TypeError):
                    if line.endswith(b"\n"):
                        raise ValueError(
                            f"{self.path}, line {number}, is not a result record; it was left as it is. "
                            "Choose another results file."
                        ) from None
                    break  # a line cut off by a crash
                if version != VERSION:
                    raise ValueError(
                        f"{self.path} has version {version} of the record format, this is version {VERSION}; "
                        "it was left as it is. Choose another results file."
                    )
                self._runs[record_key(key)] = (key, result)
                whole += len(line)
        if whole < self.path.stat().st_size:
            with self.path.open("r+b") as stream:
                stream.truncate(whole)

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a run, None if it is not there."""
        run = self._runs.get(record_key(key))
        return None if run is None else run[1]

    def add(self, key: dict[str, Any], result: dict[str, Any]) -> None:
        """Append a result and make sure it is on disk."""
        line = json.dumps({"version": VERSION, "key": key, "result": result}) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as stream:
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
        self._runs[record_key(key)] = (key, json.loads(json.dumps(result)))

    def __iter__(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        return iter(list(self._runs.values()))

    def __len__(self) -> int:
        return len(self._runs)
