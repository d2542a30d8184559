"""What a fit needs of memory, told before it runs, and how much there is to be had.

What is counted is what grows with the data: arrays as large as the codes, the embedding, the landmarks or the dense
states of ADMM, as many copies of each as are alive at the same time. The number of non-zeros of a code cannot be known
beforehand (25 to 70 on most data, 130 where rows of signed features are nearly parallel), so with data at hand it is
counted on some rows; everything else follows from sizes. `benchmarks/memory.py` compares with what fits take.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .engine.sources.base import holds_sparse
from .features.landmarks import FULL_SPACE_ENTRIES, FULL_SPACE_WORK, PROJECTION, ROWS_PER_LANDMARK
from .features.products import CACHE_BYTES
from .features.text import LSA_COMPONENTS, PASS_ROWS
from .labelling.rule import READ_ROWS
from .solver.grams import patterns

REMEDY = (
    "Lower n_landmarks, give the views in single precision (float32), fit a sample of the rows and predict the rest in "
    "blocks (predict needs a fixed amount of memory), or raise the limit."
)
NONZEROS_PER_ROW = 48  # of a code, where there is no data to count them on
_COMPILED = "anchorview.solver.kernels"
_LOADING = {
    "RLIMIT_AS": 300 * 2**20,
    "RLIMIT_DATA": 120 * 2**20,
}  # what numba and the kernels take when they are loaded
_THREAD = 72 * 2**20  # address space that a thread reserves: its stack, and 64 MB for what it allocates
_BLOCK = 4096  # rows of E that a thread works on
_DISTANCES = 2**20  # that a thread holds when labels are read
_FOUND = 52.0  # bytes of a row: the first two classes, how likely they are, its label, and the class it might have else
_INDEX = 4  # bytes of an index


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs beyond the input at its peak, by what they are for.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> print(FSSMSC(n_jobs=1).estimate_memory(n_rows=1_000_000, n_features=200, n_clusters=10))
    941 MB beyond the input (0.9 KB per row): codes 776 MB, rows 98 MB, landmarks 25 MB, blocks 41 MB
    """

    n_rows: int
    parts: dict[str, int]

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(self.parts.values())

    def describe_total(self) -> str:
        """Return the total in words."""
        return _text(self.total)

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {_text(size)}" for name, size in self.parts.items())
        per_row = self.total / max(self.n_rows, 1) / 1e3
        return f"{_text(self.total)} beyond the input ({per_row:.1f} KB per row): {listed}"


def _text(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


@dataclass(frozen=True)
class FitSizes:
    """What the memory of a fit depends on.

    Parameters
    ----------
    n_rows, n_features, n_landmarks, n_components, n_labelled : int
        n, d (all views), m, k and the number of labelled rows.
    nonzeros : float
        Non-zeros of a code.
    itemsize : int
        Bytes of a number: 4 in single precision.
    solver : str
        "admm" has dense states, with numbers of `state_itemsize` bytes.
    n_text : int
        Non-zeros of the views that are scaled as text.
    lsa : bool
        Whether such a view is turned into coordinates.
    n_patterns : int
        Combinations of views that rows have.
    codes_in_files : bool
        Whether codes are kept in files, but for where their rows start and those that moved.
    on_cluster : bool
        Whether rows and codes are on a cluster, and text is scaled there.
    vote_bytes : int
        What is kept of a row while readings of E wait for that of the embedding.
    nearest_only : bool
        Whether labels are read from the nearest labelled rows for certain: then only small fits hold distances.
    """

    n_rows: int
    n_features: int
    n_landmarks: int
    n_components: int
    n_labelled: int = 0
    nonzeros: float = NONZEROS_PER_ROW
    itemsize: int = 4
    solver: str = "active_set"
    state_itemsize: int = 4
    n_threads: int = 1
    n_text: int = 0
    lsa: bool = False
    n_patterns: int = 1
    codes_in_files: bool = False
    on_cluster: bool = False
    vote_bytes: int = 0
    nearest_only: bool = False


def estimate_memory(sizes: FitSizes) -> MemoryEstimate:
    """Estimate the peak memory of a fit beyond its input: that of the stage which takes most."""
    stages = [_scaling(sizes), _landmarks(sizes), *(_admm(sizes) if sizes.solver == "admm" else _active_set(sizes))]
    parts = max(stages, key=lambda stage: sum(stage.values()))
    return MemoryEstimate(sizes.n_rows, {name: int(size) for name, size in parts.items() if size})


def _scaling(s: FitSizes) -> dict[str, float]:
    """Fitting the scaling; dense views are passed over in blocks."""
    # Text, of a block of rows: a copy, which values are positive (1), their columns, and the weights of their rows.
    share = min(PASS_ROWS / max(s.n_rows, 1), 1.0) * s.n_threads
    text = share * s.n_text * (2 * (s.itemsize + _INDEX) + 1 + _INDEX + 2 * 8)
    if s.lsa:  # images of 170 directions, once in double precision; these directions, their products and a sum of such
        width = 1.13 * LSA_COMPONENTS
        text += share * s.n_rows * width * (s.itemsize + 8) + (2 + 2 * s.n_threads) * s.n_features * width * s.itemsize
    return {"scaling": text}


def _landmarks(s: FitSizes) -> dict[str, float]:
    """Choosing landmarks: the sample that k-means sees, twice while its blocks are put together, then the means."""
    sample = min(s.n_rows, ROWS_PER_LANDMARK * s.n_landmarks)
    entries = sample * s.n_features
    projects = entries * s.n_landmarks > FULL_SPACE_WORK or entries > FULL_SPACE_ENTRIES
    width = PROJECTION if projects and s.n_features > 2 * PROJECTION else s.n_features
    # The landmarks, their transpose, and a copy in double precision for their Gram matrix.
    means = s.n_landmarks * s.n_features * (2 * s.itemsize + 8)
    return {"landmarks": max(2 * sample * width * s.itemsize, means)}


def _kept(s: FitSizes) -> dict[str, float]:
    """Held throughout: landmarks and their transpose, m×m matrices, E if it is small, and what threads work with.

    The latter is the products of a block of rows, once in double precision, their codes as they grow, and sums over
    them; later distances to the labelled rows. The allocator does not give it back in between.
    """
    square = 8.0 * s.n_landmarks**2
    grams = min(s.n_patterns - 1, 2**28 / square) * square * (1 + s.itemsize / 8)
    products = s.n_rows * s.n_landmarks * s.itemsize
    row = s.n_landmarks * (2 * s.itemsize + 8) + 3 * s.nonzeros * (s.itemsize + _INDEX)
    block = min(_BLOCK, s.n_rows) * row + 2 * square
    distances = 0 if s.nearest_only else min(_DISTANCES, s.n_rows * s.n_labelled)
    return {
        "landmarks": 2 * s.n_landmarks * s.n_features * s.itemsize + 12 * square + grams,
        "products": products if products <= CACHE_BYTES else 0,
        "blocks": s.n_threads * max(block, distances * s.itemsize),
    }


def _active_set(s: FitSizes) -> list[dict[str, float]]:
    """Count what rounds, their end, and reading the labels take."""
    entries = s.nonzeros * (s.itemsize + _INDEX)
    row = entries + _INDEX
    wide = 8 * s.nonzeros if s.itemsize < 8 else 0  # SciPy's copy of codes that meet double precision
    n, n_l, k = s.n_rows, s.n_labelled, s.n_components
    kept = _kept(s)
    probabilities = 4 * min(n, READ_ROWS) * s.itemsize * k  # of some rows at a time, and what they are made of
    votes = float(n * s.vote_bytes)
    if s.codes_in_files or s.on_cluster:
        moved = n_l * (2 * row + wide)
        stored = 0 if s.on_cluster else n
        return [
            # Where rows start: their lengths, those in one piece, and the sums of these.
            {"codes": 3.0 * 8 * stored + moved, "rows": 16.0 * n + votes, **kept},
            # Labels, as below, but by each thread; of all rows embedding, class numbers given, and what was found.
            {
                "codes": 8.0 * stored + moved,
                "rows": n * (s.itemsize * k + 8 + _FOUND) + s.n_threads * probabilities + votes,
                **kept,
            },
        ]
    return [
        # Codes on their own; of the rows that move, which are the labelled ones, old codes, new ones, and for the
        # pairs those in double precision. For each row the bound of its gradient.
        {"codes": n * row + n_l * (2 * row + wide), "rows": n * 48.0 + votes, **kept},
        # Both codes of all rows, those that moved, and the embedding.
        {"codes": (2 * n + n_l) * row, "rows": n * (1.0 * s.itemsize * k + 32) + votes, **kept},
        # Confidence: of the labelled rows, codes, those of two thirds, and a copy in double precision.
        {"codes": 2 * n * row + n_l * (5 / 3 * row + wide), "rows": n * (s.itemsize * k + 32.0) + votes, **kept},
        # Labels: embedding, and a few numbers a row.
        {"codes": 2 * n * row, "rows": n * (s.itemsize * k + 48.0) + probabilities + votes, **kept},
    ]


def _admm(s: FitSizes) -> list[dict[str, float]]:
    """Five dense states (B⁰, B, Y, Z, Z⁺), more than both codes without any zero take after them.

    Of the labelled rows, Z in double precision, and three arrays of that size while the pairs are applied to it.
    """
    states = 5.0 * s.n_rows * s.n_landmarks * s.state_itemsize + 4 * 8.0 * s.n_labelled * s.n_landmarks
    return [{"states": states, "rows": 32.0 * s.n_rows, **_kept(s)}]


def state_itemsize(model: Any, is_double: bool = False) -> int:
    """Return the bytes of a number of the solver's dense states; `is_double` if landmarks ask for double precision."""
    usual = "float64" if is_double else "float32"
    return int(np.dtype((model.solver_options or {}).get("dtype", usual)).itemsize)


def fit_sizes(model: Any, given: Any, plan: Any, n_threads: int) -> FitSizes:
    """Return the sizes of a fit, but for the non-zeros of its codes.

    Parameters
    ----------
    model : FSSMSC
        The parameters.
    given : FitInput
        What it is fitted on.
    plan : Plan
        What it is going to do.
    """
    arrays = given.views.arrays
    is_text = [
        holds_sparse(array) or kind in ("tfidf", "lsa") for array, kind in zip(arrays, plan.scaling, strict=True)
    ]
    texts = [array for array, text in zip(arrays, is_text, strict=True) if text]
    n_rows, n_features = given.views.shape
    on_cluster = given.views.is_on_cluster
    return FitSizes(
        n_rows,
        n_features,
        plan.n_landmarks,
        plan.n_components,
        int(np.count_nonzero(given.known.class_ids >= 0)),
        itemsize=4 if all(np.can_cast(array.dtype, np.float32) for array in arrays) else 8,
        solver=model.solver,
        state_itemsize=state_itemsize(model),
        n_threads=n_threads,
        n_text=0 if on_cluster else sum(array.nnz if holds_sparse(array) else array.size for array in texts),
        lsa="lsa" in plan.scaling and not on_cluster,
        on_cluster=on_cluster,
        n_patterns=1 if given.present is None else len(patterns(given.present)[0]),
        nearest_only=model.inference in ("nearest", "paper"),
    )


def check_memory(estimate: MemoryEstimate, available: int | None) -> None:
    """Refuse a fit that cannot succeed in the memory available (None: not known), with the numbers and what to do."""
    if available is not None and estimate.total > available:
        loading = "" if _COMPILED in sys.modules else " once the compiled code is loaded"
        left = f"{_text(max(available, 0))} are available{loading}"
        raise MemoryError(f"This fit needs about {estimate}; {left}. {REMEDY}")


def available_memory(n_threads: int = 1, root: str | Path = "/") -> int | None:
    """Return the bytes that this process can still have, None where the system does not tell.

    The least of what the machine has free, what is left to the control groups of this process (containers), and what
    is left of its own limits (`ulimit -v` and `-d`), which also count address space that is never used.

    Parameters
    ----------
    n_threads : int
        Threads that will be started.
    root : path
        Where `proc` and `sys` are.
    """
    return min(memory_left(n_threads, root).values(), default=None)


def memory_left(n_threads: int = 1, root: str | Path = "/") -> dict[str, int]:
    """Return the bytes that are left by each limit that the system tells; see `available_memory`."""
    root = Path(root)
    known = {
        "machine": [*_machine(root)],
        "control group": [*_control_groups(root)],
        "limit of the process": [*_own_limits(root, n_threads)],
    }
    return {name: min(left) for name, left in known.items() if left}


def _machine(root: Path) -> Iterator[int]:
    fields = _fields(root / "proc/meminfo")
    if "MemAvailable" in fields:
        yield fields["MemAvailable"]
        return
    with suppress(AttributeError, ValueError, OSError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def _control_groups(root: Path) -> Iterator[int]:
    """Limits of the control groups, version 1 and 2, that the process is in: of its own and of all above it."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, controllers, name = line.split(":", 2)
        if number == "0" and not controllers:
            mounts, files = ["", "unified"], ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            mounts, files = ["memory"], ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        for mount in (root / "sys/fs/cgroup" / mount for mount in mounts):
            group = mount / name.lstrip("/")  # not there if a container sees its own group as the top
            for folder in (group, *(parent for parent in group.parents if parent.is_relative_to(mount))):
                limit, used = _read(folder / files[0]).strip(), _read(folder / files[1]).strip()
                if limit.isdigit() and used.isdigit():  # not "max"
                    cached = _fields(folder / "memory.stat", 1).get(files[2], 0)  # of files: given back when needed
                    yield int(limit) - int(used) + min(cached, int(used))


def _own_limits(root: Path, n_threads: int) -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    used = _fields(root / "proc/self/status")
    for name, field in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY and field in used:
            loading = 0 if _COMPILED in sys.modules else _LOADING[name]
            yield limit - used[field] - loading - (n_threads * _THREAD if name == "RLIMIT_AS" else 0)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _fields(path: Path, unit: int = 1024) -> dict[str, int]:
    """Read lines such as "MemAvailable: 1234 kB", in bytes."""
    lines = (line.replace(":", " ").split() for line in _read(path).splitlines())
    return {words[0]: int(words[1]) * unit for words in lines if len(words) > 1 and words[1].isdigit()}
