"""The rows of a search by scaling: landmarks, codes and graph, computed once for all settings that share them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import PARALLEL, ClassIds, Matrix, Presence, Rows, Weights
from ..data.views import Views
from ..engine.blocks import iter_blocks, one_blas_thread, row_blocks
from ..features.auto import mean_cosine
from ..features.products import CompletedProducts, complete_features
from ..features.projected import SEARCHED_ROWS, Coordinates
from ..features.representation import Representation, represent
from ..features.scaled import ScaledRows
from ..features.scaling import TextScalers, fit_scaling
from ..readers.graph import Graph, join_all_rows
from ..readers.linear import LinearReader
from ..solver.codes import code_gram, stack_codes
from ..solver.coverage import cover_landmarks
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.laplacian import Laplacian, quadratic_forms
from ..solver.objective import CodeSums, embedding_matrices
from ..solver.problem import Problem
from ..solver.trace_ratio import solve_trace_ratio
from ..solver.weights import DEFAULTS, DataUnits, for_codes, for_labels, measure_codes, measure_some
from ..supervision.known import supervision_laplacians
from ..supervision.pairs import ResolvedPairs
from .links import joined_rows
from .options import SearchOptions
from .settings import Scaling, Setting

_BLOCK_ROWS = 512  # of some rows, so that threads end together
_KEPT = 6  # folds, of up to two rounds, whose sums are kept: a few MB each with 500 landmarks


@dataclass(frozen=True)
class VisibleLabels:
    """What a fit may learn from: rows with a class, given or passed on by must-links, and pairs."""

    rows: Rows  # ascending
    class_ids: ClassIds
    weights: Weights  # of these rows
    pairs: ResolvedPairs | None
    all_weights: Weights  # of all rows
    n_rows: int  # number of all rows
    n_classes: int
    # of single views, by what scales them: scalings that differ in other views share them
    regressions: dict[Any, tuple[Any, LinearReader]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def laplacians(self) -> tuple[Rows, Laplacian | None, Laplacian | None]:
        """The rows with supervision and their Laplacians; many settings share them."""
        everyone = np.full(self.n_rows, -1, dtype=np.intp)
        everyone[self.rows] = self.class_ids
        return supervision_laplacians(everyone, self.n_classes, self.pairs, self.all_weights)


@dataclass(frozen=True)
class CodeSet:
    """Codes of all rows, or of some, for one setting, without coupling, and their Gram matrix."""

    encoder: ElasticNetEncoder
    codes: sparse.csr_array
    gram: Matrix
    rows: Rows | None = None  # the numbers of these rows, ascending; None if they are all
    _sums: dict[int, tuple[VisibleLabels, CodeSums]] = field(default_factory=dict, repr=False, compare=False)

    def of(self, rows: Rows) -> sparse.csr_array:
        """Return the codes of some of these rows, by their numbers."""
        return sparse.csr_array(self.codes[rows if self.rows is None else np.searchsorted(self.rows, rows)])

    def sums(self, visible: VisibleLabels) -> CodeSums:
        """Return what an embedding needs to know of the codes, which does not depend on λ_M; kept for some time."""
        if id(visible) not in self._sums:
            rows, must, cannot = visible.laplacians
            forms = quadratic_forms(must, cannot, self.of(rows))
            if len(self._sums) == _KEPT:
                self._sums.pop(next(iter(self._sums)))
            self._sums[id(visible)] = visible, CodeSums(self.gram, 0.0, 0.0, *forms)
        return self._sums[id(visible)][1]


def encode(
    source: Representation, l1: float, ridge: float, weights: Weights, n_threads: int, rows: Rows | None = None
) -> CodeSet:
    """Solve the codes of all rows, or of some, ascending."""
    encoder = ElasticNetEncoder(source.grams.complete, ridge, l1, source.grams)
    cross = source.cross
    encoder.prepare(cross.dtype)  # before the threads start

    def of_block(block: slice) -> tuple[sparse.csr_array, Matrix]:
        part = block if rows is None else rows[block]
        present = cross.present_in(part)
        codes = encoder.encode(cross.read(block) if rows is None else cross.take(rows[block]), present)
        return codes, code_gram(codes, None if weights is None else weights[part])

    m = len(source.landmarks)
    cut = cross.blocks if rows is None else row_blocks(len(rows), _BLOCK_ROWS)
    blocks, gram = [], np.zeros((m, m))
    for codes, part in iter_blocks(of_block, cut, n_threads, "encoding"):
        blocks.append(codes)
        gram += part
    return CodeSet(encoder, stack_codes(blocks, m), gram, rows)


def join_codes(first: CodeSet, second: CodeSet) -> CodeSet:
    """Return the codes of all rows from those of some and those of the others."""
    assert first.rows is not None and second.rows is not None
    order = np.argsort(np.concatenate([first.rows, second.rows]), kind="stable")
    both = sparse.vstack([first.codes, second.codes], format="csr")
    return CodeSet(first.encoder, sparse.csr_array(both[order]), first.gram + second.gram)


def embed_code_set(
    code_set: CodeSet,
    visible: VisibleLabels,
    must_link_weight: float,
    start: Matrix | None = None,
    tol: float = 3e-2,
) -> Matrix:
    """Learn the landmarks' embedding from the labels and pairs that a fit may see."""
    rows, must, cannot = visible.laplacians
    problem = Problem(
        gram=code_set.encoder.gram,
        n_components=visible.n_classes,
        l1=0.0,
        ridge=0.0,
        coupling=0.0,
        must_link_weight=must_link_weight,
        labelled=np.arange(len(rows)),
        must=must,
        cannot=cannot,
    )
    with one_blas_thread():
        sums = code_set.sums(visible)
        solved = solve_trace_ratio(*embedding_matrices(problem, sums), problem.n_components, start=start, tol=tol)
        return cover_landmarks(solved.embedding, problem, sums).embedding if solved.is_partial else solved.embedding


@dataclass(kw_only=True)
class CodedRows:
    """Rows with what is known of them, and their landmarks, codes and graphs by what settings have in common."""

    views: Views
    present: Presence
    weights: Weights  # of the rows in landmarks and smoothness: sample weights times the share of views a row has
    rows: Rows  # labelled rows that count, ascending
    n_classes: int
    seed: int
    n_threads: int
    options: SearchOptions
    sample_weights: Weights = None  # of all rows, as they were given: where labels are learned and judged
    pairs: ResolvedPairs | None = None  # between rows of positive weight
    completes_features: bool = False  # for a reader of completed products that is judged on features (`Joined`)
    starts: dict[Any, Matrix] = field(default_factory=dict)  # embeddings of each set of landmarks
    _sources: dict[Any, Representation] = field(default_factory=dict)
    _text_scalers: TextScalers = field(default_factory=dict)  # scalings that differ in dense views share these
    _coordinates: Coordinates = field(default_factory=dict)  # of texts, likewise
    _units: dict[Any, DataUnits] = field(default_factory=dict)
    _codes: dict[Any, CodeSet] = field(default_factory=dict)
    _judged_codes: dict[Any, CodeSet] = field(default_factory=dict)
    _graphs: dict[Any, Graph] = field(default_factory=dict)

    @cached_property
    def known_rows(self) -> Rows:
        """Labelled rows, and those that must-links may pass a label on to; ascending."""
        if self.pairs is None:
            return self.rows
        joined = joined_rows(self.pairs)
        return np.flatnonzero(np.isin(joined, joined[self.rows]))

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

    def _code_weights(self, setting: Setting) -> tuple[float, float]:
        """Return λ_Z and μ of a setting."""
        if setting.units == "paper":
            return setting.l1, setting.ridge
        return for_codes(setting.l1, setting.ridge, self._data_units(setting))

    def _data_units(self, setting: Setting) -> DataUnits:
        key = setting.source
        if key not in self._units:
            source = self.source(setting)
            self._units[key] = measure_some(source.cross, source.grams.complete, self.weights)[0]
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
            cross = source.cross if self.present is None else CompletedProducts(source.cross, self.completer(setting))
            self._graphs[key] = join_all_rows(source.landmarks, cross, self.sample_weights, self.n_threads)
        return self._graphs[key]

    def keep_scalings(self, kept: set[Scaling]) -> None:
        """Free what belongs to other scalings."""
        self._codes = {key: value for key, value in self._codes.items() if key[0] in kept}
        self._judged_codes = {key: value for key, value in self._judged_codes.items() if key[0] in kept}
        self._sources = {key: value for key, value in self._sources.items() if key[0] in kept}
        self._graphs = {key: value for key, value in self._graphs.items() if key[0] in kept}
