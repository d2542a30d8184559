"""The journal of labels beside a run: one line an event, on the disk before anybody is told that it was taken.

The first line says which run and which rows the journal belongs to. Every line ends with a checksum of what stands
before it. A process that is killed can tear the last line only: it is cut off, and the user is told. Any other damage
is an error, since labels would be lost without a word.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from ...core.locks import hold
from ...core.no_space import naming_file
from ..errors import CommandError, DataError

SUFFIX = ".labels.jsonl"
FORMAT, VERSION = "anchorview labels", 1
IN_USE = "Another page is open on {path} ({holder}); use that one, or end it first."
_CHECK = ', "check": "'  # what comes before the checksum; it is the last field of a line


@dataclass(frozen=True)
class Header:
    """What a journal belongs to.

    Parameters
    ----------
    run : str
        Hash of the run's record.
    ids : str
        Hash of the ids of its rows, in their order.
    audit_seed : int
        Seed of the order in which rows are audited.
    """

    run: str
    ids: str
    audit_seed: int


@dataclass(frozen=True)
class Event:
    """One thing that a person did.

    Parameters
    ----------
    kind : str
        "label", "skip", "flag", "none" (of no known class), "class" (a new class) or "undo".
    rows : tuple of int
        The rows it is about.
    who : str
        Who did it.
    label : str, optional
        The class.
    why : str, optional
        How the row was chosen: "random", "suggested", "lasso", "search", "review", "second" or "import".
    guess : str, optional
        What the model said of the row at that moment, without its label.
    version : int
        Version of that model.
    ms : int, optional
        How long the person looked at the row.
    undoes : int, optional
        Number of the event that is taken back.
    key : str, optional
        Name that the browser gave to the event; one that is sent twice is taken once.
    time : float
        Seconds since 1970.
    number : int
        Place in the journal, from 1.
    """

    kind: str
    rows: tuple[int, ...] = ()
    who: str = ""
    label: str | None = None
    why: str | None = None
    guess: str | None = None
    version: int = 0
    ms: int | None = None
    undoes: int | None = None
    key: str | None = None
    time: float = 0.0
    number: int = 0


def journal_path(run: Path) -> Path:
    """Return where the journal of a run is: beside its folder.

    Examples
    --------
    >>> journal_path(Path("runs/first")).as_posix()
    'runs/first.labels.jsonl'
    """
    return run.with_name(run.name + SUFFIX)


def ids_key(ids: list[str]) -> str:
    """Name ids by their content."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ids:
        digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


class Journal:
    """A journal that is open for writing, by this process alone.

    Parameters
    ----------
    path : Path
        The file; it is made if it does not exist.
    header : Header
        What it must belong to.

    Attributes
    ----------
    events : list of Event
        What it held when it was opened; later ones are added.
    note : str or None
        What the user should know about the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Journal(Path(folder, "run.labels.jsonl"), Header("r", "i", 0)) as journal:
    ...         journal.append(Event("label", (3,), "ann", "cat")).number
    1
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.note: str | None = None
        with naming_file(path):
            self._lock = hold(path.with_name(f".{path.name}.lock"), path, IN_USE)
            try:
                self._stream = path.open("ab+", buffering=0)
            except BaseException:
                self._lock.close()
                raise
        try:
            self.header, self.events = self._read(header)
        except BaseException:
            self.close()
            raise

    def _read(self, header: Header) -> tuple[Header, list[Event]]:
        self._stream.seek(0)
        data = self._stream.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self.note = (
                f"The last line of {self.path.name} was not whole (the page was ended while it wrote) and was cut off; "
                "nothing that had been confirmed is lost."
            )
            self._cut(whole)
        if whole == 0:
            self._write(_line({"format": FORMAT, "version": VERSION, **asdict(header)}))
            return header, []
        found, events = read_lines(self.path, data[:whole])
        if (found.run, found.ids) != (header.run, header.ids):
            what = "of another run" if found.ids == header.ids else "about other rows"
            raise DataError(
                f"{self.path} holds labels {what}; move it away, or name the run that it belongs to. Nothing in it was "
                "changed."
            )
        return found, events

    def append(self, event: Event) -> Event:
        """Write an event to the disk, and return it with its number and time; after an error the file is as before."""
        numbered = Event(**{**asdict(event), "time": event.time or time.time(), "number": len(self.events) + 1})
        self._write(_line({name: value for name, value in asdict(numbered).items() if value is not None}))
        self.events.append(numbered)
        return numbered

    def extend(self, events: Sequence[Event]) -> list[Event]:
        """Write several events in one step."""
        first = len(self.events) + 1
        numbered = [
            Event(**{**asdict(event), "time": event.time or time.time(), "number": first + place})
            for place, event in enumerate(events)
        ]
        lines = [_line({name: value for name, value in asdict(one).items() if value is not None}) for one in numbered]
        self._write(b"".join(lines))
        self.events += numbered
        return numbered

    def _write(self, data: bytes) -> None:
        end = os.fstat(self._stream.fileno()).st_size
        try:
            with naming_file(self.path):
                written = 0
                while written < len(data):
                    written += self._stream.write(data[written:]) or 0
                os.fsync(self._stream.fileno())
        except BaseException:
            with suppress(OSError):
                self._cut(end)
            raise

    def _cut(self, end: int) -> None:
        self._stream.truncate(end)
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Let others write."""
        self._stream.close()
        self._lock.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _line(fields: dict[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=True)[:-1]
    return f'{text}{_CHECK}{zlib.crc32(text.encode()):08x}"}}\n'.encode()


def read_lines(path: Path, data: bytes) -> tuple[Header, list[Event]]:
    """Return the header and the events of a journal's whole lines; damage is an error that names the line."""
    lines = _checked(path, data)
    first = next(lines, None)
    if first is None or first.get("format") != FORMAT:
        raise DataError(f"{path} is not a journal of labels.")
    if first["version"] > VERSION:
        raise DataError(f"{path} was written by a newer version of anchorview; update it.")
    events = []
    try:
        for fields in lines:
            fields["rows"] = tuple(fields["rows"])
            del fields["check"]
            events.append(Event(**fields))
        return Header(first["run"], first["ids"], first["audit_seed"]), events
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}, line {len(events) + 2}: it is no event of a journal ({error}).") from None


def _checked(path: Path, data: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(data.splitlines(), 1):
        text, mark, check = line.rpartition(_CHECK.encode())
        if not mark or check[:8] != f"{zlib.crc32(text):08x}".encode():
            raise DataError(
                f"{path}, line {number} is damaged (its checksum does not match); restore the file from a copy, or "
                f"delete the line to go on without it."
            )
        fields: dict[str, Any] = json.loads(line)
        yield fields


def read_journal(path: Path) -> tuple[Header, list[Event]]:
    """Read a journal that somebody else may be writing: a last line that is not whole yet is left out."""
    stream: IO[bytes]
    try:
        with path.open("rb") as stream:
            data = stream.read()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    return read_lines(path, data[: data.rfind(b"\n") + 1])


def open_journal(path: Path, header: Header) -> Journal:
    """Open a journal for writing; that somebody else has it open is an error of the command."""
    try:
        return Journal(path, header)
    except OSError as error:
        raise CommandError(str(error)) from None
