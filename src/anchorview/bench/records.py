"""An append-only file of results: each finished run is one line, written at once, never computed again.

Several processes may read and append at the same time: a line is written under a lock of the file, and opening the file
changes nothing in it. What a crash left of a line is moved to a file of its own when the next line is written.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..core.locks import lock
from .stamps import code_stamp, today

VERSION = 1
_START = '{"version": '  # of every line
_Run = tuple[dict[str, Any], dict[str, Any]]


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
        The file; made if it does not exist. A record cut off by a crash is left out, with a warning; one that lacks
        only its newline is kept.

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
        self._runs: dict[str, _Run] = {}
        self._newest: dict[str, _Run] = {}  # of any commit, by the key without its "code"
        self._made: dict[str, dict[str, str]] = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        with self.path.open("rb") as stream:
            lock(stream, shared=True)  # no line is half written while we read
            lines = stream.read().split(b"\n")
        cut = []
        for number, line in enumerate(lines, start=1):
            try:
                entries = _entries(line.decode())
            except ValueError:
                raise ValueError(
                    f"{self.path}, line {number}, is not a result record; it was left as it is. "
                    "Choose another results file."
                ) from None
            for entry in entries:
                if entry is None:
                    cut.append(str(number))
                elif entry["version"] != VERSION:
                    raise ValueError(
                        f"{self.path} has version {entry['version']} of the record format, this is version {VERSION}; "
                        "it was left as it is. Choose another results file."
                    )
                else:
                    self._keep(entry["key"], entry["result"], entry.get("made"))
        if cut:
            warnings.warn(
                f"{self.path}: a record on line {', '.join(cut)} was cut off by a crash and is left out; its run is "
                "made again.",
                stacklevel=3,
            )

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a run, None if it is not there."""
        run = self._runs.get(record_key(key))
        return None if run is None else run[1]

    def newest(self, key: dict[str, Any]) -> _Run | None:
        """Return the newest run of this key, whatever the "code" in its own: that of any commit."""
        return self._newest.get(record_key(_without_code(key)))

    def made(self, key: dict[str, Any]) -> dict[str, str] | None:
        """Return date and commit of a run, None if they were not recorded."""
        return self._made.get(record_key(key))

    def _keep(self, key: dict[str, Any], result: dict[str, Any], made: dict[str, str] | None) -> None:
        self._runs[record_key(key)] = (key, result)
        self._newest[record_key(_without_code(key))] = (key, result)
        if made is not None:
            self._made[record_key(key)] = made

    def add(self, key: dict[str, Any], result: dict[str, Any]) -> None:
        """Append a result, with commit and date, and make sure it is on disk."""
        made = {"commit": code_stamp()["commit"], "date": today()}
        line = json.dumps({"version": VERSION, "key": key, "result": result, "made": made}) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as stream:
            _end_last_line(stream, self.path, locked=lock(stream))
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
        self._keep(key, json.loads(json.dumps(result)), made)

    def __iter__(self) -> Iterator[_Run]:
        return iter(list(self._runs.values()))

    def __len__(self) -> int:
        return len(self._runs)


def _without_code(key: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name != "code"}


def _entries(line: str) -> list[dict[str, Any] | None]:
    """Return the records of a line, None for one that was cut off; ValueError if the line is none of ours.

    Usually there is one. A crash can leave a record without its end, and versions before this one wrote the next record
    behind it on the same line.
    """
    found: list[dict[str, Any] | None] = []
    at = 0
    while at < len(line):
        if not (line.startswith(_START, at) or _START.startswith(line[at:])):
            raise ValueError("not a record")
        try:
            entry, at = json.JSONDecoder().raw_decode(line, at)
        except ValueError:
            following = line.find(_START, at + 1)
            found.append(None)
            at = following if following >= 0 else len(line)
            continue
        fields = (entry.get("key"), entry.get("result"))
        if entry["version"] == VERSION and not all(isinstance(field, dict) for field in fields):
            raise ValueError("not a record")
        found.append(entry)
    return found


def _end_last_line(stream: IO[bytes], path: Path, locked: bool) -> None:
    """Make sure that the next line is a line of its own.

    Nobody is writing while we hold the lock; so a last line without its end is what a crash left. If it is a whole
    record it gets its newline, otherwise it is moved to ``<name>.cut``. Without a lock it stays, and is passed over.
    """
    size = stream.seek(0, os.SEEK_END)
    if size == 0:
        return
    stream.seek(size - 1)
    if stream.read(1) == b"\n":
        return
    stream.seek(0)
    start = stream.read().rfind(b"\n") + 1
    stream.seek(start)
    rest = stream.read()
    try:
        json.loads(rest)
        whole = True
    except ValueError:
        whole = False
    if whole or not locked:
        stream.write(b"\n")
        return
    with path.with_name(path.name + ".cut").open("ab") as aside:
        aside.write(rest + b"\n")
    stream.truncate(start)
