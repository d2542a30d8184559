"""The search as a table, and what tells one search's data from another's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from ..core.arrays import ClassIds, Presence, Weights
from ..core.digest import content_key
from ..data.views import Views
from ..supervision.pairs import ResolvedPairs
from .search_data import Judgement, SearchData
from .settings import WITHOUT_CODES, Scaling

_WRITTEN = ("scaling", "view_weights")  # parameters that are shown as text: one name, or one value for each view
_NOT_JUDGED = ("verbose", "n_jobs", "warm_start", "n_averaged")  # parameters that judgements do not know


def cv_results(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return the judgements in the form of ``GridSearchCV.cv_results_``, in the order of belief.

    Ranks are those of the accuracy (``rank_test_score``) and of the log loss (``rank_test_loss``); equal values have
    the same rank, as in ``GridSearchCV``.
    """
    parameters = [judgement.setting.parameters() for judgement in judgements]
    result: dict[str, Any] = {
        f"param_{name}": np.array([str(p[name]) if name in _WRITTEN else p[name] for p in parameters])
        for name in parameters[0]
    }
    result["params"] = parameters
    n_splits = max(len(judgement.split_accuracies) for judgement in judgements)
    for split in range(n_splits):
        result[f"split{split}_test_score"] = np.array([judgement.split_accuracies[split] for judgement in judgements])
    result["mean_test_score"] = np.array([judgement.accuracy for judgement in judgements])
    result["std_test_score"] = np.array([np.std(judgement.split_accuracies) for judgement in judgements])
    result["rank_test_score"] = _ranks(-result["mean_test_score"])
    result["mean_test_loss"] = np.array([judgement.loss for judgement in judgements])
    result["rank_test_loss"] = _ranks(result["mean_test_loss"])
    result["belief"] = np.array([judgement.belief for judgement in judgements])
    result["mean_fit_time"] = np.array([judgement.seconds for judgement in judgements])
    return result


def _ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Rank from 1, the least first; equal values take the lowest of their ranks."""
    return np.asarray(rankdata(values, method="min"), dtype=np.int32)


def describe_search(
    data: SearchData, scalings: Sequence[Scaling], chosen: Sequence[tuple[Judgement, float]], groups: Any
) -> list[str]:
    """Say in sentences what was tried, what was left out, and what did not converge."""
    judged = list(data.judged)
    said = [
        f"judged {len(judged)} settings on {len(data.judged_rows)} hidden labels, {len(data.folds)} folds in all, and "
        f"averaged {len(chosen)} of them."
    ]
    unjudged = len(data.planned - data.judged.keys())
    on_codes = {setting.scaling for setting in judged if setting.head not in WITHOUT_CODES}
    given_up = [_written(scaling) for scaling in scalings if scaling not in on_codes]
    if given_up and not unjudged:
        said.append(
            f"no codes were tried for the scaling {', '.join(given_up)}: others did better, or rows are parallel."
        )
    if not data.has_graph:
        said.append(f"the graph was left out: there are more than {data.options.max_graph_rows} rows (max_graph_rows).")
    unsettled = sum(not getattr(expert.head, "converged", True) for group in groups for expert in group.experts())
    n_linear = sum(hasattr(expert.head, "converged") for group in groups for expert in group.experts())
    if unsettled:
        said.append(f"{unsettled} of {n_linear} logistic regressions stopped before they converged.")
    elif n_linear:
        said.append(f"all {n_linear} logistic regressions converged.")
    return said


def _written(scaling: Scaling) -> str:
    return scaling if isinstance(scaling, str) else "+".join(scaling)


def data_fingerprint(
    views: Views,
    present: Presence,
    class_ids: ClassIds,
    weights: Weights,
    pairs: ResolvedPairs | None,
    parameters: Mapping[str, Any],
) -> str:
    """Return a digest of everything that judgements depend on, to the last byte.

    That is all cells of the views, which rows have which, labels, weights, pairs and parameters.
    """
    judged = {name: value for name, value in parameters.items() if name not in _NOT_JUDGED}
    return content_key([views.names, views.arrays, present, class_ids, weights, pairs, judged])
