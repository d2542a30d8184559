"""A fit from end to end, and the same rows with other labels: the order of the stages, as a table of contents."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.progress import Progress
from ..cost.estimate import available_memory, check_memory
from ..cost.fit import estimate_memory
from ..engine.blocks import one_blas_thread
from ..model.model import Model
from ..readers.base import HeldOutLabels, TopTwo
from ..solver.result import SolverResult
from ..supervision.given import FitInput
from .cluster_count import USUAL, count_clusters
from .learning import (
    build_model,
    embed_all,
    fit_readers,
    fit_readers_of_products,
    label_rows,
    note_on_compared,
    solve,
    watch_products,
    weigh_held_out,
)
from .preparing import Prepared, count_tried, fit_sizes, prepare
from .report import FitReport
from .reviewing import LabelReview, correct_labels, correct_on, review_labels
from .spec import FitParameters, FitRun, count_components, make_plan

_COUNTED_ROWS = 3000  # by which clusters are counted


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit has learned: all that predictions need, results per row, and what happened."""

    prepared: Prepared  # scaling, landmarks, settings and codes, for other labels of the same rows
    given: FitInput  # with labels corrected, if that was asked for
    model: Model  # all that predictions need
    result: SolverResult
    embedded: Any  # rows of the fit
    top: TopTwo  # their likeliest classes
    held_out: HeldOutLabels | None
    review: LabelReview
    report: FitReport
    progress: Progress


def fit_model(params: FitParameters, given: FitInput, run: FitRun) -> Fitted:
    """Fit: settings and landmarks from the features, codes and embedding from features and labels, labels from these.

    Examples
    --------
    >>> from anchorview import datasets
    >>> from anchorview.supervision.given import read_known
    >>> made = datasets.make_multiview_subspaces(120, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.3, random_state=0)
    >>> given = read_known(made.views, None, None, y, None, None, None)
    >>> fitted = fit_model(FitParameters(n_landmarks=30), given, FitRun(np.random.RandomState(0)))
    >>> bool((given.known.classes[fitted.top.class_ids] == made.target).mean() > 0.9)
    True
    """
    params, notes = _choose_clusters(params, given, run)
    plan = make_plan(params, given)
    plan.notes += notes
    sizes = replace(fit_sizes(params, given, plan, run.n_threads, count_tried(params, given, plan)), nonzeros=1)
    least = replace(sizes, n_components=0) if given.views.is_on_cluster else sizes
    needed, available = estimate_memory(least), available_memory(run.n_threads)
    check_memory(needed, available)  # whatever the codes will be
    progress = Progress(run.estimator, run.verbose, plan.how.max_iter, plan.how.tol)
    review = None
    with progress.watch():
        if params.relabel is not None:
            given, review = correct_labels(params, given, deepcopy(run.rng), run.n_threads, progress)
        n_labelled = int(np.count_nonzero(given.known.class_ids >= 0))
        about = given.views, n_labelled, len(given.known.classes)
        progress.stage("choice", "%r, %d labelled in %d classes", *about)
        prepared = prepare(params, given, plan, run.rng, run.n_threads, available, progress)
    return _learn(prepared, given, review, run, progress)


def _choose_clusters(params: FitParameters, given: FitInput, run: FitRun) -> tuple[FitParameters, list[str]]:
    """Return the parameters with a number of clusters, and what there is to say about it if it was chosen here."""
    if params.n_clusters != "auto":
        return params, []
    if len(given.known.classes):
        return replace(params, n_clusters=None), []
    if given.views.is_on_cluster:
        raise ValueError('n_clusters="auto" is not for dask arrays; give a number.')
    rng, n_rows = deepcopy(run.rng), len(given.views)  # the fit is the same as with that number
    some = given
    if n_rows > _COUNTED_ROWS and given.known.pairs is None:
        some = given.take(np.sort(rng.choice(n_rows, _COUNTED_ROWS, replace=False)))
    first = replace(params, n_clusters=max(1, min(USUAL, some.n_counted // 3)), relabel=None)
    codes = fit_model(first, some, FitRun(rng, run.n_threads)).result.encoded
    found = count_clusters(codes, rng)
    return replace(params, n_clusters=found.n_clusters), [found.describe()]


def fit_labels(prepared: Prepared, given: FitInput, run: FitRun, *, review: bool = True) -> Fitted:
    """Learn from other labels of the same rows, with the settings, landmarks and codes of a fit.

    The labels themselves are judged if `review`.
    """
    params, n_classes = prepared.params, len(given.known.classes)
    plan = replace(prepared.plan, outcomes=[], notes=[])
    has_pairs = given.known.pairs is not None
    plan.n_components = count_components(params.n_clusters, n_classes, has_pairs, plan.how.omit, plan.outcomes)
    if plan.n_components > len(prepared.source.landmarks):
        raise ValueError(
            f"{plan.n_components} classes need as many landmarks, and the fit has {len(prepared.source.landmarks)}; "
            "fit again with a larger n_landmarks."
        )
    progress = Progress(run.estimator, run.verbose, plan.how.max_iter, plan.how.tol)
    verdict = None if review else LabelReview(given.known, None, np.empty(0, dtype=np.intp))
    if params.relabel is not None:
        with progress.watch():
            given, verdict = correct_on(params, given, prepared.source, run.n_threads, progress)
    run = replace(run, rng=deepcopy(prepared.rng))
    return _learn(replace(prepared, plan=plan), given, verdict, run, progress)


def _learn(prepared: Prepared, given: FitInput, review: LabelReview | None, run: FitRun, progress: Progress) -> Fitted:
    plan, source, n_threads, rng = prepared.plan, prepared.source, run.n_threads, run.rng
    progress.stage("solver", "solving, with codes in files" if plan.codes_in_files else "solving")
    progress.begin_round()
    given.views.check_unchanged()
    with one_blas_thread(), progress.watch():
        product_readers = fit_readers_of_products(prepared, given, rng, n_threads)
        cross, neighbours = watch_products(prepared, product_readers, given, n_threads)
        problem, result = solve(prepared, given, cross, n_threads, progress)
    given.views.check_unchanged()
    progress.stage("labels", "reading labels from the embedding")
    plan.notes += note_on_compared(given.known, given.weights, prepared.choice.readers)
    codes = result.codes if prepared.choice.readers == ("paper",) else result.encoded
    # Block by block: SciPy would hold a copy of all codes in double precision.
    embedded = embed_all(codes, result.embedding, source.scaler.dtype, source.cross.blocks, n_threads)
    with one_blas_thread(), progress.watch():
        readers, held_out = fit_readers(prepared, given, problem, result, embedded, product_readers, rng)
        top = label_rows(readers, embedded, cross, codes, result.encoder, n_threads, neighbours)
        if review is None:
            review = review_labels(given, source, n_threads)  # only now, where E of the rows is known from the solver
    held_out = weigh_held_out(held_out, given)
    encoded = None if result.sums is None else (result.encoded, result.sums)
    members = None if product_readers is None else product_readers.members
    report = FitReport((*plan.outcomes, *result.outcomes), tuple(plan.notes), plan.solver.stops_early)
    return Fitted(
        replace(prepared, given=given, encoded=encoded, members=members, neighbours=neighbours),
        given,
        build_model(prepared, given, result, readers),
        result,
        embedded,
        top,
        held_out,
        review,
        report,
        progress,
    )
