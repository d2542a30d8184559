"""How accurate the model is, judged on rows that were drawn at random: one seeded order of all rows, its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from ...core.arrays import Rows
from ...core.intervals import share_interval
from .given import GivenLabels

LEAST = 10  # audited rows below which hidden labels say more
_LEVEL = 0.95


@dataclass(frozen=True)
class AuditAccuracy:
    """An accuracy to expect.

    Parameters
    ----------
    share, low, high : float
        The estimate, and where the truth lies in nine of ten cases.
    n : int
        GivenLabels that it rests on.
    rests_on : str
        "audit" (rows drawn at random) or "hidden" (labels that were hidden from the model).
    """

    share: float
    low: float
    high: float
    n: int
    rests_on: str


@dataclass(frozen=True)
class Trusted:
    """Rows that are right with at least the target probability.

    Parameters
    ----------
    n_rows : int
        How many; 0 if that cannot be promised.
    target : float
        The probability.
    threshold : float or None
        Their least confidence.
    n_more : int or None
        Random labels without a mistake that are still needed for a promise; None if there is one.
    """

    n_rows: int
    target: float
    threshold: float | None
    n_more: int | None


def audit_prefix(order: Rows, labels: Mapping[int, str], skipped: tuple[int, ...]) -> list[int]:
    """Return the rows at the beginning of the order that somebody has dealt with: a simple random sample.

    Examples
    --------
    >>> import numpy as np
    >>> audit_prefix(np.array([4, 2, 0, 1, 3]), {2: "a", 4: "b", 1: "a"}, ())
    [4, 2]
    """
    done, prefix = set(skipped), list[int]()
    for row in order.tolist():
        if row not in labels and row not in done:
            break
        prefix.append(row)
    return prefix


def audit_accuracy(order: Rows, given: GivenLabels, judged: Mapping[int, str]) -> AuditAccuracy | None:
    """Return the accuracy on audited rows; None if there are too few.

    A skipped row counts as wrong at the lower end, and as right at the upper one. So does a row that no model has
    judged without its label.
    """
    prefix = audit_prefix(order, given.labels, given.skipped)
    if len(prefix) < LEAST:
        return None
    right = sum(judged.get(row) == given.labels[row] for row in prefix if row in given.labels and row in judged)
    n_judged = sum(row in judged and row in given.labels for row in prefix)
    if n_judged == 0:
        return None
    n = len(prefix)
    low = share_interval(right / n, n)[0]
    high = share_interval((right + n - n_judged) / n, n)[1]
    return AuditAccuracy(right / n_judged, low, high, n, "audit")


def hidden_accuracy(model: Any) -> AuditAccuracy | None:
    """Return the accuracy on labels that were hidden in turn, which were not drawn at random."""
    held_out = model.held_out_
    if held_out is None or len(held_out) == 0:
        return None
    share, n = float(held_out.right.mean()), len(held_out)
    return AuditAccuracy(share, *share_interval(share, n), n, "hidden")


def trusted_rows(order: Rows, given: GivenLabels, judged: Mapping[int, str], model: Any, target: float) -> Trusted:
    """Return the rows above the least confidence at which audited rows keep the promise.

    Thresholds are tried from the surest rows down, in a fixed order, and the first that fails ends the search: so the
    promise holds for the threshold that was chosen as if it had been the only one.
    """
    held_out = model.held_out_
    sure = {} if held_out is None else dict(zip(held_out.rows.tolist(), held_out.confidence.tolist(), strict=True))
    rows = [row for row in audit_prefix(order, given.labels, given.skipped) if row in sure and row in judged]
    needed = int(np.ceil(np.log(1 - _LEVEL) / np.log(target)))
    best = None
    confidence = np.array([sure[row] for row in rows])
    right = np.array([judged[row] == given.labels[row] for row in rows], dtype=bool)
    for threshold in np.arange(0.95, -0.01, -0.05).round(2).tolist():
        chosen = confidence >= threshold
        n, n_right = int(chosen.sum()), int(right[chosen].sum())
        if n < needed:
            continue
        low = float(beta.ppf(1 - _LEVEL, n_right, n - n_right + 1)) if n_right else 0.0
        if low < target:
            break
        best = threshold
    if best is None:
        return Trusted(0, target, None, max(1, needed - len(rows)))
    is_open = np.ones(len(model.confidence_), dtype=bool)
    is_open[list(given.labels)] = False
    return Trusted(int((is_open & (model.confidence_ >= best)).sum()), target, best, None)
