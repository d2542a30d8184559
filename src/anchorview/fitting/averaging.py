"""A fit of several settings, from their search to the labels of their average: the order of the stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from ..core.arrays import Matrix, Rows
from ..engine.blocks import row_blocks
from ..features.view_weights import describe_view_weights
from ..model.model import Branch, Embedder, Model, sort_classes
from ..model.predicting import KeptCodes, add_votes, empty_votes, votes_to_probabilities
from ..readers.base import HeldOutLabels, TopTwo
from ..readers.temperature import average_temperature
from ..readers.wrong_labels import LabelVerdicts
from ..solver.codes import CodeStack
from ..supervision.given import FitInput
from ..tuning.judging import Judgement
from ..tuning.links import apply_pairs
from ..tuning.search import affordable, averaged_hidden, best_among, best_on_codes, choose_averaged
from ..tuning.summary import Estimate, describe_search, judge_average
from .ensemble import Ensemble
from .report import FitReport
from .reviewing import review_labels
from .searching import Search, counted_labels, counted_pairs, run_search

_EMBED_ROWS = 4096  # SciPy would hold a copy of all codes in double precision
Chosen = list[tuple[Judgement, float]]  # settings that are averaged, and their weights


@dataclass(frozen=True, eq=False)
class FittedAverage:
    """What a fit of several settings has learned: all that predictions need, results per row, and what happened."""

    model: Model
    given: FitInput
    codes: Any  # rows of the fit, by the setting that `transform` shows
    embedded: Matrix
    top: TopTwo  # their likeliest classes
    held_out: HeldOutLabels
    judged_rows: Rows  # rows whose labels were judged
    verdicts: LabelVerdicts | None
    judgements: list[Judgement]  # best first
    chosen: Chosen
    estimate: Estimate
    was_interrupted: bool
    report: FitReport


def fit_average(search: Search, n_threads: int, stacklevel: int) -> FittedAverage:
    """Search, fit the settings that are averaged, and read the labels of all rows; warn so many calls above."""
    data, params, given, progress = search.data, search.params, search.given, search.progress
    was_interrupted = run_search(search, stacklevel + 1)
    judgements = sorted(data.judged.values(), key=attrgetter("shrunk_loss"))
    usable = judgements if search.rows is None else affordable(judgements, params.options)
    chosen = choose_averaged(data, usable, params.n_averaged)
    hidden = data.class_ids[data.judged_rows], data.judged_weights
    temperature = average_temperature(averaged_hidden(chosen), *hidden)
    progress.stage("fits", f"averaging {len(chosen)} of {len(judgements)} settings")
    ensemble = Ensemble(search.whole_data())
    with progress.watch():
        ensemble.add(chosen, ensemble.data.visible())
        if params.options.second_fit:
            ensemble.add_sure_rows(chosen)
    progress.stage("labels", "reading labels off the average")
    shown = best_on_codes(data, search.base) if search.rows is None else best_among(usable, search.base)
    with progress.watch():
        embedder = ensemble.embedder(shown)
        model = Model(ensemble.branches(), temperature, *sort_classes(given.known.classes), embedder)
        if search.rows is None:
            codes, votes = ensemble.data.code_set(shown).codes, ensemble.votes()
            embedded = embedder.embed(codes)
        else:
            codes, embedded, votes = _read_all(model, given, n_threads)
    top = TopTwo.of(_heed_pairs(given, votes_to_probabilities(votes, temperature)))
    with progress.watch():
        review = review_labels(search.fitted, ensemble.data.source(chosen[0][0].setting), n_threads)
    labelled = search.fitted.known.labelled
    estimate, held_out = judge_average(data, usable, params.n_averaged)
    for taken in (search.judging, search.rows):
        held_out = held_out if taken is None else replace(held_out, rows=taken[held_out.rows])
    return FittedAverage(
        model,
        given,
        codes,
        embedded,
        top,
        held_out,
        labelled if search.rows is None else search.rows[labelled],
        review.verdicts,
        judgements,
        chosen,
        estimate,
        was_interrupted,
        _report(search, chosen, model, estimate),
    )


def _read_all(model: Model, given: FitInput, n_threads: int) -> tuple[Any, Matrix, Matrix]:
    """Return codes, embedding and votes of all rows, block by block, where the ensemble knows some of them."""
    embedder, branches = model.embedder, model.branches
    if all(branch.landmarks is not embedder.landmarks for branch in branches):
        branches = (*branches, Branch(embedder.scaler, embedder.landmarks))  # its codes are computed beside the others
    stack = CodeStack(len(embedder.landmarks))
    votes = empty_votes(model.members, len(given.views), len(model.classes))
    kept = KeptCodes(embedder.landmarks, embedder.encoder, stack)
    add_votes(branches, given.views, given.present, votes, n_threads, kept)
    codes = stack.codes()
    return codes, _embed(embedder, codes, len(given.views)), votes


def _embed(embedder: Embedder, codes: Any, n_rows: int) -> Matrix:
    return np.concatenate([embedder.embed(codes[block]) for block in row_blocks(n_rows, _EMBED_ROWS)])


def _heed_pairs(given: FitInput, probabilities: Matrix) -> Matrix:
    """Return probabilities of the rows of the fit that heed pairs."""
    pairs = counted_pairs(given)
    if pairs is None:
        return probabilities
    rows, class_ids = counted_labels(given)
    labels = np.full(len(given.views), -1, dtype=np.intp)
    labels[rows] = class_ids
    return apply_pairs(probabilities, labels, pairs, given.sample_weight)


def _report(search: Search, chosen: Chosen, model: Model, estimate: Estimate) -> FitReport:
    opening = [*describe_search(search.data, search.scalings, chosen, [member.reader for member in model.members])]
    opening += filter(None, [estimate.describe()])
    notes = []
    if search.view_weights is not None:
        notes.append(f"views count by {describe_view_weights(search.given.views.names, search.view_weights)}.")
    if search.rows is not None:
        n_rows = len(search.given.views)
        notes.append(f"searched and fitted on {len(search.rows):,} of {n_rows:,} rows (max_search_rows).")
    if search.judging is not None:
        known = search.fitted.known.class_ids
        n_judging, n_labels = np.count_nonzero(known[search.judging] >= 0), len(search.given.known.labelled)
        notes.append(f"settings were judged by {n_judging:,} of {n_labels:,} labels (max_search_labels).")
    return FitReport(tuple(search.outcomes), tuple(notes), opening=tuple(opening))
