"""history.csv of a run: a line for each round of labelling, from the first fit on."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from .errors import DataError

HISTORY = "history.csv"
COLUMNS = (
    "round", "run", "model", "labels", "expected_accuracy", "low", "high", "rests_on", "changed", "novel_rows",
)  # fmt: skip
_NOVEL = 0.5


def describe_round(model: Any, run: str, n_labels: int, number: int) -> dict[str, str]:
    """Return the line of a round.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit or an update.
    run : str
        Name of the run.
    n_labels : int
        Labels that were given.
    number : int
        Of the round, from 1 on.
    """
    found, novelty = model.expected_accuracy_, model.novelty_
    changed = getattr(model, "changed_", None)
    shares = (None, None, None) if found is None else (found.value, found.low, found.high)
    return {
        "round": str(number),
        "run": run,
        "model": type(model).__name__,
        "labels": str(n_labels),
        **dict(zip(("expected_accuracy", "low", "high"), map(_share, shares), strict=True)),
        "rests_on": "" if found is None else found.rests_on,
        "changed": _share(changed if number > 1 else None),
        "novel_rows": "" if novelty is None else str(int(np.count_nonzero(novelty > _NOVEL))),
    }


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def read_history(folder: Path) -> list[dict[str, str]]:
    """Return the rounds of a run; none if it has no history."""
    path = folder / HISTORY
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [{name: line.get(name) or "" for name in COLUMNS} for line in csv.DictReader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}.") from None


def write_history(folder: Path, lines: list[dict[str, str]]) -> None:
    """Write the rounds of a run."""
    with (folder / HISTORY).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
