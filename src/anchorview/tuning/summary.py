"""The search as a table, what tells its data from another's, and how accurate the labels are.

How accurate the labels are: what hidden labels say of it, and what they cannot say.

The average is judged as it is used, with its members chosen anew without the rows that they are judged on: the best of
many on some rows looks better on these rows than it is.

A class's only labelled row is never hidden. If it were, its class would be unknown and the row could not but be wrong;
and rows of classes that nobody has labelled are wrong too. How many these are, the only ones tell: if labels are a
random sample of the rows, the share of labels that are the only one of their class estimates the share of rows whose
class has no label (Good and Turing, 1953). So the estimate counts them as wrong, as leave-one-out would. If labels were
not drawn at random, a class with one label may be found as well as the others: the interval reaches from what holds in
the first case to what is possible in the second.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from ..core.arrays import ClassIds, Mask, Presence, Weights, temper
from ..core.digest import content_key
from ..core.intervals import LEVEL, share_interval
from ..data.views import Views
from ..readers.base import HeldOutLabels
from ..readers.linear import LinearReader
from ..readers.temperature import average_temperature, log_loss, mean_of
from ..readers.view_regressions import ViewRegressions
from ..supervision.pairs import ResolvedPairs
from .judging import Judgement, SearchData, shrink_loss
from .search import averaged_hidden, choose_averaged
from .settings import WITHOUT_CODES, Scaling

_WRITTEN = ("scaling", "view_weights")  # parameters that are shown as text: one name, or one value for each view
_NOT_JUDGED = ("verbose", "n_jobs", "warm_start", "n_averaged")  # parameters that judgements do not know


def cv_results(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return the judgements in the form of ``GridSearchCV.cv_results_``, in the order of shrunk_loss.

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
    result["shrunk_loss"] = np.array([judgement.shrunk_loss for judgement in judgements])
    result["mean_fit_time"] = np.array([judgement.seconds for judgement in judgements])
    return result


def _ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Rank from 1, the least first; equal values take the lowest of their ranks."""
    return np.asarray(rankdata(values, method="min"), dtype=np.int32)


def describe_search(
    data: SearchData, scalings: Sequence[Scaling], chosen: Sequence[tuple[Judgement, float]], readers: Sequence[Any]
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
    converged = [one.converged for reader in readers for one in _regressions(reader)]
    n_linear, n_stopped = len(converged), converged.count(False)
    if n_stopped:
        said.append(f"{n_stopped} of {n_linear} logistic regressions stopped before they converged.")
    elif n_linear:
        said.append(f"all {n_linear} logistic regressions converged.")
    return said


def _regressions(reader: Any) -> tuple[LinearReader, ...]:
    match reader:
        case LinearReader():
            return (reader,)
        case ViewRegressions():
            return reader.views
        case _:
            return ()


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


_SMALL = 1 - LEVEL  # share of labels that cannot be judged above which the user is warned


@dataclass(frozen=True)
class Estimate:
    """What can be said of the accuracy of unlabelled rows.

    Parameters
    ----------
    score : float
        The estimate; labels that could not be judged count as wrong.
    interval : tuple of float
        Where the accuracy lies in nine of ten cases.
    judged : float
        Accuracy of the judged labels alone.
    n_judged, n_alone : int
        Labels that were judged, and those that are the only one of their class.
    share_alone : float
        Share of the latter, weights counted.
    """

    score: float
    interval: tuple[float, float]
    judged: float
    n_judged: int
    n_alone: int
    share_alone: float

    def describe(self) -> str:
        """Say it in a sentence; nothing if all could be judged."""
        if not self.n_alone:
            return ""
        low, high = self.interval
        return (
            f"{self.n_alone} of {self.n_judged + self.n_alone} labels are the only one of their class and could not be "
            f"judged; the others give an accuracy of {self.judged:.2f}. best_score_ ({self.score:.2f}) counts them as "
            "wrong: if labels were drawn at random, about as many rows are of classes without any label. The accuracy "
            f"lies between {low:.2f} and {high:.2f}; two labels or more in every class would tell."
        )


def estimate_accuracy(right: Mask, weights: Weights, alone: int, weight_alone: float) -> Estimate:
    """Estimate the accuracy of unlabelled rows.

    Parameters
    ----------
    right : ndarray of bool of shape (n_judged,)
        Whether each hidden label was found.
    weights : ndarray of shape (n_judged,), optional
        Their weights.
    alone : int
        Labels that are the only one of their class.
    weight_alone : float
        Sum of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> found = estimate_accuracy(np.arange(46) > 0, None, 34, 34.0)  # 45 of 46 found, 34 could not be judged
    >>> round(found.score, 2), tuple(round(end, 2) for end in found.interval)
    (0.56, (0.46, 1.0))
    >>> found = estimate_accuracy(np.arange(100) > 3, None, 0, 0.0)
    >>> round(found.score, 2), tuple(round(end, 2) for end in found.interval)
    (0.96, (0.91, 0.99))
    """
    each = np.ones(len(right)) if weights is None else np.asarray(weights, dtype=np.float64)
    total, found = float(each.sum()), float(each[right].sum())
    # A weighted mean is as certain as that of this many equal rows; a weight says how much a row counts, not how often
    # it was seen.
    n_judged = total**2 / float(each @ each)
    share_judged = total / (total + weight_alone)
    judged = found / total
    score = judged * share_judged
    interval = share_interval(score, n_judged / share_judged)[0], share_interval(judged, n_judged)[1]
    return Estimate(score, interval, judged, len(right), alone, 1 - share_judged)


def judge_average(data: SearchData, judgements: Sequence[Judgement], n_averaged: int) -> tuple[Estimate, HeldOutLabels]:
    """Judge the average of settings, its members and temperature chosen each time without the rows of a fold.

    Returns the estimate, and the probabilities of these rows that it rests on.
    """
    rows, class_ids, weights = data.judged_rows, data.class_ids[data.judged_rows], data.judged_weights
    probabilities, waiting = np.empty((len(rows), data.n_classes)), np.ones(len(rows), dtype=bool)
    for fold in data.folds:  # further rounds of folds hide the same rows again
        hidden = np.isin(rows, fold) & waiting
        waiting &= ~hidden
        if not hidden.any():
            continue
        others = ~hidden
        seen = None if weights is None else weights[others]
        losses = [
            shrink_loss(data, judgement.setting, mean_of(log_loss(judgement.held_out[others], class_ids[others]), seen))
            for judgement in judgements
        ]
        ranked = [judgements[place] for place in np.argsort(losses, kind="stable")]
        guessed = averaged_hidden(choose_averaged(data, ranked, n_averaged, others))
        temperature = average_temperature(guessed[others], class_ids[others], seen) if others.any() else 1.0
        probabilities[hidden] = temper(guessed[hidden], temperature)
    held_out = HeldOutLabels(data.rows[rows], class_ids, probabilities, weights)
    alone = np.setdiff1d(np.arange(len(data.rows)), rows)
    of_alone = data.weights_of(data.rows[alone])
    weight_alone = float(len(alone) if of_alone is None else of_alone.sum())
    return estimate_accuracy(held_out.right, weights, len(alone), weight_alone), held_out


def warn_unjudged(estimate: Estimate, stacklevel: int) -> None:
    """Warn if a good part of the labels could not be judged."""
    if estimate.share_alone > _SMALL:
        warnings.warn(estimate.describe(), UserWarning, stacklevel=stacklevel)
