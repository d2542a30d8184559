"""How far a share that was counted in a sample may be from the true one."""

from __future__ import annotations

from scipy.stats import beta

LEVEL = 0.9  # of intervals that are shown: nine of ten hold the true share


def share_interval(share: float, count: float, level: float = LEVEL) -> tuple[float, float]:
    """Return where the true share lies, of which a sample of so many rows is given (Clopper and Pearson).

    The `count` of weighted rows is how many equal ones would be as certain. `level` is how often such an interval holds
    the true share.

    Examples
    --------
    >>> tuple(round(end, 2) for end in share_interval(0.96, 100))
    (0.91, 0.99)
    >>> share_interval(0.0, 0)
    (0.0, 1.0)
    """
    if count <= 0:
        return 0.0, 1.0
    found, missed = share * count, (1 - share) * count
    low = float(beta.ppf((1 - level) / 2, found, missed + 1)) if share > 0 else 0.0
    high = float(beta.ppf((1 + level) / 2, found + 1, missed)) if share < 1 else 1.0
    return low, high
