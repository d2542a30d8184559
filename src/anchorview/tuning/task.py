"""The data of a search, with what its settings share, and what the search found out about a setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..engine.parallel import map_blocks
from ..parallel_rows import PARALLEL, mean_cosine
from ..scaling import Presence
from ..views import Views
from .graph import MAX_ROWS, FittedRows, make_graph, make_space
from .heads import Codes
from .representation import CodeSet, Representation, encode, represent
from .settings import Setting

DENSE_CODES = 100  # non-zeros per row


@dataclass(frozen=True)
class Judgement:
    """How a setting did on the hidden labels."""

    setting: Setting
    loss: float  # mean log loss, probabilities at the best temperature
    accuracy: float
    split_accuracies: tuple[float, ...]
    temperature: float
    seconds: float
    belief: float  # loss, drawn towards what is known beforehand when few labels were judged
    held_out: npt.NDArray[np.floating]  # class probabilities of the judged rows, each without its own label


@dataclass(frozen=True)
class Graph:
    """Neighbours among all rows, in one scaling."""

    rows: FittedRows
    edges: sparse.csr_array


@dataclass
class Task:
    """The data of a search."""

    views: Views
    present: Presence
    weights: npt.NDArray[np.float64] | None
    rows: npt.NDArray[np.intp]  # labelled rows
    classes: Codes  # their class numbers
    n_classes: int
    n_landmarks: int
    other_n_landmarks: list[int]  # that are tried too
    default_scaling: str | tuple[str, ...]
    folds: list[npt.NDArray[np.intp]]
    seed: int
    n_threads: int
    report: Callable[[str], None]
    judged: dict[Setting, Judgement] = field(default_factory=dict)
    starts: dict[Any, npt.NDArray[np.float64]] = field(default_factory=dict)  # embeddings of each set of landmarks
    _sources: dict[Any, Representation] = field(default_factory=dict)
    _codes: dict[Any, CodeSet] = field(default_factory=dict)
    _graphs: dict[Any, Graph] = field(default_factory=dict)

    @property
    def judged_rows(self) -> npt.NDArray[np.intp]:
        """Positions, among the labelled rows, of those that some fold hides."""
        return np.unique(np.concatenate(self.folds))

    @property
    def splits(self) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Each fold, and the labelled rows outside it."""
        everything = np.arange(len(self.rows))
        return [(hidden, np.setdiff1d(everything, hidden)) for hidden in self.folds]

    @property
    def has_graph(self) -> bool:
        """Whether a graph of all rows is affordable."""
        return len(self.views) <= MAX_ROWS

    def source(self, setting: Setting) -> Representation:
        """Scaling and landmarks of a setting."""
        key = (setting.scaling, setting.n_landmarks)
        if key not in self._sources:
            rng = np.random.RandomState(self.seed)
            self._sources[key] = represent(
                self.views, setting.choice, setting.n_landmarks, rng, self.n_threads, self.present, self.weights
            )
        return self._sources[key]

    def is_parallel(self, setting: Setting) -> bool:
        """Whether rows are so alike in a scaling that codes would be dense and say nothing."""
        return mean_cosine(self.source(setting).landmarks) > PARALLEL

    def code_set(self, setting: Setting) -> CodeSet:
        """Codes of a setting."""
        key = (setting.scaling, setting.n_landmarks, setting.l1, setting.ridge)
        if key not in self._codes:
            self._codes[key] = encode(self.source(setting), setting.l1, setting.ridge, self.n_threads)
        return self._codes[key]

    def has_dense_codes(self, setting: Setting) -> bool:
        """Whether codes have so many non-zeros that denser ones would take too long: a row costs their cube."""
        codes = self.code_set(setting).codes
        return bool(codes.nnz > DENSE_CODES * codes.shape[0])

    def graph(self, setting: Setting) -> Graph:
        """Graph of all rows in the scaling of a setting."""
        key = (setting.scaling, setting.n_landmarks)
        if key not in self._graphs:
            source = self.source(setting)
            space = make_space(source.landmarks)
            parts = map_blocks(
                lambda block: space.coordinates(source.cross.rows(block)), source.cross.blocks, self.n_threads
            )
            points = np.concatenate(parts)
            self._graphs[key] = Graph(FittedRows(space, points), make_graph(points, self.n_threads))
        return self._graphs[key]

    def forget(self, kept: set[str | tuple[str, ...]]) -> None:
        """Free what belongs to scalings that are out of the race, but for that of good settings."""
        best = {s.scaling for s in sorted(self.judged, key=lambda s: self.judged[s].belief)[:20]} | kept
        self._codes = {key: value for key, value in self._codes.items() if key[0] in best}
        self._sources = {key: value for key, value in self._sources.items() if key[0] in best}
        self._graphs = {key: value for key, value in self._graphs.items() if key[0] in best}
