"""What happened in a fit, typed; the words of ``status_`` are made from it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from sklearn.exceptions import ConvergenceWarning

from ..core.progress import Outcome

_WARNED = (Outcome.FEWER_CLASSES, Outcome.MORE_CLASSES, Outcome.SINGLE_FEATURE)


@dataclass(frozen=True)
class FitReport:
    """Outcomes of a fit, and what else there is to say.

    Examples
    --------
    >>> report = FitReport((Outcome.MAX_ITER,), ("chosen on 40 hidden labels.",))
    >>> report.has_converged, report.describe().endswith("chosen on 40 hidden labels.")
    (False, True)
    """

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()
    stops_early: bool = False  # the solver ends after its rounds on purpose
    lost_workers: str = ""  # of a cluster; empty if none was lost
    opening: tuple[str, ...] = ()  # said before the outcomes: what was searched

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """Outcomes that mean that there is no optimum."""
        failed = (Outcome.DIVERGED,) if self.stops_early else (Outcome.DIVERGED, Outcome.MAX_ITER)
        return tuple(outcome for outcome in self.outcomes if outcome in failed)

    @property
    def has_converged(self) -> bool:
        """Whether the solver came to an end that it was meant to."""
        return not self.failures

    @property
    def warned(self) -> tuple[Outcome, ...]:
        """Outcomes that a user should hear of."""
        return tuple(outcome for outcome in self.outcomes if outcome in _WARNED)

    def with_lost(self, lost_workers: str) -> FitReport:
        """Return the same with what to say of lost workers."""
        return replace(self, lost_workers=lost_workers)

    def describe(self) -> str:
        """Return a summary in words."""
        said = dict.fromkeys([*self.opening, *(outcome.value for outcome in self.outcomes), *self.notes])
        return " ".join([*said, *filter(None, [self.lost_workers])])

    def warn(self, name: str, stacklevel: int) -> None:
        """Warn the user of an estimator, so many calls above, of what went wrong."""
        for outcome in self.failures:
            warnings.warn(f"{name} {outcome.value}", ConvergenceWarning, stacklevel=stacklevel)
        for outcome in self.warned:
            warnings.warn(f"{name}: {outcome.value}", UserWarning, stacklevel=stacklevel)
        if self.lost_workers:
            warnings.warn(f"{name}: {self.lost_workers}", UserWarning, stacklevel=stacklevel)
