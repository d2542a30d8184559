"""What a fit learns from the labels: codes of the joint problem, the embedding, and what reads the labels from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Matrix, Rows, Weights, temper
from ..core.draws import subsample_classes
from ..core.progress import Progress
from ..engine.blocks import even_size, iter_blocks, map_blocks, row_blocks, rows_of
from ..engine.sources.dask_rows import DaskRows
from ..model.model import Branch, Embedder, Member, Model, sort_classes
from ..readers.base import OF_PRODUCTS, HeldOutLabels, TopTwo, class_probabilities
from ..readers.clusters import ClusterCentres, fit_clusters
from ..readers.held_out import (
    average_readers,
    calibrate,
    held_out_labels,
    held_out_logits,
    held_out_shares,
    rows_to_judge,
    set_confidence,
)
from ..readers.nearest import READ_ROWS, LabelledNeighbours, keep_labelled, likeliest
from ..readers.product_readers import ProductReaders, fit_product_readers, keep_labels
from ..readers.watched_products import (
    KeptNeighbours,
    WatchedProducts,
    keep_neighbours,
    votes_of_block,
    watch_votes,
)
from ..solver.codes import Codes, map_codes
from ..solver.coverage import cover_result
from ..solver.disk_codes import DiskCodeStack
from ..solver.elastic_net import ElasticNetEncoder, complete_products
from ..solver.problem import CrossProducts, Problem
from ..solver.result import Encoder, SolverResult
from ..solver.trace_ratio import not_embedded
from ..supervision.given import FitInput
from ..supervision.known import Supervision, supervision_laplacians
from .preparing import Prepared, vote_bytes

# Labelled rows that other rows are compared with, at most. Where classes overlap no labelled row can be left out, and
# time is rows times labels. In the k dimensions of an embedding neighbours come nearer by the k-th root of their number
# only: of six times as many, in ten dimensions, by a sixth.
MAX_READ = 20_000


def reference_rows(known: Supervision, weights: Weights) -> Rows:
    """Return the rows that show what a class is: with a label, and of weight 0 only if the class has no others."""
    rows = np.flatnonzero(known.class_ids >= 0)
    if weights is None:
        return rows
    counts = weights[rows] > 0
    kept: Rows = rows[counts | np.isin(known.class_ids[rows], known.class_ids[rows[counts]], invert=True)]
    return kept


def note_on_compared(known: Supervision, weights: Weights, readers: Sequence[str]) -> list[str]:
    """Say that rows are compared with some of the labelled ones, if there are too many."""
    n_rows = len(reference_rows(known, weights))
    if n_rows <= MAX_READ or readers[0] in OF_PRODUCTS:
        return []
    return [f"Rows are compared with about {MAX_READ:,} of {n_rows:,} labelled ones."]


def fit_readers_of_products(
    prepared: Prepared, given: FitInput, rng: np.random.RandomState, n_threads: int
) -> ProductReaders | None:
    """Fit the readers of E, which need no codes; None if there are none."""
    names = [name for name in prepared.choice.readers if name in OF_PRODUCTS]
    if not names or len(given.known.classes) < 2:  # nothing to tell apart
        return None

    rows, source, weights = reference_rows(given.known, given.weights), prepared.source, prepared.settled.weights
    if prepared.encoded is not None:  # as a fit would, which has read no block yet
        source = replace(source, cross=source.cross.computed_anew())
    labelled = keep_labels(rows, given.known.class_ids[rows], given.weights, prepared.params.class_balance)
    encoder = None
    if given.present is not None:  # as the solver's
        encoder = ElasticNetEncoder(source.grams.complete, weights.ridge, weights.l1, source.grams)
    return fit_product_readers(names, source, labelled, rng, n_threads, encoder=encoder, members=prepared.members)


def watch_products(
    prepared: Prepared, product_readers: ProductReaders | None, given: FitInput, n_threads: int
) -> tuple[CrossProducts, KeptNeighbours | None]:
    """Let readers see the rows of E as the solver reads them, if that takes no more memory than the codes.

    Not where rows lack views: these are read once their codes are known. Returned too are the rows' neighbours in the
    graph, or room for them, if there is one and they can be kept.
    """
    cross = prepared.source.cross
    if product_readers is None or given.present is not None:
        return cross, None
    neighbours = None
    if not given.views.is_on_cluster:
        neighbours = keep_neighbours(product_readers, len(given.views), prepared.neighbours, n_threads)
    if not vote_bytes(OF_PRODUCTS, product_readers.labelled.n_classes):
        return cross, neighbours
    return watch_votes(cross, product_readers, neighbours), neighbours


def solve(
    prepared: Prepared, given: FitInput, cross: CrossProducts, n_threads: int, progress: Progress
) -> tuple[Problem, SolverResult]:
    """Learn codes and embedding; codes without coupling that are known are not computed again."""
    plan, how = prepared.plan, prepared.plan.how
    problem = _make_problem(prepared, given)
    options: dict[str, Any] = {"code_stack": DiskCodeStack} if plan.codes_in_files else {}
    if prepared.encoded is not None:
        options["encoded"] = prepared.encoded
    result = plan.solver.solve(
        problem,
        cross,
        max_iter=how.max_iter,
        tol=how.tol,
        n_threads=n_threads,
        callback=progress.end_round,
        **options,
        **how.options(),
    )
    return problem, cover_result(problem, result) if not_embedded(result.embedding).any() else result


def _make_problem(prepared: Prepared, given: FitInput) -> Problem:
    omit, model, grams = prepared.plan.how.omit, prepared.settled.weights, prepared.source.grams
    known, balance = given.known, prepared.params.class_balance
    about_labels = known.class_ids, len(known.classes), known.pairs, given.weights, balance
    rows, must, cannot = supervision_laplacians(*about_labels)
    return Problem(
        gram=grams.complete,
        grams=grams,
        n_components=prepared.plan.n_components,
        l1=model.l1,
        ridge=model.ridge,
        coupling=0.0 if "coupling" in omit else model.coupling,
        must_link_weight=model.must_link_weight,
        labelled=rows,
        must=None if "must_link" in omit else must,
        cannot=None if "cannot_link" in omit else cannot,
        smoothness="smoothness" not in omit,
        weights=given.weights,
    )


def embed_codes(codes: sparse.csr_array, block: slice, embedding: Matrix, dtype: npt.DTypeLike) -> Matrix:
    """Return the embedding F = Z Aᵀ of the codes of a block."""
    result: Matrix = (codes @ embedding.T).astype(dtype)
    return result


def embed_all(codes: Codes, embedding: Matrix, dtype: Any, blocks: Sequence[slice], n_threads: int) -> Any:
    """Embed the rows of the fit, block by block; those on a cluster when they are asked for."""
    work = partial(embed_codes, embedding=embedding, dtype=dtype)
    if isinstance(codes, DaskRows):
        return codes.derive(work, len(embedding), dtype)
    embedded = np.empty((codes.shape[0], len(embedding)), dtype=dtype)
    for block, part in zip(blocks, map_codes(work, codes, blocks, n_threads), strict=True):
        embedded[block] = part
    return embedded


@dataclass(frozen=True, eq=False)
class FittedReaders:
    """What reads the labels of a fit.

    Parameters
    ----------
    of_embedding : LabelledNeighbours, ClusterCentres or None
        What reads the embedding, with its temperature.
    of_products : ProductReaders or None
        What reads products with the landmarks.
    temperature : float or None
        Of their mean; None if the embedding is read alone.
    """

    of_embedding: LabelledNeighbours | ClusterCentres | None
    of_products: ProductReaders | None = None
    temperature: float | None = None


def fit_readers(
    prepared: Prepared,
    given: FitInput,
    problem: Problem,
    result: SolverResult,
    embedded: Any,
    product_readers: ProductReaders | None,
    rng: np.random.RandomState,
) -> tuple[FittedReaders, HeldOutLabels | None]:
    """Return what reads the labels, its confidence set on held-out labels, and these labels."""
    known, weights, choice, balance = given.known, given.weights, prepared.choice, prepared.params.class_balance
    if len(known.classes) == 0:
        return FittedReaders(fit_clusters(embedded, problem.n_components, rng, weights)), None
    rows = reference_rows(known, weights)
    name = None if choice.readers[0] in OF_PRODUCTS else choice.readers[0]
    if product_readers is None:
        name = name or "nearest"
    of_embedding, shares = None, None
    if name is not None:
        read = rows[subsample_classes(known.class_ids[rows], MAX_READ)]
        votes = keep_labelled(rows_of(embedded, read), known.class_ids[read], name, choice.n_votes)
        if product_readers is None:
            calibrated, held_out = calibrate(votes, problem, result, known, rows, balance)
            return FittedReaders(calibrated), held_out
        logits, judged = held_out_logits(votes, problem, result, known, rows, balance)
        of_embedding = set_confidence(votes, logits, known.class_ids[judged])
        shares = held_out_shares(of_embedding, logits)
    assert product_readers is not None
    of_each = [*([] if shares is None else [shares]), *product_readers.held_out]
    temperature, shares = average_readers(of_each, product_readers.labelled.class_ids)
    judged = rows[rows_to_judge(known.class_ids[rows])]
    return FittedReaders(of_embedding, product_readers, temperature), held_out_labels(judged, known, shares)


def build_model(prepared: Prepared, given: FitInput, result: SolverResult, readers: FittedReaders) -> Model:
    """Return all that predictions need."""
    source, encoder, known = prepared.source, result.encoder, given.known
    embedder = Embedder(source.scaler, source.landmarks, encoder, result.embedding)
    members = []
    if readers.of_products is not None:
        graph = readers.of_products.graph
        for reader in readers.of_products.readers:
            members.append(Member(reader, graph=graph if reader.reads == "graph" else None))
    if readers.of_embedding is not None:
        members.append(Member(readers.of_embedding, encoder=encoder, embedding=result.embedding))
    completer = None if readers.of_products is None else encoder
    branch = Branch(source.scaler, source.landmarks, tuple(members), completer)
    classes, order = sort_classes(known.classes if len(known.classes) else np.arange(prepared.plan.n_components))
    return Model((branch,), readers.temperature, classes, order, embedder)


def weigh_held_out(held_out: HeldOutLabels | None, given: FitInput) -> HeldOutLabels | None:
    """Return held-out labels with the weights of their rows."""
    if held_out is None or given.sample_weight is None:
        return held_out
    return replace(held_out, weights=given.sample_weight[held_out.rows])


def label_rows(
    readers: FittedReaders,
    embedded: Any,
    cross: CrossProducts,
    codes: Codes,
    encoder: Encoder,
    n_threads: int,
    neighbours: KeptNeighbours | None = None,
) -> TopTwo:
    """Return the likeliest classes of each row of the fit, whose embedding, and perhaps votes, are known."""
    of_products, temperature = readers.of_products, readers.temperature
    if of_products is None or temperature is None:
        assert readers.of_embedding is not None
        return likeliest(readers.of_embedding, embedded, n_threads)

    def votes_of(block: slice) -> Matrix:
        if isinstance(cross, WatchedProducts):
            votes: Matrix = cross.noted(block)
            return votes
        present = cross.present_in(block)
        if neighbours is not None:
            return votes_of_block(of_products, neighbours, block, cross.read(block))
        known = None if present is None else rows_of(codes, block)
        return of_products.votes(complete_products(cross.read(block), present, encoder, known))

    def read(numbers: slice, n_threads: int = 1) -> TopTwo:
        blocks = cross.blocks[numbers]  # together: of many rows most labelled ones can be left out (`candidates`)
        rows = slice(blocks[0].start, blocks[-1].stop)
        votes = np.concatenate(map_blocks(votes_of, blocks, n_threads))
        if readers.of_embedding is not None:
            votes = votes + class_probabilities(readers.of_embedding, embedded[rows], n_threads)
        return TopTwo.of(temper(votes, temperature))

    n_blocks, most = len(cross.blocks), max(1, READ_ROWS // max(1, cross.blocks[0].stop))
    parts = row_blocks(n_blocks, even_size(n_blocks, most, n_threads))
    if len(parts) == 1:  # threads share it
        return read(parts[0], n_threads)
    return TopTwo.joined(iter_blocks(read, parts, n_threads, "reading labels"), embedded.shape[0])
