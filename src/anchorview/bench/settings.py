"""What a call of `anchorview bench` asks for, and the runs that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .methods import METHODS, Method, choose_methods, for_data
from .protocol import label_fraction
from .runner import Run
from .sources import Description, Source

JOBS = "anchorview.bench.jobs"
SELECTIONS = ("oracle", "cv", "default")


@dataclass(frozen=True)
class Settings:
    """Data sets, methods, repetitions and how parameters are chosen.

    Attributes
    ----------
    data : sequence of pairs of Source and Description
        The data sets with their sizes.
    methods : sequence of str
        Names; none means all that an experiment can use.
    repeats : int
        Draws of labels.
    selections : sequence of str
        Of "oracle", "cv" and "default".
    fraction : float, optional
        Part of the rows that are labelled; by default 5 % below 10,000 rows and 1 % from there on.
    seed : int
        First seed.
    quick : bool
        Smaller grids and sizes.
    """

    data: Sequence[tuple[Source, Description]]
    methods: Sequence[str] = ()
    repeats: int = 20
    selections: Sequence[str] = ("default",)
    fraction: float | None = None
    seed: int = 0
    quick: bool = False
    sizes: Sequence[int] = field(default=())

    @property
    def seeds(self) -> range:
        """One seed per repetition."""
        return range(self.seed, self.seed + self.repeats)

    def choose(self, among: Sequence[str] = tuple(METHODS)) -> list[Method]:
        """Return the methods asked for, of those that an experiment can use."""
        return choose_methods(self.methods, among)

    def labelled(self, n_rows: int) -> float:
        """Part of the rows that are labelled."""
        return label_fraction(n_rows) if self.fraction is None else self.fraction

    def fit(
        self,
        source: Source,
        about: Description,
        method: Method,
        parameters: dict[str, Any],
        seed: int,
        *,
        fraction: float | None = None,
        n_rows: int | None = None,
        histories: bool = False,
        fresh: bool = False,
    ) -> Run:
        """Return the run of one fit."""
        given = for_data(method, about.is_sparse) | parameters
        used = {"n_rows": n_rows} if n_rows is not None and n_rows < about.n_rows else {}
        rows = n_rows if used and n_rows is not None else about.n_rows
        share = self.labelled(rows) if fraction is None else fraction
        common = {"method": method.name, "seed": seed, "fraction": share, **used}
        key = {
            "task": "memory" if fresh else "convergence" if histories else "fit",
            "data": about.name,
            "fingerprint": about.fingerprint,
            "parameters": method.all_parameters(given),
            **common,
        }
        extra = {"histories": True} if histories else {}
        arguments = {"place": source.place, "parameters": given, **common, **extra}
        return Run(f"{JOBS}:fit_once", key, arguments, fresh)
