"""The paper's seven data sets: what a file must hold to be one of them, and what differs when it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperData:
    """One data set of the paper.

    Attributes
    ----------
    name : str
        As in the paper's tables.
    n_rows, n_classes : int
        Size.
    view_sizes : tuple of int
        Features of each view, as in the usual published file.
    files : tuple of str
        Names under which the file is published, without suffix.
    n_landmarks : int
        The paper's choice for FSSMSC.
    other_sizes : tuple of tuples of int
        Features of other published copies.
    """

    name: str
    n_rows: int
    n_classes: int
    view_sizes: tuple[int, ...]
    files: tuple[str, ...]
    n_landmarks: int = 500
    other_sizes: tuple[tuple[int, ...], ...] = ()

    @property
    def n_features(self) -> int:
        """Features of all views together."""
        return sum(self.view_sizes)


_CALTECH = (48, 40, 254, 1984, 512, 928)
REGISTRY: tuple[PaperData, ...] = (
    PaperData("Caltech7", 1474, 7, _CALTECH, ("Caltech101-7", "Caltech7", "Caltech_7"), 300),
    PaperData(
        "HW",
        2000,
        10,
        (240, 76, 216, 47, 64, 6),
        ("hw", "handwritten", "Handwritten_numerals", "UCI_Digits", "mfeat", "uci-digit", "HW2sources6views"),
    ),
    PaperData("Caltech20", 2386, 20, _CALTECH, ("Caltech101-20", "Caltech20", "Caltech_20")),
    PaperData(
        "Reuters", 18758, 6, (21531, 24892, 34251, 15506, 11547), ("Reuters", "Reuters_EN", "Reuters-18758"), 300
    ),
    PaperData(
        "NUS",
        30000,
        31,
        (65, 226, 145, 74, 129),
        ("NUSWIDEOBJ", "NUS-WIDE-OBJ", "NUSWIDE", "NUS-WIDE-Object", "NUS"),
        other_sizes=((64, 225, 144, 73, 128),),
    ),
    PaperData("Caltech101", 9144, 102, _CALTECH, ("Caltech101-all", "Caltech101", "Caltech101_all")),
    PaperData("Youtube", 101499, 31, (64, 512, 64, 647, 838), ("YoutubeFace_sel", "YoutubeFace_sel_fea", "Youtube")),
)


def find_entry(stem: str) -> PaperData | None:
    """Return the data set that goes by a file name, None if there is none; case, "-" and "_" do not matter.

    Examples
    --------
    >>> find_entry("caltech101_7").name
    'Caltech7'
    >>> find_entry("scene15") is None
    True
    """
    wanted = _plain(stem)
    return next((entry for entry in REGISTRY if wanted in map(_plain, (entry.name, *entry.files))), None)


def differences(entry: PaperData, n_rows: int, view_sizes: Sequence[int], n_classes: int) -> list[str]:
    """List what differs from the paper's data set; nothing if all agrees (in whatever order the views come).

    Examples
    --------
    >>> differences(find_entry("hw"), 2000, (76, 216, 64, 240, 47, 6), 10)
    []
    >>> differences(find_entry("hw"), 1999, (76, 216), 10)
    ['1,999 rows instead of 2,000', '2 views (76, 216) instead of 6 (240, 76, 216, 47, 64, 6)']
    """
    differing = []
    if n_rows != entry.n_rows:
        differing.append(f"{n_rows:,} rows instead of {entry.n_rows:,}")
    allowed = [sorted(sizes) for sizes in (entry.view_sizes, *entry.other_sizes)]
    if len(view_sizes) != len(entry.view_sizes):
        differing.append(
            f"{len(view_sizes)} views ({_listed(view_sizes)}) instead of "
            f"{len(entry.view_sizes)} ({_listed(entry.view_sizes)})"
        )
    elif sorted(view_sizes) not in allowed:
        differing.append(f"view sizes {_listed(view_sizes)} instead of {_listed(entry.view_sizes)}")
    if n_classes != entry.n_classes:
        differing.append(f"{n_classes} classes instead of {entry.n_classes}")
    return differing


def match(stem: str, n_rows: int, view_sizes: Sequence[int], n_classes: int) -> tuple[PaperData | None, bool]:
    """Return the paper's data set of these sizes and whether it is the same.

    Features extracted anew (names that end in ``_re``) have the sizes but not the values of the published file.

    Examples
    --------
    >>> entry, same = match("caltech101_7_re", 1474, (48, 40, 254, 1984, 512, 928), 7)
    >>> entry.name, same
    ('Caltech7', False)
    """
    for entry in REGISTRY:
        if not differences(entry, n_rows, view_sizes, n_classes):
            return entry, not stem.lower().endswith("_re")
    return None, False


def _plain(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
