"""The search: settings from the coarse choices to the fine ones, and the choice of those that are averaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.arrays import Matrix
from .judging import judge, prior_doubt
from .search_data import Judgement, SearchData
from .selection import select
from .settings import Scaling, Setting, heads_of


def search(data: SearchData, base: Setting, scalings: list[Scaling]) -> None:
    """Judge settings stage by stage; the judgements are in ``data.judged``, and those already there are kept."""
    options = data.options
    for scaling in scalings:
        first = replace(base, scaling=scaling)
        judge(data, [replace(first, head="features", strength=c) for c in options.feature_strengths])
        if data.has_graph:
            judge(data, [replace(first, head="graph", strength=alpha) for alpha in options.graph_strengths])
    enough = len(data.judged_rows) >= options.enough_judged
    telling = [s for s in scalings if not data.is_parallel(replace(base, scaling=s))]
    hopeful = {base.scaling, *_best(data, telling, options.n_hopeful if enough else len(telling))}
    for scaling in scalings:
        if scaling in hopeful:  # codes are what costs
            judge(data, heads_of(replace(base, scaling=scaling)))
    finalists = _best(data, [s for s in scalings if s in hopeful], options.n_finalists)
    data.forget(set(finalists))
    for scaling in finalists:
        first = replace(base, scaling=scaling)
        for ridge in options.ridges:
            if ridge < base.ridge or not data.has_dense_codes(first):
                judge(data, heads_of(replace(first, ridge=ridge)))
        if "lsa" in scaling:
            for_text = replace(first, must_link_weight=options.text_must_link_weight)
            judge(data, heads_of(replace(for_text, ridge=options.text_ridge, l1=options.text_l1)))
    best = best_on_codes(data, base)
    if not data.has_dense_codes(replace(base, scaling=best.scaling)):
        for l1 in options.l1s:
            judge(data, heads_of(replace(best, l1=l1)))
    for weight in options.must_link_weights:
        judge(data, [s for s in heads_of(replace(best, must_link_weight=weight)) if s.head != "codes"])
    for number in data.other_n_landmarks:
        judge(data, heads_of(replace(best_on_codes(data, base), n_landmarks=number)))


def best_on_codes(data: SearchData, base: Setting) -> Setting:
    """Return the best setting that has codes, `base` if none was judged."""
    on_codes = [setting for setting in data.judged if setting.head not in ("features", "graph")]
    return min(on_codes, key=lambda setting: data.judged[setting].belief, default=base)


def _best(data: SearchData, scalings: list[Scaling], count: int) -> list[Scaling]:
    """Return the scalings whose best setting is best."""

    def best_belief(scaling: Scaling) -> float:
        return min(judgement.belief for setting, judgement in data.judged.items() if setting.scaling == scaling)

    return sorted(scalings, key=best_belief)[:count]


def choose_averaged(data: SearchData, judgements: list[Judgement], n_averaged: int) -> list[tuple[Judgement, float]]:
    """Return the settings to average, with their weights; `judgements` best first.

    Half of the picks go to the best settings of different heads and scalings, the others to those that help the
    average most.
    """
    compared = judgements[: max(data.options.max_compared, n_averaged)]
    best_of = {(j.setting.head, j.setting.scaling): number for number, j in reversed(list(enumerate(compared)))}
    picks = select(
        [judgement.held_out for judgement in compared],
        data.class_ids[data.judged_rows],
        [prior_doubt(data, judgement.setting) for judgement in compared],
        n_picks=data.options.picks_per_setting * n_averaged,
        first=sorted(best_of.values())[:n_averaged],
    )
    return [(compared[number], float(count)) for number, count in picks.items()]


def averaged_hidden(chosen: list[tuple[Judgement, float]]) -> Matrix:
    """Return the average of the chosen settings' probabilities of the hidden labels."""
    held_out = [judgement.held_out for judgement, _ in chosen]
    result: Matrix = np.average(held_out, axis=0, weights=[weight for _, weight in chosen])
    return result
