"""How accurate the labels are, judged by an audit: rows drawn at random, whoever chose the other labels.

Labels that a model asked for are harder than others, so their accuracy is not that of all rows. A seeded permutation
of the rows is fixed once, and its beginning is the audit: a simple random sample, however many of its rows were
labelled for other reasons. Its labels teach the model as any others do; each is judged by a model that did not see it.

One thing still sets its rows apart: further labels are suggested where there are none yet, so not beside a row of the
audit. Without its own label such a row lies in a gap that no unlabelled row lies in, and seems harder than they are.
The models know of it: their confidence in it is lower by about as much as their accuracy, and that difference is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Matrix, Rows
from ..core.intervals import LEVEL, share_interval
from .label_sources import IMPORT, RANDOM, SKIPPED, UNKNOWN

FEWEST = 10  # rows of an audit that is stated: the interval of fewer may be wider than half of all there is
AUDITED = 0.2  # share of rows that are labelled next which are of the audit
N_FOLDS = 10  # of the audit's rows; models that judge them have nine tenths of these labels, and all others


@dataclass(frozen=True, eq=False)
class JudgedAudit:
    """An audit, each row of it judged by a model that has not seen its label.

    Attributes
    ----------
    rows : ndarray of int
        Its labelled rows.
    skipped : ndarray of int
        Rows that nobody could label.
    right : ndarray of bool
        Whether these models find the labels.
    sure : ndarray
        How sure they are; 0 where a label could not be judged, as the only one of its class.
    elsewhere : float
        How sure they are of rows that have no label, on average.
    """

    rows: Rows
    skipped: Rows
    right: Mask
    sure: Matrix
    elsewhere: float

    @property
    def gap(self) -> float:
        """How much more accurate rows without a label are than those of the audit, by the confidence in both.

        Where the other labels were chosen without a look at the audit it is 0 on average.
        """
        judged = self.sure > 0
        return self.elsewhere - float(self.sure[judged].mean()) if judged.any() else 0.0


@dataclass(frozen=True)
class ExpectedAccuracy:
    """The share of rows whose label is expected to be right, and what that rests on.

    Attributes
    ----------
    value : float
        The accuracy: of an audit among other labels, that of the audit and what the confidence says of the difference
        between its rows and those without a label.
    low, high : float
        Where the accuracy of all rows lies.
    level : float
        How often such an interval holds it.
    n_judged : int
        Number of rows that were judged, each by a model that did not see its label.
    rests_on : {"audit", "hidden labels"}
        Rows drawn at random, or whatever rows have a label.
    n_skipped : int
        Rows of the audit that nobody could label: wrong at the lower end of the interval, right at the upper one.
    labels_chosen : bool
        Whether hidden labels are known not to be a random sample.

    Examples
    --------
    >>> print(ExpectedAccuracy(0.93, 0.88, 0.96, 0.9, 100, "audit").describe())
    93 % of the labels are expected to be right (88 to 96 %, at a level of 90 %), judged on 100 rows drawn at random.
    """

    value: float
    low: float
    high: float
    level: float
    n_judged: int
    rests_on: str
    n_skipped: int = 0
    labels_chosen: bool = False

    def describe(self) -> str:
        """Return a sentence or two for people."""
        ends = f"{100 * self.low:.0f} to {100 * self.high:.0f} %, at a level of {100 * self.level:.0f} %"
        text = f"{100 * self.value:.0f} % of the labels are expected to be right ({ends}), judged on "
        if self.rests_on == "audit":
            skipped = f" and {self.n_skipped} that nobody could label" if self.n_skipped else ""
            return f"{text}{self.n_judged} rows drawn at random{skipped}."
        text += f"{self.n_judged} labels that were hidden from the model in turn. "
        if self.labels_chosen:
            return text + (
                "These rows were not drawn at random: the true accuracy is usually higher, often by 5 points and "
                "more. Label some audit rows for a figure that holds."
            )
        return text + "This holds if the labelled rows were drawn at random."


def audit_order(n_rows: int, random_state: int = 0, usable: Mask | None = None) -> Rows:
    """Return all rows in the order of the audit: always the same for the same number of rows.

    Rows that are not `usable` (without any view, of weight 0) are left out.

    Examples
    --------
    >>> audit_order(6).tolist()
    [5, 2, 1, 3, 0, 4]
    >>> audit_order(6, usable=np.array([True, True, False, True, True, True])).tolist()
    [5, 1, 3, 0, 4]
    """
    order: Rows = np.random.RandomState(random_state).permutation(n_rows)
    return order if usable is None else order[usable[order]]


def next_audit_rows(order: Rows, sources: npt.NDArray[np.str_], n: int, candidates: Mask | None = None) -> Rows:
    """Return the next rows of the audit that have no label and were not skipped, at most `n`.

    Parameters
    ----------
    order : ndarray
        From `audit_order`.
    sources : ndarray of str of shape (n_rows,)
        From `read_label_sources`: "" where a row was neither labelled nor skipped.
    n : int
        Number of rows.
    candidates : ndarray of bool of shape (n_rows,), optional
        Rows that may be asked for. To leave out some breaks the audit unless they come back later (rows that somebody
        else is looking at do).

    Examples
    --------
    >>> next_audit_rows(np.array([3, 0, 2, 1]), np.array(["", "", "", "suggested"]), 2).tolist()
    [0, 2]
    """
    is_open = sources[order] == ""
    if candidates is not None:
        is_open &= candidates[order]
    result: Rows = order[is_open][:n]
    return result


def audited_rows(order: Rows, sources: npt.NDArray[np.str_]) -> tuple[Rows, Rows]:
    """Return the labelled rows that are a random sample, ascending, and those of the sample that were skipped.

    The audit reaches as far as all rows of the order are labelled, for whatever reason, or skipped. Other rows whose
    source is "random" are a random sample too, and join it.

    Examples
    --------
    >>> sources = np.array(["random", "suggested", "skipped", "suggested", "", "random"])
    >>> audited_rows(np.array([5, 2, 1, 4, 3, 0]), sources)
    (array([0, 1, 5]), array([2]))
    """
    in_order = sources[order]
    is_open = in_order == ""
    reach = int(is_open.argmax()) if is_open.any() else len(order)
    prefix = order[:reach]
    skipped: Rows = np.sort(prefix[in_order[:reach] == SKIPPED])
    labelled = np.union1d(prefix[in_order[:reach] != SKIPPED], order[in_order == RANDOM])
    return labelled.astype(np.intp), skipped


def audit_folds(rows: Rows, n_folds: int = N_FOLDS) -> list[Rows]:
    """Deal the rows of an audit out to folds, each to be judged by a model that learns from all other labels.

    Other labels stay where they are: hiding a third of everything would judge a model that knows less than the one
    that is judged.

    Examples
    --------
    >>> [fold.tolist() for fold in audit_folds(np.array([2, 3, 5, 8]), 2)]
    [[3, 5], [2, 8]]
    """
    order = np.random.RandomState(0).permutation(len(rows))
    return [np.sort(rows[order[start::n_folds]]) for start in range(min(n_folds, len(rows)))]


def accuracy_by_audit(
    correct: Mask | Sequence[bool], n_skipped: int = 0, level: float = LEVEL, *, gap: float = 0.0
) -> ExpectedAccuracy:
    """Return the accuracy that an audit shows, with the interval of Clopper and Pearson.

    Parameters
    ----------
    correct : array-like of bool of shape (n_audited,), at least one
        Whether a model that did not see the label finds it; False for the only label of its class.
    n_skipped : int
        Rows of the audit that nobody could label.
    level : float
        Of the interval.
    gap : float
        How much more accurate rows without a label are: `JudgedAudit.gap`.

    Examples
    --------
    >>> found = accuracy_by_audit([True] * 57 + [False] * 3)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.95, 0.876, 0.986)
    >>> round(accuracy_by_audit([True] * 57 + [False] * 3, n_skipped=5).low, 3)
    0.789
    """
    judged = len(correct)
    right, drawn = float(np.clip(np.mean(correct) + gap, 0.0, 1.0)) * judged, judged + n_skipped
    low = share_interval(right / drawn, drawn, level)[0]
    high = share_interval((right + n_skipped) / drawn, drawn, level)[1]
    return ExpectedAccuracy(right / judged, low, high, level, judged, "audit", n_skipped)


def accuracy_by_hidden_labels(
    value: float, interval: tuple[float, float], n_judged: int, sources: npt.NDArray[np.str_] | None = None
) -> ExpectedAccuracy:
    """Return the accuracy on labels that were hidden in turn, for want of an audit.

    Parameters
    ----------
    value : float
        The accuracy.
    interval : tuple of float
        Its interval.
    n_judged : int
        Labels that were hidden.
    sources : ndarray of str, optional
        From `read_label_sources`; whether the labels are known not to be random is read off it.

    Examples
    --------
    >>> found = accuracy_by_hidden_labels(0.75, (0.3, 0.98), 4, np.array(["suggested"] * 4))
    >>> found.rests_on, found.labels_chosen
    ('hidden labels', True)
    """
    chosen = sources is not None and bool((~np.isin(sources, ["", RANDOM, SKIPPED, UNKNOWN, IMPORT])).any())
    return ExpectedAccuracy(value, *interval, LEVEL, n_judged, "hidden labels", labels_chosen=chosen)
