"""What a fit says of itself, kept with its scores: a fit that diverged must not look like any other.

Records made before this was kept have no such entries; nothing is known of their fits, and nothing is said.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from ..core.progress import Outcome

T = TypeVar("T")
DIVERGED, UNSETTLED, WARNED = "‡", "†", "§"  # the worst first
_MEANING = {DIVERGED: "diverged", UNSETTLED: "did not converge within its rounds", WARNED: "warned"}
_ABOUT_CODE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, ImportWarning)


def listen(fit: Callable[[], T]) -> tuple[T, dict[str, Any]]:
    """Fit, and return the model and what it said: ``fit_status`` and ``warnings``, each message once with its kind.

    Examples
    --------
    >>> import warnings
    >>> listen(lambda: warnings.warn("too few rows"))[1]
    {'fit_status': '', 'warnings': ['UserWarning: too few rows']}
    """
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = fit()
    told = [line for line in heard if not issubclass(line.category, _ABOUT_CODE)]
    messages = [f"{_kind(line.category)}: {line.message}" for line in told]
    return model, {"fit_status": str(getattr(model, "status_", "")), "warnings": list(dict.fromkeys(messages))}


def _kind(category: type[Warning]) -> str:
    """Name a warning; sub-classes of a warning about convergence are one."""
    return (ConvergenceWarning if issubclass(category, ConvergenceWarning) else category).__name__


def trouble(value: Mapping[str, Any]) -> str:
    """Return the mark of a recorded fit: diverged, not converged, or warned; nothing if it went well.

    Examples
    --------
    >>> trouble({"acc": 97.0, "fit_status": "converged: …", "warnings": []}), trouble({"acc": 97.0})
    ('', '')
    >>> trouble({"acc": 42.0, "warnings": ["ConvergenceWarning: AMGL stopped at max_iter=30 …"]})
    '†'
    """
    said = [str(value.get("fit_status", "")), *map(str, value.get("warnings", ()))]
    if any(Outcome.DIVERGED.value in line for line in said) or math.isnan(value.get("acc", 0.0)):
        return DIVERGED
    if any(Outcome.MAX_ITER.value in line or line.startswith(ConvergenceWarning.__name__) for line in said):
        return UNSETTLED
    return WARNED if value.get("warnings") else ""


def worst(values: Iterable[Mapping[str, Any]]) -> str:
    """Return the mark of the worst of some fits."""
    marks = {trouble(value) for value in values}
    return next((mark for mark in _MEANING if mark in marks), "")


def footnotes(fits: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Explain every mark: which fits have it, how many of how many, and what those said that only warned.

    Parameters
    ----------
    fits : mapping of str to sequence of dict
        What was recorded of the fits, by what they are of ("MVAR, hw").

    Examples
    --------
    >>> bad = {"warnings": ["ConvergenceWarning: no end"]}
    >>> footnotes({"MVAR, hw": [bad, {}], "AMGL, hw": [{}]})
    ['† did not converge within its rounds: MVAR, hw (1 of 2 fits).']
    """
    lines = []
    for mark, meaning in _MEANING.items():
        counts = Counter({name: sum(trouble(value) == mark for value in values) for name, values in fits.items()})
        named = [f"{name} ({count} of {len(fits[name])} fits)" for name, count in counts.items() if count]
        if not named:
            continue
        lines.append(f"{mark} {meaning}: {'; '.join(named)}.")
        if mark == WARNED:
            heard = [line for values in fits.values() for value in values for line in value.get("warnings", ())]
            lines[-1] += " " + " ".join(
                dict.fromkeys(_short(line) for line in heard if trouble({"warnings": [line]}) == mark)
            )
    return lines


def _short(line: str, most: int = 200) -> str:
    return f"“{line if len(line) <= most else line[: most - 1] + '…'}”"
