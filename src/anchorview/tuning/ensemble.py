"""The chosen settings fitted for good: with the labels given, and once more with labels the ensemble is sure of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..engine.parallel import map_blocks, one_blas_thread
from .experts import Expert, ExpertGroup, fit_head, head_features, stack_features
from .graph import GraphHead, propagate
from .heads import Codes, Head
from .representation import embed_landmarks
from .settings import Setting
from .task import Judgement, Task
from .voting import empty_votes, temper

_SURE_SHARE = 0.8  # of the rows that are given a class, those it is surest of count as labelled
_MAX_SURE = 5000
_BLOCK_ROWS = 4096


class Ensemble:
    """Experts as they are fitted, those that share work put together.

    Parameters
    ----------
    task : Task
        The data of the search.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.groups: dict[Any, ExpertGroup] = {}
        self._encoders: dict[Any, list[Expert]] = {}

    def add(
        self,
        chosen: list[tuple[Judgement, float]],
        rows: npt.NDArray[np.intp],
        classes: Codes,
        saw_sure_rows: bool = False,
    ) -> None:
        """Fit settings with these labels."""
        embeddings: dict[Any, npt.NDArray[np.float64]] = {}
        for judgement, weight in chosen:
            setting = judgement.setting
            head, embedding = self._fit(setting, rows, classes, embeddings)
            expert = Expert(setting, head, judgement.temperature, embedding, weight, saw_sure_rows)
            self._experts_beside(setting).append(expert)

    def _fit(
        self,
        setting: Setting,
        rows: npt.NDArray[np.intp],
        classes: Codes,
        embeddings: dict[Any, npt.NDArray[np.float64]],
    ) -> tuple[Head, npt.NDArray[np.float64] | None]:
        """Return the head of a setting and, if it reads one, the landmarks' embedding."""
        task = self.task
        if setting.head == "graph":
            edges = task.graph(setting).edges
            return GraphHead(propagate(edges, [(rows, classes)], task.n_classes, setting.strength)[0]), None
        embedding = None
        if setting.head == "features":
            features = stack_features(task.source(setting).scaler.scale(task.views, rows, task.present))
        else:
            if setting.head != "codes":
                embedding = self._embedding(setting, rows, classes, embeddings)
            features = head_features(setting.head, task.code_set(setting).codes[rows], embedding)
        with one_blas_thread():
            return fit_head(setting, features, classes, task.n_classes), embedding

    def _experts_beside(self, setting: Setting) -> list[Expert]:
        """Return the list of the experts that share most work with this setting."""
        task = self.task
        source = task.source(setting)
        place = (setting.scaling, setting.n_landmarks)
        group = self.groups.setdefault(place, ExpertGroup(source.scaler, source.landmarks))
        if setting.head == "features":
            return group.on_features
        if setting.head == "graph":
            group.fitted_rows = task.graph(setting).rows
            return group.on_graph
        key = (*place, setting.l1, setting.ridge)
        if key not in self._encoders:
            self._encoders[key] = []
            group.on_codes.append((task.code_set(setting).encoder, self._encoders[key]))
        return self._encoders[key]

    def _embedding(
        self, setting: Setting, rows: npt.NDArray[np.intp], classes: Codes, known: dict[Any, Any]
    ) -> npt.NDArray[np.float64]:
        key = replace(setting, head="", strength=0.0)  # whatever reads it
        if key not in known:
            code_set, n_classes = self.task.code_set(setting), self.task.n_classes
            known[key] = embed_landmarks(code_set, rows, classes, n_classes, setting.must_link_weight, tol=1e-3)
        found: npt.NDArray[np.float64] = known[key]
        return found

    def add_sure_rows(self, chosen: list[tuple[Judgement, float]]) -> None:
        """Fit the settings once more, with the rows that the ensemble is surest of as labelled rows too.

        Of the rows given a class, those most sure of it are taken; spreading over the graph, which has done just that,
        is not done again.
        """
        task = self.task
        shares = temper(self.votes()[0], 1.0)
        numbers, sure = shares.argmax(axis=1), shares.max(axis=1)
        numbers[task.rows], sure[task.rows] = task.classes, 2.0
        rows = []
        for number in range(task.n_classes):
            members = np.flatnonzero(numbers == number)
            n_given = int(np.count_nonzero(task.classes == number))
            count = max(int(_SURE_SHARE * len(members)), n_given)
            rows.append(members[np.argsort(-sure[members], kind="stable")][:count])
        every = np.concatenate(rows)
        if len(every) > _MAX_SURE:
            every = np.random.RandomState(task.seed).choice(every, _MAX_SURE, replace=False)
        every = np.union1d(every, task.rows)
        again = [(judgement, weight) for judgement, weight in chosen if judgement.setting.head != "graph"]
        self.add(again, every, numbers[every], saw_sure_rows=True)

    def votes(self) -> npt.NDArray[np.floating]:
        """Votes of the experts for the rows of the fit, from codes and neighbours that are known."""
        task = self.task
        n_rows = len(task.views)
        votes = empty_votes(n_rows, task.n_classes)
        each_alone = sparse.eye_array(n_rows, format="csr", dtype=np.float32)  # weights of the graph's rows

        def of_block(start: int) -> None:
            block = slice(start, min(start + _BLOCK_ROWS, n_rows))
            for group in self.groups.values():
                for _, experts in group.on_codes:
                    codes = task.code_set(experts[0].setting).codes[block]
                    for expert in experts:
                        expert.vote(codes, votes, block)
                if group.on_features:
                    features = stack_features(group.scaler.scale(task.views, block, task.present))
                    for expert in group.on_features:
                        expert.vote(features, votes, block)
                for expert in group.on_graph:
                    expert.vote(each_alone[block], votes, block)

        map_blocks(of_block, range(0, n_rows, _BLOCK_ROWS), task.n_threads)
        return votes
