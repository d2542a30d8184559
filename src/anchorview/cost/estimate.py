"""An estimate of memory: bytes by what they are for, in the stage that takes most; an error if there is too little."""

from __future__ import annotations

import sys
from dataclasses import dataclass

Items = dict[str, float]  # bytes by what they are for
REMEDY = (
    "Lower n_landmarks, give the views in single precision (float32), fit a sample of the rows and predict the rest in "
    "blocks (predict needs a fixed amount of memory), or raise the limit."
)
SEARCH_REMEDY = (
    "Lower n_landmarks or n_sampled (of search_options), give the views in single precision (float32), fit a sample of "
    "the rows and predict the rest in blocks (predict needs a fixed amount of memory), use FSSMSC, which needs a "
    "fraction of it, or raise the limit."
)
_COMPILED = "anchorview.solver.kernels"


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs beyond the input at its peak, by what they are for.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> FSSMSC(n_jobs=1).estimate_memory(n_rows=1_000_000, n_features=200, n_clusters=10).parts
    {'codes': 388000000, 'rows': 72000000, 'blocks': 25102592, 'landmarks': 24800000}
    """

    n_rows: int
    parts: dict[str, int]
    stage: str = "solver"

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(self.parts.values())

    def describe_total(self) -> str:
        """Return the total in words."""
        return _text(self.total)

    def __str__(self) -> str:
        largest_first = sorted(self.parts.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {_text(size)}" for name, size in largest_first if size >= 5e5) or "next to nothing"
        per_row = self.total / max(self.n_rows, 1) / 1e3
        return f"{_text(self.total)} beyond the input ({per_row:.1f} KB per row), in the stage {self.stage!r}: {listed}"


def largest_stage(n_rows: int, stages: list[tuple[str, Items]]) -> MemoryEstimate:
    """Return the stage that holds most."""
    name, items = max(stages, key=lambda stage: sum(stage[1].values()))
    return MemoryEstimate(n_rows, {what: int(size) for what, size in items.items() if size}, name)


def check_memory(estimate: MemoryEstimate, available: int | None, remedy: str = REMEDY) -> None:
    """Refuse a fit that cannot succeed in the memory available (None: not known), with the numbers and what to do."""
    if available is not None and estimate.total > available:
        loading = "" if _COMPILED in sys.modules else " once the compiled code is loaded"
        left = f"{_text(max(available, 0))} are available{loading}"
        raise MemoryError(f"This fit needs about {estimate}; {left}. {remedy}")


def _text(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
