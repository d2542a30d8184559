"""The run that a round of labelling goes on from: its model with its rows, and the rounds before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import DataError, UsageError
from .history import read_history
from .inputs.gathering import RunData
from .model_file import ModelFileError, load
from .run_folder import MARK

_MODEL = "model.anchorview"


@dataclass(frozen=True, eq=False)
class EarlierRun:
    """A run whose landmarks, codes and settings are used again.

    Attributes
    ----------
    folder : Path
        Of the run.
    table : TableViews or None
        What makes views of its table.
    model : FSSMSC or AnchorViewClassifier
        With the rows of its fit.
    history : list of dict
        Its rounds.
    """

    folder: Path
    table: Any
    model: Any
    history: list[dict[str, str]]

    def check_rows(self, data: RunData) -> None:
        """Raise an error unless the rows that were read are those of the run."""
        ids, n_rows = self.model._ids, len(self.model.labels_)
        mine = None if data.views.ids is None else np.asarray(data.views.ids)
        if len(data.views) != n_rows:
            raise DataError(
                f"{self.folder} has {n_rows:,} rows, and {len(data.views):,} were read: landmarks and codes are those "
                "of its rows. Fit without --from, or label new rows by anchorview predict."
            )
        if ids is not None and mine is not None and not np.array_equal(np.asarray(ids), mine):
            row = int(np.flatnonzero(np.asarray(ids) != mine)[0])
            raise DataError(
                f"Row {row} is {mine[row]!r}, and in {self.folder} it is {ids[row]!r}: the rows are others, or in "
                "another order. Fit without --from."
            )


def open_earlier(folder: Path) -> EarlierRun:
    """Open a run for another round; an error if it was made without its rows."""
    if not (folder / MARK).is_file():
        raise UsageError(f"--from {folder}: this is not the folder of a run (it has no {MARK}).")
    try:
        loaded = load(folder / _MODEL, rows=True)
    except ModelFileError as error:
        raise DataError(str(error)) from None
    except OSError as error:
        raise DataError(f"{folder / _MODEL} cannot be read: {error.strerror or error}.") from None
    steps = dict(loaded.steps) if hasattr(loaded, "steps") else {"model": loaded}
    return EarlierRun(folder, steps.get("table"), steps["model"], read_history(folder))
