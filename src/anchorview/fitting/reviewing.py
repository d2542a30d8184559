"""Given labels judged by models that have not seen them; labels that are wrong are corrected before a fit, if asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.arrays import Rows
from ..core.progress import Progress
from ..data.labels import number_by_appearance
from ..engine.blocks import one_blas_thread
from ..features.representation import Representation
from ..readers.wrong_labels import LabelVerdicts
from ..supervision.given import FitInput
from ..supervision.known import Supervision
from ..tuning.label_quality import LabelJudge, make_label_judge
from .preparing import choose_settings, fit_planned_scaling, represent_rows
from .spec import FitParameters, make_plan


@dataclass(frozen=True, eq=False)
class LabelReview:
    """What models that have not seen the given labels say of them; None where none can be judged."""

    known: Supervision  # the labels as they were given
    verdicts: LabelVerdicts | None
    relabelled: Rows  # labelled rows whose label was changed


def judge_labels(given: FitInput, source: Representation, n_threads: int) -> LabelJudge | None:
    """Return what judges every label by models that have not seen it; None if none can be judged."""
    known = given.known
    if len(known.classes) < 2:
        return None

    class_ids, on_cluster = known.class_ids[known.labelled], given.views.is_on_cluster
    return make_label_judge(source, known.labelled, class_ids, given.weights, n_threads, on_cluster=on_cluster)


def review_labels(given: FitInput, source: Representation, n_threads: int) -> LabelReview:
    """Judge every label, and change none."""
    with one_blas_thread():
        judge = judge_labels(given, source, n_threads)
        verdicts = None if judge is None else judge.judge(judge.given)
    return LabelReview(given.known, verdicts, np.empty(0, dtype=np.intp))


def correct_labels(
    params: FitParameters, given: FitInput, rng: np.random.RandomState, n_threads: int, progress: Progress
) -> tuple[FitInput, LabelReview]:
    """Return what is given with the labels corrected that are wrong: the fit is then that of the corrected labels."""
    plan, n_labelled = make_plan(params, given), len(given.known.labelled)
    if len(given.known.classes) < 2:
        return _corrected(params, given, None, n_labelled, progress)
    progress.stage("choice", f"judging {n_labelled} labels")
    choose_settings(params, given, plan, n_threads)
    scaler = fit_planned_scaling(given, plan, rng, n_threads)
    source = represent_rows(params, given, plan, scaler, rng, n_threads)
    with one_blas_thread():
        return _corrected(params, given, judge_labels(given, source, n_threads), n_labelled, progress)


def correct_on(
    params: FitParameters, given: FitInput, source: Representation, n_threads: int, progress: Progress
) -> tuple[FitInput, LabelReview]:
    """Do the same with landmarks that are known."""
    with one_blas_thread():
        judge = judge_labels(given, source, n_threads)
        return _corrected(params, given, judge, len(given.known.labelled), progress)


def _corrected(
    params: FitParameters, given: FitInput, judge: LabelJudge | None, n_labelled: int, progress: Progress
) -> tuple[FitInput, LabelReview]:
    known, verdicts = given.known, None
    if judge is not None and params.relabel is not None:
        verdicts, class_ids = judge.judge(judge.given), known.class_ids.copy()
        class_ids[known.labelled] = judge.correct(params.relabel)
        known = replace(known, class_ids=class_ids)
    relabelled = np.flatnonzero(known.class_ids != given.known.class_ids)
    if len(relabelled):  # classes are numbered as if these labels had been given
        counted = None if given.sample_weight is None else given.sample_weight > 0
        classes, class_ids = number_by_appearance(known.classes, known.class_ids, counted)
        known = replace(known, classes=classes, class_ids=class_ids)
    progress.log(f"{len(relabelled)} of {n_labelled} labelled rows relabelled")
    return replace(given, known=known), LabelReview(given.known, verdicts, relabelled)
