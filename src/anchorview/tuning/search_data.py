"""The data of a search, with what its settings share, and the judgement of a setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..core.arrays import PARALLEL, ClassIds, Matrix, Presence, Rows, Weights
from ..data.views import Views
from ..engine.blocks import map_blocks
from ..features.auto import mean_cosine
from ..features.products import CompletedProducts, complete_features
from ..features.projected import SEARCHED_ROWS, Coordinates
from ..features.representation import Representation, represent
from ..features.scaled import ScaledRows
from ..features.scaling import TextScalers, fit_scaling
from ..readers.graph import Graph, join_rows, make_space
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.weights import DEFAULTS, DataUnits, for_codes, for_labels, measure_codes
from ..supervision.pairs import ResolvedPairs
from .links import joined_rows, pass_on
from .options import SearchOptions
from .representation import CodeSet, VisibleLabels, embed_code_set, encode, join_codes
from .settings import Scaling, Setting
from .units import measure_source


@dataclass(frozen=True)
class Judgement:
    """How a setting did on the hidden labels."""

    setting: Setting
    loss: float  # mean log loss, probabilities at the best temperature
    accuracy: float
    split_accuracies: tuple[float, ...]
    temperature: float
    seconds: float
    shrunk_loss: float  # loss, drawn towards what is known beforehand when few labels were judged
    held_out: Matrix  # class probabilities of the judged rows, each without its own label


@dataclass
class SearchData:
    """The data of a search, and what its settings share."""

    views: Views
    present: Presence
    weights: Weights  # of the rows in landmarks and smoothness: sample weights times the share of views a row has
    rows: Rows  # labelled rows that count, ascending
    class_ids: ClassIds  # their class numbers
    n_classes: int
    n_landmarks: int
    other_n_landmarks: list[int]  # that are tried too
    default_scaling: Scaling
    folds: list[Rows]
    seed: int
    n_threads: int
    options: SearchOptions
    report: Callable[[Judgement], None]
    sample_weights: Weights = None  # of all rows, as they were given: where labels are learned and judged
    pairs: ResolvedPairs | None = None  # between rows of positive weight
    completes_features: bool = False  # for a reader of completed products that is judged on features (`joining`)
    judged: dict[Setting, Judgement] = field(default_factory=dict)
    planned: set[Setting] = field(default_factory=set)  # settings that the search expects to judge, judged ones too
    starts: dict[Any, Matrix] = field(default_factory=dict)  # embeddings of each set of landmarks
    _sources: dict[Any, Representation] = field(default_factory=dict)
    _text_scalers: TextScalers = field(default_factory=dict)  # scalings that differ in dense views share these
    _coordinates: Coordinates = field(default_factory=dict)  # of texts, likewise
    _units: dict[Any, DataUnits] = field(default_factory=dict)
    _codes: dict[Any, CodeSet] = field(default_factory=dict)
    _judged_codes: dict[Any, CodeSet] = field(default_factory=dict)
    _graphs: dict[Any, Graph] = field(default_factory=dict)
    _visible: dict[int, VisibleLabels] = field(default_factory=dict)

    @property
    def judged_rows(self) -> Rows:
        """Positions, among the labelled rows, of those that some fold hides."""
        return np.unique(np.concatenate(self.folds))

    @property
    def judged_weights(self) -> Weights:
        """Weights of those."""
        return self.weights_of(self.rows[self.judged_rows])

    @property
    def n_judged(self) -> float:
        """How many those are, weights counted."""
        weights = self.judged_weights
        return float(len(self.judged_rows) if weights is None else weights.sum())

    def weights_of(self, rows: Rows) -> Weights:
        """Sample weights of some rows."""
        return None if self.sample_weights is None else self.sample_weights[rows]

    @cached_property
    def known_rows(self) -> Rows:
        """Labelled rows, and those that must-links may pass a label on to; ascending."""
        if self.pairs is None:
            return self.rows
        joined = joined_rows(self.pairs)
        return np.flatnonzero(np.isin(joined, joined[self.rows]))

    def visible(self, fold: int | None = None) -> VisibleLabels:
        """Return what a fit may see: everything, or nothing about the rows that a fold hides.

        Pairs with a hidden row are left out: a must-link with a labelled row would tell its label.
        """
        key = -1 if fold is None else fold
        if key not in self._visible:
            hidden = np.empty(0, dtype=np.intp) if fold is None else self.folds[fold]
            shown = np.setdiff1d(np.arange(len(self.rows)), hidden)
            rows, class_ids, pairs = self.rows[shown], self.class_ids[shown], self.pairs
            if pairs is not None:
                left_out = np.zeros(len(self.views), dtype=bool)
                left_out[self.rows[hidden]] = True
                pairs = pairs.without(left_out)
                everyone = pass_on(np.where(left_out, -1, self.labels()), pairs)
                rows = np.flatnonzero(everyone >= 0)
                class_ids = everyone[rows]
            about_rows = self.weights_of(rows), pairs, self.sample_weights
            self._visible[key] = VisibleLabels(rows, class_ids, *about_rows, len(self.views), self.n_classes)
        return self._visible[key]

    def labels(self) -> ClassIds:
        """Class numbers of all rows: −1 but for the labelled rows that count."""
        result = np.full(len(self.views), -1, dtype=np.intp)
        result[self.rows] = self.class_ids
        return result

    @property
    def has_graph(self) -> bool:
        """Whether a graph of all rows is affordable."""
        return len(self.views) <= self.options.max_graph_rows

    @property
    def _is_small(self) -> bool:
        """Whether coordinates of texts may be kept beside the rows."""
        return len(self.views) <= SEARCHED_ROWS and not self.views.is_stored

    def source(self, setting: Setting) -> Representation:
        """Scaling and landmarks of a setting."""
        key = setting.source
        if key not in self._sources:
            rng = np.random.RandomState(self.seed)
            rows: dict[str, Any] = {"present": self.present, "weights": self.weights}
            kept: dict[str, Any] = {"known": self._text_scalers, "view_weights": setting.view_weights}
            scaler = fit_scaling(self.views, setting.scaling, self.n_threads, rng=rng, **kept, **rows)
            self._sources[key] = represent(
                self.views,
                scaler,
                "kmeans",
                setting.n_landmarks,
                rng,
                self.n_threads,
                least=self.n_classes,
                cache_bytes=self.options.cache_bytes,
                coordinates=self._coordinates if self._is_small else None,
                **rows,
            )
        return self._sources[key]

    def is_parallel(self, setting: Setting) -> bool:
        """Whether rows are so alike in a scaling that codes would be dense and tell nothing."""
        return mean_cosine(self.source(setting).landmarks) > PARALLEL

    def code_set(self, setting: Setting) -> CodeSet:
        """Codes of all rows for a setting; those that it was judged by are not solved again."""
        key = self._code_key(setting)
        if key not in self._codes:
            judged = self._judged_codes.get(key)
            if judged is None or self.coded_rows is None:
                self._codes[key] = self._encode(setting, None)
            else:
                rest = np.setdiff1d(np.arange(len(self.views)), self.coded_rows)
                self._codes[key] = join_codes(judged, self._encode(setting, rest))
        return self._codes[key]

    def judged_codes(self, setting: Setting) -> CodeSet:
        """Codes that a setting is judged by: of `coded_rows`."""
        if self.coded_rows is None:
            return self.code_set(setting)
        key = self._code_key(setting)
        if key not in self._judged_codes:
            self._judged_codes[key] = self._encode(setting, self.coded_rows)
        return self._judged_codes[key]

    def _code_key(self, setting: Setting) -> tuple[Any, ...]:
        return *setting.source, *self._code_weights(setting)

    def _encode(self, setting: Setting, rows: Rows | None) -> CodeSet:
        return encode(self.source(setting), *self._code_weights(setting), self.weights, self.n_threads, rows)

    @cached_property
    def coded_rows(self) -> Rows | None:
        """Rows whose codes settings are judged by; None if these are all.

        Labels are known of few rows, and the others only say which landmarks go together.
        """
        known = np.zeros(len(self.views), dtype=bool)
        known[self.known_rows] = True
        if self.pairs is not None:
            known |= self.pairs.touched()
        others = np.flatnonzero(~known)
        if len(others) <= self.options.n_coded:
            return None
        chosen = np.random.RandomState(self.seed).choice(others, self.options.n_coded, replace=False)
        return np.union1d(np.flatnonzero(known), chosen)

    def _code_weights(self, setting: Setting) -> tuple[float, float]:
        """Return λ_Z and μ of a setting."""
        if setting.units == "paper":
            return setting.l1, setting.ridge
        return for_codes(setting.l1, setting.ridge, self._data_units(setting))

    def _data_units(self, setting: Setting) -> DataUnits:
        key = setting.source
        if key not in self._units:
            self._units[key] = measure_source(self.source(setting), self.weights)[0]
        return self._units[key]

    def completer(self, setting: Setting) -> ElasticNetEncoder:
        """Return what completes rows that lack views where no codes are read: the usual ones of the landmarks."""
        usual, grams = DEFAULTS["data"], self.source(setting).grams
        l1, ridge = for_codes(usual.l1, usual.ridge, self._data_units(setting))
        return ElasticNetEncoder(grams.complete, ridge, l1, grams)

    def known_features(self, setting: Setting) -> ScaledRows:
        """Return the scaled rows of `known_rows`; zero where these lack a view, or filled in from their codes."""
        source, rows = self.source(setting), self.known_rows
        scaled = source.cross.features(rows)
        if self.present is None or not self.completes_features:
            return scaled
        products, present = source.cross.take(rows), self.present[rows]
        return complete_features(scaled, products, present, self.completer(setting), source.landmarks)

    def embed(self, setting: Setting, visible: VisibleLabels, start: Matrix | None) -> Matrix:
        """Learn the landmarks' embedding from some of the labels, starting from that of another fold or setting."""
        start = self.starts.get(setting.source) if start is None else start
        embedding = embed_code_set(self.judged_codes(setting), visible, self.must_link_weight(setting), start)
        self.starts.setdefault(setting.source, embedding)
        return embedding

    def must_link_weight(self, setting: Setting) -> float:
        """Return λ_M of a setting."""
        if setting.units == "paper":
            return setting.must_link_weight
        code_set = self.judged_codes(setting)
        weights = self.weights if self.weights is None or code_set.rows is None else self.weights[code_set.rows]
        sizes = measure_codes(code_set.codes, weights)
        return for_labels(setting.must_link_weight, 0.0, len(self.source(setting).landmarks), sizes.squares)[0]

    def has_dense_codes(self, setting: Setting) -> bool:
        """Whether codes have so many non-zeros that denser ones would take too long."""
        return self.count_nonzeros(setting) > self.options.dense_codes

    def count_nonzeros(self, setting: Setting) -> float:
        """Mean number of non-zeros of a setting's codes."""
        codes = self.judged_codes(setting).codes
        return float(codes.nnz / codes.shape[0])

    def graph(self, setting: Setting) -> Graph:
        """Graph of all rows in the scaling of a setting."""
        key = setting.source
        if key not in self._graphs:
            source = self.source(setting)
            space, cross = make_space(source.landmarks), source.cross
            rows = cross if self.present is None else CompletedProducts(cross, self.completer(setting))
            parts = map_blocks(lambda block: space.coordinates(rows.read(block)), cross.blocks, self.n_threads)
            self._graphs[key] = join_rows(np.concatenate(parts), space, self.sample_weights, self.n_threads)
        return self._graphs[key]

    def forget(self, kept: set[Scaling]) -> None:
        """Free what belongs to scalings that are out of the race, but for those of good settings."""
        best_first = sorted(self.judged, key=lambda setting: self.judged[setting].shrunk_loss)
        best = {setting.scaling for setting in best_first[: self.options.n_kept]} | kept
        self._codes = {key: value for key, value in self._codes.items() if key[0] in best}
        self._judged_codes = {key: value for key, value in self._judged_codes.items() if key[0] in best}
        self._sources = {key: value for key, value in self._sources.items() if key[0] in best}
        self._graphs = {key: value for key, value in self._graphs.items() if key[0] in best}
