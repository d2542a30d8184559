"""The search: settings from the coarse choices to the fine ones, and the choice of those that are averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Weights
from ..readers.temperature import log_loss, mean_of
from .judging import Judgement, SearchData, evidence_weight, judge, prior_doubt
from .options import SearchOptions
from .settings import ON_GRAPH, WITHOUT_CODES, Scaling, Setting, count_changes

Batch = list[Setting]  # settings that share most of the work


class StopSearch(Exception):
    """Raised by those who hear of judgements, to end the search with what is known."""


def search(data: SearchData, base: Setting, scalings: list[Scaling]) -> None:
    """Judge settings stage by stage; the judgements are in ``data.judged``, and those already there are kept.

    What later stages try depends on the earlier ones; until then ``data.planned`` holds a guess, so that the user can
    be told how many settings there will be.
    """
    options = data.options
    enough = data.n_judged >= options.enough_judged
    hopeful = scalings[: options.n_hopeful] if enough else scalings  # a guess, as are the finalists
    finalists = hopeful[: options.n_finalists]

    def expect(*stages: list[Batch]) -> None:
        sizes = [heads_of(replace(best_on_codes(data, base), n_landmarks=number)) for number in data.other_n_landmarks]
        data.planned = {setting for stage in (*stages, sizes) for batch in stage for setting in batch}

    def go(stage: list[Batch]) -> None:
        for batch in stage:
            judge(data, batch)

    def after_around(scalings: list[Scaling]) -> list[Batch]:  # a guess
        heavy = [batch for ridge in options.heavy_ridges[:1] for batch in _heavy(base, scalings, ridge)]
        return heavy + _beside(data, best_on_codes(data, base), base, known=False)

    cheap = _on_features(data, base, scalings)
    expect(cheap, _on_codes(base, hopeful), _around(data, base, finalists), after_around(finalists))
    go(cheap)
    telling = [s for s in scalings if not data.is_parallel(replace(base, scaling=s))]
    kept = {base.scaling, *_best(data, telling, options.n_hopeful if enough else len(telling))}
    hopeful = [scaling for scaling in scalings if scaling in kept]
    on_codes = _on_codes(base, hopeful)  # codes are what costs
    finalists = hopeful[: options.n_finalists]
    expect(on_codes, _around(data, base, finalists), after_around(finalists))
    go(on_codes)
    finalists = _best(data, hopeful, options.n_finalists)
    data.forget(set(finalists))
    around = _around(data, base, finalists, known=True)
    expect(around, after_around(finalists))
    go(around)
    for step, ridge in enumerate(options.heavy_ridges):  # on and on, as long as it helps
        finalists = _want_heavier(data, base, finalists, step)
        heavy = _heavy(base, finalists, ridge)
        expect(heavy, _beside(data, best_on_codes(data, base), base, known=False))
        go(heavy)
    beside = _beside(data, best_on_codes(data, base), base)
    expect(beside)
    go(beside)
    for number in data.other_n_landmarks:
        expect()
        judge(data, heads_of(replace(best_on_codes(data, base), n_landmarks=number)))


def _on_features(data: SearchData, base: Setting, scalings: list[Scaling]) -> list[Batch]:
    """Return settings without codes: regressions on features and on single views, labels spread over the graph."""
    result = []
    for scaling in scalings:
        first = replace(base, scaling=scaling)
        result.append([replace(first, head="features", strength=c) for c in data.options.feature_strengths])
        if len(data.views.names) > 1 and "tfidf" not in np.atleast_1d(scaling):  # as many words again are too many
            result.append([replace(first, head="views", strength=c) for c in data.options.view_strengths])
        if data.has_graph:
            result.append([replace(first, head="spread", strength=alpha) for alpha in data.options.graph_strengths])
            result.append([replace(first, head="poisson", strength=alpha) for alpha in data.options.poisson_strengths])
    return result


def _on_codes(base: Setting, scalings: list[Scaling]) -> list[Batch]:
    """Return settings on codes, with default parameters."""
    return [heads_of(replace(base, scaling=scaling)) for scaling in scalings]


def heads_of(base: Setting) -> list[Setting]:
    """Return the settings that share the codes of `base`."""
    return [replace(base, head=head) for head in ("nearest", "knn", "embedding", "codes")]


def _around(data: SearchData, base: Setting, scalings: list[Scaling], *, known: bool = False) -> list[Batch]:
    """Vary μ; unless codes are `known`, they are taken to be sparse."""
    options, result = data.options, []
    for scaling in scalings:
        first = replace(base, scaling=scaling)
        for ridge in options.ridges:
            if ridge < base.ridge or not known or not data.has_dense_codes(first):
                result.append(heads_of(replace(first, ridge=ridge)))
    return result


def _heavy(base: Setting, scalings: list[Scaling], ridge: float) -> list[Batch]:
    """Return a large μ for some scalings. Codes are short then, and λ_M, in units of the data, grows with that."""
    return [heads_of(replace(base, scaling=scaling, ridge=ridge)) for scaling in scalings]


def _want_heavier(data: SearchData, base: Setting, scalings: list[Scaling], step: int) -> list[Scaling]:
    """Return the scalings for which the next large μ is worth trying: those for which the last was best.

    Not where codes would be dense, if their non-zeros grow once more as they did from the last μ but one to the last.
    """
    options, result = data.options, []
    for scaling in scalings:
        first = replace(base, scaling=scaling)
        batches = [heads_of(replace(first, ridge=ridge)) for ridge in (base.ridge, *options.ridges)]
        batches += [batch for ridge in options.heavy_ridges[:step] for batch in _heavy(base, [scaling], ridge)]
        tried = [setting for batch in batches for setting in batch if setting in data.judged]
        by_ridge = {setting.ridge: setting for setting in tried}
        last = [data.count_nonzeros(by_ridge[ridge]) for ridge in sorted(by_ridge)[-2:]]
        best = min(tried, key=lambda setting: data.judged[setting].shrunk_loss)
        sparse = last[-1] ** 2 <= options.dense_codes * last[0]
        if sparse and best.ridge == max(by_ridge):
            result.append(scaling)
    return result


def _beside(data: SearchData, best: Setting, base: Setting, *, known: bool = True) -> list[Batch]:
    """Vary λ_Z and λ_M, one at a time, beside the best setting."""
    options, result = data.options, []
    if not known or not any(map(data.has_dense_codes, (replace(base, scaling=best.scaling), best))):
        result += [heads_of(replace(best, l1=l1)) for l1 in options.l1s]
    for weight in options.must_link_weights:
        result.append([s for s in heads_of(replace(best, must_link_weight=weight)) if s.head != "codes"])
    return result


def best_on_codes(data: SearchData, base: Setting) -> Setting:
    """Return the best setting that has codes, `base` if none was judged."""
    return best_among(sorted(data.judged.values(), key=lambda judgement: judgement.shrunk_loss), base)


def best_among(judgements: list[Judgement], base: Setting) -> Setting:
    """Return the first setting that has codes, `base` if there is none."""
    return next((j.setting for j in judgements if j.setting.head not in WITHOUT_CODES), base)


def _best(data: SearchData, scalings: list[Scaling], count: int) -> list[Scaling]:
    """Return the scalings whose best setting is best."""

    def best_loss(scaling: Scaling) -> float:
        found = [judgement.shrunk_loss for setting, judgement in data.judged.items() if setting.scaling == scaling]
        return min(found, default=np.inf)

    return sorted(scalings, key=best_loss)[:count]


def affordable(judgements: list[Judgement], options: SearchOptions) -> list[Judgement]:
    """Return the judgements, best first, whose settings can be fitted on many rows: few scalings and few sets of codes.

    What is best says which: a setting is left out if it would need one more than those before it.
    """
    sources: set[Any] = set()
    encoders: set[Any] = set()
    kept = []
    for judgement in judgements:
        source = {judgement.setting.source}
        encoder = set() if judgement.setting.head in WITHOUT_CODES else {judgement.setting.encoder}
        if len(sources | source) <= options.max_sources and len(encoders | encoder) <= options.max_encoders:
            sources |= source
            encoders |= encoder
            kept.append(judgement)
    return kept


def choose_averaged(
    data: SearchData, judgements: list[Judgement], n_averaged: int, among: Mask | None = None
) -> list[tuple[Judgement, float]]:
    """Return the settings to average, with their weights; `judgements` best first.

    Half of the picks go to the best settings of different heads and scalings, the others to those that help the
    average most: on all hidden labels, or on those `among` them. With few labels this chooses by chance, so the picks
    share the average with the steady settings of the same scalings, which nobody chose; unless a single setting is
    asked for.
    """
    rows = np.ones(len(data.judged_rows), dtype=bool) if among is None else among
    weights = data.judged_weights
    compared = judgements[: max(data.options.max_compared, n_averaged)]
    best_of = {(j.setting.head, j.setting.scaling): number for number, j in reversed(list(enumerate(compared)))}
    picks = select(
        [judgement.held_out[rows] for judgement in compared],
        data.class_ids[data.judged_rows[rows]],
        [prior_doubt(data, judgement.setting) for judgement in compared],
        n_picks=data.options.picks_per_setting * n_averaged,
        first=sorted(best_of.values())[:n_averaged],
        weights=None if weights is None else weights[rows],
    )
    chosen = {compared[number].setting: float(count) for number, count in picks.items()}
    if n_averaged > 1:
        used = {setting.source for setting in chosen}  # landmarks of its own cost more than a setting's part
        usable = [judgement for judgement in judgements if judgement.setting.source in used]
        chosen = join_steady(data, chosen, usable)
    by_setting = {judgement.setting: judgement for judgement in judgements}
    return [(by_setting[setting], part) for setting, part in chosen.items()]


def join_steady(data: SearchData, chosen: dict[Setting, float], judgements: list[Judgement]) -> dict[Setting, float]:
    """Return the weights of chosen settings and of steady ones together, the sum being that of the chosen.

    All judged labels speak for what was chosen, and as many as `steady_rows` for each group of steady settings: for the
    potential on the graph while there are next to none, for those that learn more from labels as they come. A group
    that would have less than one pick is left out.
    """
    n_picks, groups, evidence = sum(chosen.values()), steady_settings(data, judgements), evidence_weight(data)
    in_force = {head: 1 - evidence if head in ON_GRAPH else evidence for head in groups}
    rows = {head: data.options.steady_rows[head] * in_force[head] for head in groups}
    n_rows = data.n_judged + sum(rows.values())
    shares = {head: number / n_rows for head, number in rows.items() if number * n_picks >= n_rows}
    parts = {setting: (1 - sum(shares.values())) * weight for setting, weight in chosen.items()}
    for head, share in shares.items():
        for setting in groups[head]:
            parts[setting] = parts.get(setting, 0.0) + share * n_picks / len(groups[head])
    return parts


def steady_settings(data: SearchData, judgements: list[Judgement]) -> dict[str, list[Setting]]:
    """Return settings that are good with hardly any label, in all scalings, by what reads the labels.

    The nearest labelled row with the usual weights and Poisson learning, as `FSSMSC` joins them, and late fusion: each
    errs in its own way, and has nothing to choose but the scaling, over which it is averaged.
    """
    tried = [judgement.setting for judgement in judgements]
    usual = [setting for setting in tried if setting.n_landmarks == data.n_landmarks and not count_changes(setting)]
    groups = {head: [setting for setting in usual if setting.head == head] for head in data.options.steady_rows}
    return {head: group for head, group in groups.items() if group}


def averaged_hidden(chosen: list[tuple[Judgement, float]]) -> Matrix:
    """Return the average of the chosen settings' probabilities of the hidden labels."""
    held_out = [judgement.held_out for judgement, _ in chosen]
    result: Matrix = np.average(held_out, axis=0, weights=[weight for _, weight in chosen])
    return result


def select(
    held_out: Sequence[Matrix],
    class_ids: ClassIds,
    penalties: Sequence[float],
    n_picks: int,
    first: Sequence[int],
    weights: Weights = None,
) -> dict[int, int]:
    """Choose members of an average one after the other, each the one that helps the average most.

    Ensemble selection after Caruana et al. (2004): a member may be taken several times, which is its weight. The first
    ones are taken as they come, so that few labels do not decide alone.

    Parameters
    ----------
    held_out : sequence of ndarray of shape (n_judged, n_classes)
        Probabilities of the hidden labels by each member, best member first.
    class_ids : ndarray of shape (n_judged,)
        The hidden labels.
    penalties : sequence of float
        Prior doubt in each member, in units of log loss.
    n_picks : int
        Number of picks in all.
    first : sequence of int
        Members that are taken without choosing, at least one.
    weights : ndarray of shape (n_judged,), optional
        Weights of the hidden labels.

    Returns
    -------
    dict of int to int
        Members and how often each was taken.

    Examples
    --------
    >>> import numpy as np
    >>> sure, unsure = np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[0.4, 0.6], [0.2, 0.8]])
    >>> select([sure, unsure], np.array([0, 1]), [0.0, 0.0], 4, [0])
    {0: 1, 1: 3}
    """
    picks = list(first)
    total = np.sum([held_out[pick] for pick in picks], axis=0)
    doubt = sum(penalties[pick] for pick in picks)
    while len(picks) < n_picks:
        count = len(picks) + 1
        losses = [
            mean_of(log_loss((total + probabilities) / count, class_ids), weights) + (doubt + penalty) / count
            for probabilities, penalty in zip(held_out, penalties, strict=True)
        ]
        best = int(np.argmin(losses))
        picks.append(best)
        total = total + held_out[best]
        doubt += penalties[best]
    return dict(sorted(Counter(picks).items()))
