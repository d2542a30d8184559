"""The data of a search, with what its settings share, and the judgement of a setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Presence, Rows, Weights
from ..data.views import Views
from ..engine.blocks import map_blocks
from ..features.auto import PARALLEL, mean_cosine
from ..features.products import Representation, represent
from ..features.scaling import fit_scaling
from .graph import FittedRows, make_graph, make_space
from .options import SearchOptions
from .representation import CodeSet, encode
from .settings import Scaling, Setting


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
    held_out: Matrix  # class probabilities of the judged rows, each without its own label


@dataclass(frozen=True)
class Graph:
    """Neighbours among all rows, in one scaling."""

    rows: FittedRows
    edges: sparse.csr_array


@dataclass
class SearchData:
    """The data of a search, and what its settings share."""

    views: Views
    present: Presence
    weights: Weights
    rows: Rows  # labelled rows
    class_ids: ClassIds  # their class numbers
    n_classes: int
    n_landmarks: int
    other_n_landmarks: list[int]  # that are tried too
    default_scaling: Scaling
    folds: list[Rows]
    seed: int
    n_threads: int
    options: SearchOptions
    report: Callable[[str], None]
    judged: dict[Setting, Judgement] = field(default_factory=dict)
    starts: dict[Any, Matrix] = field(default_factory=dict)  # embeddings of each set of landmarks
    _sources: dict[Any, Representation] = field(default_factory=dict)
    _codes: dict[Any, CodeSet] = field(default_factory=dict)
    _graphs: dict[Any, Graph] = field(default_factory=dict)

    @property
    def judged_rows(self) -> Rows:
        """Positions, among the labelled rows, of those that some fold hides."""
        return np.unique(np.concatenate(self.folds))

    @property
    def has_graph(self) -> bool:
        """Whether a graph of all rows is affordable."""
        return len(self.views) <= self.options.max_graph_rows

    def source(self, setting: Setting) -> Representation:
        """Scaling and landmarks of a setting."""
        key = setting.source
        if key not in self._sources:
            rng = np.random.RandomState(self.seed)
            rows: dict[str, Any] = {"present": self.present, "weights": self.weights}
            scaler = fit_scaling(self.views, setting.scaling, self.n_threads, rng=rng, **rows)
            self._sources[key] = represent(
                self.views,
                scaler,
                "kmeans",
                setting.n_landmarks,
                rng,
                self.n_threads,
                least=self.n_classes,
                cache_bytes=self.options.cache_bytes,
                **rows,
            )
        return self._sources[key]

    def is_parallel(self, setting: Setting) -> bool:
        """Whether rows are so alike in a scaling that codes would be dense and tell nothing."""
        return mean_cosine(self.source(setting).landmarks) > PARALLEL

    def code_set(self, setting: Setting) -> CodeSet:
        """Codes of a setting."""
        key = (*setting.source, setting.l1, setting.ridge)
        if key not in self._codes:
            source = self.source(setting)
            self._codes[key] = encode(source, setting.l1, setting.ridge, self.weights, self.n_threads)
        return self._codes[key]

    def has_dense_codes(self, setting: Setting) -> bool:
        """Whether codes have so many non-zeros that denser ones would take too long."""
        codes = self.code_set(setting).codes
        return bool(codes.nnz > self.options.dense_codes * codes.shape[0])

    def graph(self, setting: Setting) -> Graph:
        """Graph of all rows in the scaling of a setting."""
        key = setting.source
        if key not in self._graphs:
            source = self.source(setting)
            space = make_space(source.landmarks)
            parts = map_blocks(
                lambda block: space.coordinates(source.cross.read(block)), source.cross.blocks, self.n_threads
            )
            points = np.concatenate(parts)
            self._graphs[key] = Graph(FittedRows(space, points), make_graph(points, self.n_threads))
        return self._graphs[key]

    def forget(self, kept: set[Scaling]) -> None:
        """Free what belongs to scalings that are out of the race, but for those of good settings."""
        best_first = sorted(self.judged, key=lambda setting: self.judged[setting].belief)
        best = {setting.scaling for setting in best_first[: self.options.n_kept]} | kept
        self._codes = {key: value for key, value in self._codes.items() if key[0] in best}
        self._sources = {key: value for key, value in self._sources.items() if key[0] in best}
        self._graphs = {key: value for key, value in self._graphs.items() if key[0] in best}
