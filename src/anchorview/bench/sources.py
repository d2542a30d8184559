"""Where data comes from: the embedded digits, .npz and .mat files."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import load_handwritten, load_npz
from ..datasets._mat import load_mat
from .registry import PaperData, match

EMBEDDED = "embedded:hw"


@dataclass(frozen=True)
class Source:
    """A data set and where to read it: ``place`` is a path, or "embedded:hw"."""

    name: str
    place: str

    def describe(self) -> Description:
        """Read the data and return its sizes."""
        return describe_dataset(self.name, load_dataset(self.place))


@dataclass(frozen=True)
class Description:
    """Sizes of a data set, and which of the paper's it is."""

    name: str
    n_rows: int
    view_sizes: tuple[int, ...]
    n_classes: int
    fingerprint: str
    is_sparse: bool

    @property
    def n_features(self) -> int:
        """Features of all views together."""
        return sum(self.view_sizes)

    @property
    def paper(self) -> PaperData | None:
        """The paper's data set of these sizes."""
        return match(self.name, self.n_rows, self.view_sizes, self.n_classes)[0]

    @property
    def same_as_paper(self) -> bool:
        """Whether it is the paper's data, not only of its sizes."""
        return match(self.name, self.n_rows, self.view_sizes, self.n_classes)[1]

    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.view_sizes))
        return f"{self.n_rows:,} rows, {self.n_classes} classes, {len(self.view_sizes)} views ({sizes})"


def load_dataset(place: str) -> Any:
    """Read a data set."""
    if place == EMBEDDED:
        return load_handwritten()
    return load_mat(place) if place.lower().endswith(".mat") else load_npz(place)


def find_sources(places: Sequence[Path], names: Sequence[str] = ()) -> list[Source]:
    """List the data sets in files and folders; the embedded digits if no place is given.

    Parameters
    ----------
    places : sequence of paths
        Files (.npz, .mat) and folders of them.
    names : sequence of str
        Keep only these.

    Examples
    --------
    >>> find_sources([])
    [Source(name='hw', place='embedded:hw')]
    """
    sources = [source for place in places for source in _in_place(Path(place))]
    if not places:
        sources = [Source("hw", EMBEDDED)]
    twice = sorted({a.name for i, a in enumerate(sources) for b in sources[:i] if a.name == b.name})
    if twice:
        raise ValueError(f"There are two data sets named {twice[0]!r}; give one of their files only, or rename one.")
    unknown = sorted(set(names) - {source.name for source in sources})
    if unknown:
        listed = ", ".join(source.name for source in sources)
        raise ValueError(f"There is no data set {unknown[0]!r}; there are {listed}.")
    return [source for source in sources if not names or source.name in names]


def _in_place(place: Path) -> list[Source]:
    if place.is_file():
        if place.suffix.lower() not in (".npz", ".mat"):
            raise ValueError(f"{place} is neither a .npz nor a .mat file.")
        return [_source(place)]
    if not place.is_dir():
        raise ValueError(f"{place} does not exist; give a folder of .npz or .mat files, or one such file.")
    files = sorted(f for f in place.iterdir() if f.suffix.lower() in (".npz", ".mat") and f.is_file())
    stems = {file.stem for file in files}
    # news_v0.npz, news_v1.npz … are the sparse views of news.npz, not data sets of their own.
    kept = [f for f in files if not (f.stem[:-1].endswith("_v") and f.stem[-1].isdigit() and f.stem[:-3] in stems)]
    if not kept:
        raise ValueError(f"{place} holds no .npz and no .mat file; give the folder that holds the data.")
    return [_source(file) for file in kept]


def _source(file: Path) -> Source:
    """Name a data set by its file; bytes that are no text, which Linux allows there, become question marks."""
    return Source(file.stem.encode("utf-8", "replace").decode(), str(file))


def describe_dataset(name: str, data: Any) -> Description:
    """Return the sizes of a data set that was read."""
    if np.ndim(data.target) != 1 or len(data.target) == 0:
        raise ValueError(f"{name}: the classes have shape {np.shape(data.target)}; there must be one for each row.")
    check = zlib.crc32(np.ascontiguousarray(data.target).tobytes())
    some = np.linspace(0, len(data.target) - 1, 50).astype(int)
    for view in data.data:
        rows = view[some]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        check = zlib.crc32(np.ascontiguousarray(rows, dtype=np.float32).tobytes(), check)
    return Description(
        name,
        len(data.target),
        tuple(int(view.shape[1]) for view in data.data),
        len(np.unique(data.target)),
        f"{check:08x}",
        any(hasattr(view, "toarray") for view in data.data),
    )
