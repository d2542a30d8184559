"""Parts of a long work, kept until all are there: what was done before a process ended is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Self, TypeVar

from .files import remove_parts, replace_file, replacing
from .locks import LOCK, hold_folder

_WORK, _PART = "work.json", "part-"
Item = TypeVar("Item")
Part = TypeVar("Part")


class PartialResults:
    """Parts of one output, each a file that appears when it is whole; to be used in a ``with`` statement.

    Parts stay when the block ends, however it ends, until `clear` removes them; where there are none, nothing stays.
    Another process that works on the same output is refused (`InUseError`).

    Parameters
    ----------
    folder : Path
        Where they are kept; made if it is not there.
    output : Path
        The file or folder that they become.
    work : dict
        What the work is, as JSON has it.
    suffix : str
        How the names of parts end.

    Attributes
    ----------
    differs : list of str
        In what the work of the parts that are there differs from this one: `clear` them, or refuse to go on.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for again in (False, True):
    ...         with PartialResults(Path(folder, "parts"), Path("some.txt"), {"rows": 5}, ".txt") as parts:
    ...             print(parts.differs, list(parts.fill("ab", str.encode, lambda part, stream: stream.write(part))))
    [] [('a', True), ('b', True)]
    [] [('a', False), ('b', False)]
    """

    def __init__(self, folder: Path, output: Path, work: dict[str, Any], suffix: str) -> None:
        self.folder, self.output, self._work, self._suffix = folder, output, work, suffix
        self.differs: list[str] = []

    def __enter__(self) -> Self:
        self._lock: IO[bytes] = hold_folder(self.folder, self.output)
        try:
            self._check_folder()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _check_folder(self) -> None:
        names = [path.name for path in self.folder.iterdir()]
        others = [name for name in names if not name.startswith((".", _PART)) and name != _WORK]
        if others:
            raise FileExistsError(
                f"{self.folder} is needed for parts, but holds other files: {', '.join(others[:3])}; move them."
            )
        remove_parts(self.folder)
        if self.n_kept:
            before = json.loads((self.folder / _WORK).read_text()) if _WORK in names else {}
            self.differs = [name for name in self._work if before.get(name) != self._work[name]]

    @property
    def n_kept(self) -> int:
        """Number of parts that are done."""
        return len(list(self.folder.glob(f"{_PART}*")))

    def path(self, number: int) -> Path:
        """Return where a part is."""
        return self.folder / f"{_PART}{number:07d}{self._suffix}"

    def fill(
        self, items: Iterable[Item], make: Callable[[Item], Part], save: Callable[[Part, BinaryIO], object]
    ) -> Iterator[tuple[Item, bool]]:
        """Make the part of each item that is not there, and keep it; yield the item, and whether its part is new."""
        for number, item in enumerate(items):
            is_new = not self.has(number)
            if is_new:
                part = make(item)
                with self.writing(number) as stream:
                    save(part, stream)
            yield item, is_new

    def has(self, number: int) -> bool:
        """Tell whether a part is done."""
        return self.path(number).is_file()

    def writing(self, number: int) -> AbstractContextManager[BinaryIO]:
        """Give a stream to write a part with."""
        assert not self.differs, "parts of another work"
        if not self.n_kept:
            replace_file(self.folder / _WORK, json.dumps(self._work, indent=1))
        return replacing(self.path(number))

    def are_put_together(self, n_parts: int) -> bool:
        """Tell whether the output was made of all parts: only to remove them was left to do."""
        if not self.output.exists() or not all(map(self.has, range(n_parts))):
            return False
        made = list(self.output.iterdir()) if self.output.is_dir() else [self.output]
        first = min((path.stat().st_mtime_ns for path in made), default=0)
        return first >= max((self.path(number).stat().st_mtime_ns for number in range(n_parts)), default=0)

    def clear(self) -> None:
        """Remove all parts."""
        for path in self.folder.glob(f"{_PART}*"):
            path.unlink()
        self.differs = []

    def __exit__(self, *error: object) -> None:
        try:
            if not self.n_kept:
                for name in (_WORK, LOCK):
                    (self.folder / name).unlink(missing_ok=True)
                with suppress(OSError):  # others have put files there
                    self.folder.rmdir()
        finally:
            self._lock.close()
