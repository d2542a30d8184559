"""The search: settings from the coarse choices to the fine ones, and the choice of those that are averaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .judging import judge, prior_doubt
from .selection import select
from .settings import Setting, heads_of
from .task import Judgement, Task

N_HOPEFUL = 3  # scalings for which codes are computed, the default besides
_ENOUGH_JUDGED = 50  # rows; with fewer, no scaling is given up on their word
N_FINALISTS = 2  # scalings that are searched further
_RIDGES = (0.3, 3.0)
_L1S = (0.05,)
_MUST_LINK_WEIGHTS = (1e3, 1e5)
_FEATURE_STRENGTHS = (1.0, 10.0, 100.0)
_GRAPH_STRENGTHS = (0.8, 0.95)
_TEXT_RIDGE, _TEXT_L1, _TEXT_MUST_LINK_WEIGHT = 20.0, 0.1, 1e5  # docs/realdata.md, what was tried for text
_MAX_COMPARED = 40  # settings that the average is put together from
_PICKS_PER_SETTING = 2


def search(task: Task, base: Setting, scalings: list[str | tuple[str, ...]]) -> None:
    """Judge settings stage by stage; the judgements are in ``task.judged``, and those already there are kept."""
    for scaling in scalings:
        first = replace(base, scaling=scaling)
        judge(task, [replace(first, head="features", strength=c) for c in _FEATURE_STRENGTHS])
        if task.has_graph:
            judge(task, [replace(first, head="graph", strength=alpha) for alpha in _GRAPH_STRENGTHS])
    enough = len(task.judged_rows) >= _ENOUGH_JUDGED
    telling = [s for s in scalings if not task.is_parallel(replace(base, scaling=s))]
    hopeful = {base.scaling, *_best(task, telling, N_HOPEFUL if enough else len(telling))}
    for scaling in scalings:
        if scaling in hopeful:  # codes are what costs
            judge(task, heads_of(replace(base, scaling=scaling)))
    finalists = _best(task, [s for s in scalings if s in hopeful], N_FINALISTS)
    task.forget(set(finalists))
    for scaling in finalists:
        first = replace(base, scaling=scaling)
        for ridge in _RIDGES:
            if ridge < base.ridge or not task.has_dense_codes(first):
                judge(task, heads_of(replace(first, ridge=ridge)))
        if "lsa" in scaling:
            for_text = replace(first, must_link_weight=_TEXT_MUST_LINK_WEIGHT)
            judge(task, heads_of(replace(for_text, ridge=_TEXT_RIDGE, l1=_TEXT_L1)))
    best = best_on_codes(task, base)
    if not task.has_dense_codes(replace(base, scaling=best.scaling)):
        for l1 in _L1S:
            judge(task, heads_of(replace(best, l1=l1)))
    for weight in _MUST_LINK_WEIGHTS:
        judge(task, [s for s in heads_of(replace(best, must_link_weight=weight)) if s.head != "codes"])
    for number in task.other_n_landmarks:
        judge(task, heads_of(replace(best_on_codes(task, base), n_landmarks=number)))


def best_on_codes(task: Task, base: Setting) -> Setting:
    """Return the best setting that has codes, `base` if none was judged."""
    on_codes = [setting for setting in task.judged if setting.head not in ("features", "graph")]
    return min(on_codes, key=lambda setting: task.judged[setting].belief, default=base)


def _best(task: Task, scalings: list[str | tuple[str, ...]], count: int) -> list[str | tuple[str, ...]]:
    """Return the scalings whose best setting is best."""

    def best_belief(scaling: str | tuple[str, ...]) -> float:
        return min(judgement.belief for setting, judgement in task.judged.items() if setting.scaling == scaling)

    return sorted(scalings, key=best_belief)[:count]


def choose(task: Task, judgements: list[Judgement], n_averaged: int) -> list[tuple[Judgement, float]]:
    """Return the settings to average, with their weights; `judgements` best first.

    Half of the picks go to the best settings of different heads and scalings, the others to those that help the
    average most.
    """
    compared = judgements[: max(_MAX_COMPARED, n_averaged)]
    best_of = {(j.setting.head, j.setting.scaling): number for number, j in reversed(list(enumerate(compared)))}
    picks = select(
        [judgement.held_out for judgement in compared],
        task.classes[task.judged_rows],
        [prior_doubt(task, judgement.setting) for judgement in compared],
        n_picks=_PICKS_PER_SETTING * n_averaged,
        first=sorted(best_of.values())[:n_averaged],
    )
    return [(compared[number], float(count)) for number, count in picks.items()]


def averaged_hidden(chosen: list[tuple[Judgement, float]]) -> npt.NDArray[np.floating]:
    """Return the average of the chosen settings' probabilities of the hidden labels."""
    held_out = [judgement.held_out for judgement, _ in chosen]
    result: npt.NDArray[np.floating] = np.average(held_out, axis=0, weights=[weight for _, weight in chosen])
    return result
