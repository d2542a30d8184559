"""The chosen settings fitted for good: with the labels given, and once more with labels the ensemble is sure of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import Matrix, fewer_digits, temper
from ..engine.blocks import map_blocks, one_blas_thread, row_blocks
from ..features.representation import Representation
from ..model.model import Branch, Embedder, Member
from ..model.predicting import add_vote, empty_votes
from ..readers.base import Reader, to_space
from ..readers.graph import FittedRows, PoissonReader, SpreadReader
from ..solver.elastic_net import ElasticNetEncoder
from ..tuning.coded_rows import VisibleLabels, embed_code_set
from ..tuning.judging import SPACES, Judgement, SearchData, fit_reader
from ..tuning.links import apply_pairs
from ..tuning.settings import ON_FEATURES, ON_GRAPH, Setting

_BLOCK_ROWS = 4096
_BITS = 24  # of an embedding, as many as single precision has
_GRAPH_BITS = 12  # of what a graph keeps of its rows: they are moved by 1e-4 of their length, and stay the same row
Fits = list[tuple[Setting, Member]]


@dataclass(eq=False)
class _Part:
    """Members that share a scaling and landmarks; those of one encoder share its codes."""

    source: Representation
    completer: ElasticNetEncoder
    on_codes: dict[Any, Fits] = field(default_factory=dict)  # by what codes depend on
    on_graph: Fits = field(default_factory=list)
    on_features: Fits = field(default_factory=list)

    def members(self) -> Iterator[Member]:
        """Return all of them, those that share codes together."""
        for fits in (*self.on_codes.values(), self.on_graph, self.on_features):
            yield from (member for _, member in fits)


class Ensemble:
    """Settings as they are fitted, those that share work put together.

    Parameters
    ----------
    data : SearchData
        The data of the search.
    """

    def __init__(self, data: SearchData) -> None:
        self.data = data
        self._parts: dict[Any, _Part] = {}
        self._graphs: dict[Any, FittedRows] = {}

    def branches(self) -> tuple[Branch, ...]:
        """Return what predicts."""
        return tuple(
            Branch(
                part.source.scaler,
                part.source.landmarks,
                tuple(part.members()),
                part.completer if part.on_graph else None,
            )
            for part in self._parts.values()
        )

    def embedder(self, setting: Setting) -> Embedder:
        """Return what `transform` gives by one setting, learned from all labels and pairs."""
        source, encoder = self.data.source(setting), self.data.code_set(setting).encoder
        return Embedder(source.scaler, source.landmarks, encoder, self._embed(setting, self.data.visible()))

    def add(self, chosen: Iterable[tuple[Judgement, float]], visible: VisibleLabels, saw_guesses: bool = False) -> None:
        """Fit settings with what they may see."""
        embeddings: dict[Any, Matrix] = {}
        for judgement, weight in chosen:
            setting = judgement.setting
            reader, embedding = self._fit(setting, visible, embeddings)
            reader = replace(reader, temperature=judgement.temperature)  # type: ignore[type-var]
            graph = self._rows_of_graph(setting) if setting.head in ON_GRAPH else None
            has_codes = reader.reads in ("unit_embedding", "unit_codes")
            encoder = self.data.code_set(setting).encoder if has_codes else None
            member = Member(reader, weight, encoder, embedding, graph, saw_guesses)
            self._beside(setting).append((setting, member))

    def _fit(
        self, setting: Setting, visible: VisibleLabels, embeddings: dict[Any, Matrix]
    ) -> tuple[Reader, Matrix | None]:
        """Return the reader of a setting and, if it reads one, the landmarks' embedding."""
        data = self.data
        if setting.head in ON_GRAPH:
            labels, graph = [(visible.rows, visible.class_ids)], data.graph(setting)
            if setting.head == "spread":
                shares = graph.spread(labels, data.n_classes, setting.strength)[0]
                return SpreadReader(fewer_digits(shares, _GRAPH_BITS)), None
            potential = graph.potential(labels, data.n_classes, setting.strength)[0]
            return PoissonReader(fewer_digits(potential, _GRAPH_BITS)), None
        embedding = None
        if setting.head in ON_FEATURES:
            rows = data.source(setting).cross.features(visible.rows).stacked()
        else:
            if setting.head != "codes":
                key = replace(setting, head="", strength=0.0)  # whatever reads it
                if key not in embeddings:
                    embeddings[key] = self._embed(setting, visible)
                embedding = embeddings[key]
            rows = to_space(SPACES[setting.head], data.code_set(setting).codes[visible.rows], embedding)
        with one_blas_thread():
            return fit_reader(data, setting, rows, visible), embedding

    def _beside(self, setting: Setting) -> Fits:
        """Return the members that share most work with this setting."""
        if setting.source not in self._parts:
            self._parts[setting.source] = _Part(self.data.source(setting), self.data.completer(setting))
        part = self._parts[setting.source]
        if setting.head in ON_FEATURES:
            return part.on_features
        if setting.head in ON_GRAPH:
            return part.on_graph
        return part.on_codes.setdefault((setting.l1, setting.ridge), [])

    def _rows_of_graph(self, setting: Setting) -> FittedRows:
        """Return what new rows are compared with, in a form that files pack."""
        if setting.source not in self._graphs:
            rows = self.data.graph(setting).rows
            self._graphs[setting.source] = replace(rows, points=fewer_digits(rows.points, _GRAPH_BITS))
        return self._graphs[setting.source]

    def _embed(self, setting: Setting, visible: VisibleLabels) -> Matrix:
        weight = self.data.must_link_weight(setting)
        return fewer_digits(embed_code_set(self.data.code_set(setting), visible, weight, tol=1e-3), _BITS)

    def add_sure_rows(self, chosen: list[tuple[Judgement, float]]) -> None:
        """Fit the settings once more, with the rows that the ensemble is surest of as labelled rows too.

        Of the rows given a class, those most sure of it are taken; spreading over the graph, which has done just that,
        is not done again.
        """
        data, visible = self.data, self.data.visible()
        shares = temper(self.votes()[0], 1.0)
        if visible.pairs is not None:
            shares = apply_pairs(shares, data.labels(), visible.pairs, data.sample_weights)
        numbers, sure = shares.argmax(axis=1), shares.max(axis=1)
        numbers[visible.rows], sure[visible.rows] = visible.class_ids, 2.0
        weights = np.ones(len(numbers)) if data.sample_weights is None else data.sample_weights
        rows = []
        for number in range(data.n_classes):
            members = np.flatnonzero((numbers == number) & (weights > 0))
            members = members[np.argsort(-sure[members], kind="stable")]
            counted, given = np.cumsum(weights[members]), weights[visible.rows[visible.class_ids == number]].sum()
            rows.append(members[counted <= max(data.options.sure_share * weights[members].sum(), given)])
        every = np.concatenate(rows)
        if len(every) > data.options.max_sure:
            every = np.random.RandomState(data.seed).choice(every, data.options.max_sure, replace=False)
        every = np.union1d(every, visible.rows)
        again = [(judgement, weight) for judgement, weight in chosen if judgement.setting.head not in ON_GRAPH]
        self.add(again, replace(visible, rows=every, class_ids=numbers[every], weights=data.weights_of(every)), True)

    def votes(self) -> Matrix:
        """Votes of the members for the rows of the fit, from codes and neighbours that are known."""
        data, parts = self.data, self._parts.values()
        n_rows = len(data.views)
        votes = empty_votes([member for part in parts for member in part.members()], n_rows, data.n_classes)

        def of_block(block: slice) -> None:
            for part in parts:
                for fits in part.on_codes.values():
                    _add_by_codes(fits, data.code_set(fits[0][0]).codes[block], votes[:, block])
                if part.on_features:
                    features = part.source.cross.features(block).stacked()
                    for _, member in part.on_features:
                        add_vote(member, features, votes[:, block])
                for setting, member in part.on_graph:
                    add_vote(member, data.graph(setting).every[block], votes[:, block])

        map_blocks(of_block, row_blocks(n_rows, _BLOCK_ROWS), data.n_threads)
        return votes


def _add_by_codes(fits: Fits, codes: sparse.csr_array, votes: Matrix) -> None:
    """Add the votes of members for rows of codes; what several of them read is computed once."""
    known: dict[tuple[Any, int], Any] = {}
    for _, member in fits:
        key = member.reader.reads, id(member.embedding)
        if key not in known:
            known[key] = to_space(member.reader.reads, codes, member.embedding)
        add_vote(member, known[key], votes)
