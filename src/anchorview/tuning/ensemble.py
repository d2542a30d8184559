"""The chosen settings fitted for good: with the labels given, and once more with labels the ensemble is sure of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core.arrays import Matrix
from ..engine.blocks import map_blocks, one_blas_thread, row_blocks
from ..readers.averaging import empty_votes, temper
from ..readers.graph import GraphHead
from ..readers.poisson import PoissonHead
from .experts import Expert, ExpertGroup, fit_head, head_features, stack_features, vote_by_codes
from .heads import Head
from .links import Told, settle_pairs
from .representation import embed_code_set
from .search_data import Judgement, SearchData
from .settings import ON_GRAPH, Setting

_BLOCK_ROWS = 4096


class Ensemble:
    """Experts as they are fitted, those that share work put together.

    Parameters
    ----------
    data : SearchData
        The data of the search.
    """

    def __init__(self, data: SearchData) -> None:
        self.data = data
        self.groups: dict[Any, ExpertGroup] = {}
        self._encoders: dict[Any, list[Expert]] = {}

    def add(
        self,
        chosen: list[tuple[Judgement, float]],
        told: Told,
        saw_sure_rows: bool = False,
    ) -> None:
        """Fit settings with what they are told."""
        embeddings: dict[Any, Matrix] = {}
        for judgement, weight in chosen:
            setting = judgement.setting
            head, embedding = self._fit(setting, told, embeddings)
            expert = Expert(setting, head, judgement.temperature, embedding, weight, saw_sure_rows)
            self._experts_beside(setting).append(expert)

    def _fit(
        self,
        setting: Setting,
        told: Told,
        embeddings: dict[Any, Matrix],
    ) -> tuple[Head, Matrix | None]:
        """Return the head of a setting and, if it reads one, the landmarks' embedding."""
        data = self.data
        if setting.head in ON_GRAPH:
            labels, graph = [(told.rows, told.class_ids)], data.graph(setting)
            if setting.head == "spread":
                return GraphHead(graph.spread(labels, data.n_classes, setting.strength)[0]), None
            return PoissonHead(graph.potential(labels, data.n_classes, setting.strength)[0]), None
        embedding = None
        if setting.head == "features":
            features = stack_features(data.source(setting).scaler.take(data.views, told.rows, data.present))
        else:
            if setting.head != "codes":
                embedding = self._embedding(setting, told, embeddings)
            features = head_features(setting.head, data.code_set(setting).codes[told.rows], embedding)
        with one_blas_thread():
            return fit_head(setting, features, told.class_ids, data.n_classes, told.weights), embedding

    def _experts_beside(self, setting: Setting) -> list[Expert]:
        """Return the list of the experts that share most work with this setting."""
        data = self.data
        source = data.source(setting)
        place = setting.source
        if place not in self.groups:
            completer = data.completer(setting)
            weights = completer.l1, completer.ridge
            self.groups[place] = ExpertGroup(source.scaler, source.landmarks, completion=weights)
        group = self.groups[place]
        if setting.head == "features":
            return group.on_features
        if setting.head in ON_GRAPH:
            group.fitted_rows = data.graph(setting).rows
            return group.on_graph
        key = (*place, setting.l1, setting.ridge)
        if key not in self._encoders:
            self._encoders[key] = []
            group.on_codes.append((data.code_set(setting).encoder, self._encoders[key]))
        return self._encoders[key]

    def include(self, setting: Setting) -> None:
        """Have the codes of a setting computed, whether or not an expert reads them."""
        self._experts_beside(setting)

    def _embedding(self, setting: Setting, told: Told, known: dict[Any, Matrix]) -> Matrix:
        key = replace(setting, head="", strength=0.0)  # whatever reads it
        if key not in known:
            known[key] = self.embedding(setting, told)
        return known[key]

    def embedding(self, setting: Setting, told: Told) -> Matrix:
        """Return the embedding of a setting's landmarks."""
        return embed_code_set(self.data.code_set(setting), told, self.data.must_link_weight(setting), tol=1e-3)

    def add_sure_rows(self, chosen: list[tuple[Judgement, float]]) -> None:
        """Fit the settings once more, with the rows that the ensemble is surest of as labelled rows too.

        Of the rows given a class, those most sure of it are taken; spreading over the graph, which has done just that,
        is not done again.
        """
        data, told = self.data, self.data.told()
        shares = temper(self.votes()[0], 1.0)
        if told.pairs is not None:
            shares = settle_pairs(shares, data.labels(), told.pairs, data.sample_weights)
        numbers, sure = shares.argmax(axis=1), shares.max(axis=1)
        numbers[told.rows], sure[told.rows] = told.class_ids, 2.0
        weights = np.ones(len(numbers)) if data.sample_weights is None else data.sample_weights
        rows = []
        for number in range(data.n_classes):
            members = np.flatnonzero((numbers == number) & (weights > 0))
            members = members[np.argsort(-sure[members], kind="stable")]
            counted, given = np.cumsum(weights[members]), weights[told.rows[told.class_ids == number]].sum()
            rows.append(members[counted <= max(data.options.sure_share * weights[members].sum(), given)])
        every = np.concatenate(rows)
        if len(every) > data.options.max_sure:
            every = np.random.RandomState(data.seed).choice(every, data.options.max_sure, replace=False)
        every = np.union1d(every, told.rows)
        again = [(judgement, weight) for judgement, weight in chosen if judgement.setting.head not in ON_GRAPH]
        self.add(again, replace(told, rows=every, class_ids=numbers[every], weights=data.weights_of(every)), True)

    def votes(self) -> Matrix:
        """Votes of the experts for the rows of the fit, from codes and neighbours that are known."""
        data = self.data
        n_rows = len(data.views)
        votes = empty_votes(n_rows, data.n_classes)

        def of_block(block: slice) -> None:
            for group in self.groups.values():
                for _, experts in group.on_codes:
                    codes = data.code_set(experts[0].setting).codes[block]
                    vote_by_codes(experts, codes, votes, block)
                if group.on_features:
                    features = stack_features(group.scaler.read(data.views, block, data.present))
                    for expert in group.on_features:
                        expert.vote(features, votes, block)
                for expert in group.on_graph:
                    expert.vote(data.graph(expert.setting).every[block], votes, block)

        map_blocks(of_block, row_blocks(n_rows, _BLOCK_ROWS), data.n_threads)
        return votes
