"""Fitted settings: from rows to class probabilities, for the rows of the fit and for new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from ..core.arrays import ClassIds, Matrix, Presence, Weights, is_sparse, softmax_rows, unit_rows, unit_sparse_rows
from ..data.views import Views
from ..engine.blocks import iter_blocks, row_blocks
from ..features.products import ViewCrossProducts
from ..features.projected import PROJECTED_ROWS, project_texts, shared_texts
from ..features.representation import landmark_gram
from ..features.scaling import ScaledRows, ViewsScaler, check_finite
from ..readers.averaging import empty_votes
from ..readers.graph import FittedRows
from ..solver.codes import CodeStack
from ..solver.completion import complete_products
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import PatternGrams
from .heads import Head, fit_linear_head, fit_neighbour_head
from .settings import WITHOUT_CODES, Setting


@dataclass(frozen=True)
class Expert:
    """One fitted setting."""

    setting: Setting
    head: Head
    temperature: float
    embedding: Matrix | None  # of the landmarks, for heads that read the embedding
    weight: float = 1.0  # in the average
    saw_sure_rows: bool = False  # fitted with rows that have no label, but that the ensemble was sure of

    def vote(self, features: Any, votes: Matrix, block: slice) -> None:
        """Add class probabilities, times the weight, of a block of rows, given by what the head reads."""
        scores = self.head.scores(features)
        votes[int(self.saw_sure_rows), block] += self.weight * softmax_rows(scores / self.temperature)


def vote_by_codes(experts: Sequence[Expert], codes: sparse.csr_array, votes: Matrix, block: slice) -> None:
    """Add the votes of experts for a block of rows of codes; what several of them read is computed once."""
    read: dict[tuple[bool, int], Any] = {}
    for expert in experts:
        key = expert.setting.head == "codes", id(expert.embedding)
        if key not in read:
            read[key] = head_features(expert.setting.head, codes, expert.embedding)
        expert.vote(read[key], votes, block)


def head_features(head: str, rows: Any, embedding: Matrix | None) -> Any:
    """Turn codes (for "features" scaled rows, on a graph weights of fitted rows) into what the head reads."""
    if head in WITHOUT_CODES:
        return rows
    if head == "codes":
        return unit_sparse_rows(rows)
    assert embedding is not None
    return unit_rows(rows @ embedding.T)


def fit_head(setting: Setting, features: Any, classes: ClassIds, n_classes: int, weights: Weights = None) -> Head:
    """Fit the head of a setting on labelled rows."""
    if setting.head == "nearest":
        return fit_neighbour_head(features, classes, "nearest", 1, weights)
    if setting.head == "knn":
        return fit_neighbour_head(features, classes, "knn", setting.n_votes, weights)
    return fit_linear_head(features, classes, n_classes, setting.strength, weights)


def stack_features(rows: ScaledRows) -> Any:
    """Return scaled rows as one matrix: dense, or CSR if a view is sparse."""
    if any(is_sparse(values) for _, values in rows.parts):
        return sparse.csr_array(sparse.hstack([sparse.csr_array(values) for _, values in rows.parts], format="csr"))
    return rows.dense()


@dataclass
class ExpertGroup:
    """Experts that share a scaling and landmarks; those of one encoder share its codes."""

    scaler: ViewsScaler
    landmarks: Matrix
    on_codes: list[tuple[ElasticNetEncoder, list[Expert]]] = field(default_factory=list)
    on_features: list[Expert] = field(default_factory=list)
    on_graph: list[Expert] = field(default_factory=list)
    fitted_rows: FittedRows | None = None  # for those on the graph
    completion: tuple[float, float] | None = None  # λ_Z and μ of codes that complete rows; None in files of old

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _completer(self) -> ElasticNetEncoder | None:
        """What completes rows that lack views, for experts on the graph."""
        if self.completion is None:
            return None
        known = [encoder.grams for encoder, _ in self.on_codes if encoder.grams is not None]
        gram, weights = landmark_gram(self.landmarks), self.scaler.view_weights
        made = known or [PatternGrams(self.landmarks, self.scaler.sizes, gram, weights)]
        return ElasticNetEncoder(made[0].complete, self.completion[1], self.completion[0], made[0])

    def experts(self) -> list[Expert]:
        """Return all of them."""
        return [expert for _, experts in self.on_codes for expert in experts] + self.on_features + self.on_graph

    def vote(
        self,
        views: Views,
        scaler: ViewsScaler,
        present: Presence,
        votes: Matrix,
        n_threads: int,
        check: Callable[[], None],
        kept: CodeStack | None = None,
        encoder_kept: ElasticNetEncoder | None = None,
    ) -> None:
        """Add the votes of every expert for all rows; the codes of one encoder may be kept.

        `scaler` is that of the group, or what is left of it to do (`features.projected`); `check` raises an error that
        names NaN and infinity, if there are any.
        """
        cross = ViewCrossProducts(views, scaler, self.landmarks, present=present, for_prediction=True)
        completer = None if present is None or not self.on_graph else self._completer

        def of_block(block: slice) -> sparse.csr_array | None:
            codes_kept = None
            if self.on_codes or self.on_graph:
                products, has_views = cross.read(block), cross.present_in(block)
                if not np.isfinite(products.sum()):  # NaN and infinity pass through the product
                    check()
                for encoder, experts in self.on_codes:
                    codes = encoder.encode(products, has_views)
                    if encoder is encoder_kept:
                        codes_kept = codes
                    vote_by_codes(experts, codes, votes, block)
                if self.on_graph and self.fitted_rows is not None:
                    whole = products if completer is None else complete_products(products, has_views, completer)
                    weights = self.fitted_rows.weights(whole)
                    for expert in self.on_graph:
                        expert.vote(weights, votes, block)
            if self.on_features:
                features = stack_features(scaler.read(views, block, present))
                for expert in self.on_features:
                    expert.vote(features, votes, block)
            return codes_kept

        for codes in iter_blocks(of_block, cross.blocks, n_threads, "reading votes"):
            if kept is not None and codes is not None:
                kept.add(codes)


def count_votes(
    groups: list[ExpertGroup],
    views: Views,
    present: Presence,
    n_classes: int,
    n_threads: int,
    *,
    kept: CodeStack | None = None,
    encoder: ElasticNetEncoder | None = None,
) -> Matrix:
    """Return the sums of the experts' class probabilities (see `averaging`); the codes of one encoder may be kept."""
    votes = empty_votes(len(views), n_classes)
    scalers = [group.scaler for group in groups]
    n_together = PROJECTED_ROWS if shared_texts(scalers) else max(len(views), 1)
    check = partial(check_finite, views, n_threads, present)
    for rows in row_blocks(len(views), n_together):
        part, has_views = (views, present) if n_together >= len(views) else (views[rows], _part(present, rows))
        projected, left = project_texts(part, scalers, has_views, n_threads)
        for group, scaler in zip(groups, left, strict=True):
            group.vote(projected, scaler, has_views, votes[:, rows], n_threads, check, kept, encoder)
    if not np.isfinite(votes).all():
        check()
    return votes


def _part(present: Presence, rows: slice) -> Presence:
    return None if present is None else present[rows]
