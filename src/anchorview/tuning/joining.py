"""Which readers go together: that of the embedding alone, or its mean with others of the same scaling.

Settings are judged one by one (`judging`); the probabilities that they gave to hidden rows are averaged here, and the
mean is judged as they were. The embedding always takes part where it may: readers that replaced it were chosen by
chance too often, while a mean loses little where one of them is poor (docs/lab/accuracy.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Matrix, temper
from ..features.view_weights import ViewWeights
from ..readers.temperature import average_temperature, log_loss, mean_of
from .judging import shrink_loss
from .search_data import Judgement, SearchData
from .settings import FOR_FSSMSC, Scaling, Setting

BESIDE = {"linear": "features", "poisson": "poisson"}  # readers of E, and the heads that they are judged as


@dataclass(frozen=True)
class Joined:
    """Settings whose readers are averaged."""

    parts: tuple[Setting, ...]
    shrunk_loss: float  # loss of the mean, drawn towards what is known beforehand
    losses: Matrix  # log losses of the judged labels

    @property
    def main(self) -> Setting:
        """Return the setting of the embedding, if it takes part."""
        return self.parts[0]

    @property
    def beside(self) -> list[str]:
        """Return the readers of E that take part."""
        heads = {setting.head for setting in self.parts}
        return [name for name, head in BESIDE.items() if head in heads]


def join(
    data: SearchData,
    scaling: Scaling,
    forms: Sequence[tuple[str, ...]],
    *,
    with_rule: bool,
    view_weights: ViewWeights = None,
) -> list[Joined]:
    """Return the best settings of a scaling in each of the forms; forms that lack a judged setting are left out.

    Parameters
    ----------
    forms : sequence of tuple
        Readings of E that stand beside the embedding.
    with_rule : bool
        Whether the embedding takes part.
    """
    source = scaling, view_weights
    judged = [found for one, found in data.judged.items() if (one.scaling, one.view_weights) == source]
    result = []
    for form in forms:
        kinds = [*([FOR_FSSMSC] if with_rule else []), *((BESIDE[name],) for name in form)]
        best = [
            min((j for j in judged if j.setting.head in heads), key=lambda j: j.shrunk_loss, default=None)
            for heads in kinds
        ]
        found = [judgement for judgement in best if judgement is not None]
        if len(found) == len(kinds):
            result.append(Joined(tuple(judgement.setting for judgement in found), *_judge_mean(data, found)))
    return result


def _judge_mean(data: SearchData, parts: Sequence[Judgement]) -> tuple[float, Matrix]:
    """Return the shrunk loss of the mean of some readers, and the losses of its labels.

    The shrunk loss is its loss, and the mean of their prior doubts.
    """
    class_ids, weights = data.class_ids[data.judged_rows], data.judged_weights
    if len(parts) == 1:
        return parts[0].shrunk_loss, log_loss(parts[0].held_out, class_ids)
    held_out = np.mean([judgement.held_out for judgement in parts], axis=0)
    losses = log_loss(temper(held_out, average_temperature(held_out, class_ids, weights)), class_ids)
    loss = mean_of(losses, weights)
    return float(np.mean([shrink_loss(data, judgement.setting, loss) for judgement in parts])), losses
