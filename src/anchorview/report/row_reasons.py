"""Why a row is worth a label: how many rows are more like it than like any row with a label, and how doubtful they are.

Likeness is that of the codes, by which rows are suggested. Rows are counted on a sample where there are very many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Rows
from ..label_loop.judging import LabelLoop
from ..readers.code_space import code_coordinates

_MOST_ROWS = 10_000  # that are looked at
_MOST_LABELLED = 2000  # rows with a label that they are compared with


@dataclass(frozen=True)
class Standing:
    """What a suggested row stands for.

    Attributes
    ----------
    n_rows : int
        Rows without a label that are more like it than like any labelled or other suggested row; itself included.
    n_mistakes : float
        How many of them have a wrong label now, by their confidence.
    is_exact : bool
        Whether all rows were counted, not a sample.
    """

    n_rows: int
    n_mistakes: float
    is_exact: bool = True


def find_standing(model: LabelLoop, suggested: Rows) -> dict[int, Standing]:
    """Return what each suggested row stands for.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    suggested : ndarray of int
        Rows without a label.
    """
    codes = getattr(model, "codes_", None)
    if not len(suggested) or codes is None:
        return {}
    places = code_coordinates(codes)
    free = np.asarray(model._can_be_labelled)
    rng = np.random.RandomState(0)
    labelled, others = (_some(np.flatnonzero(rows), most, rng) for rows, most in
                        ((~free, _MOST_LABELLED), (free, _MOST_ROWS)))  # fmt: skip
    centres = places[np.concatenate([suggested, labelled])]
    nearest = (places[others] @ centres.T).argmax(axis=1)
    scale = float(free.sum()) / max(len(others), 1)
    doubt = 1 - np.asarray(model.confidence_)[others]
    n_rows = np.bincount(nearest, minlength=len(centres)) * scale
    n_mistakes = np.bincount(nearest, weights=doubt, minlength=len(centres)) * scale
    return {
        int(row): Standing(max(round(float(n_rows[place])), 1), float(n_mistakes[place]), scale == 1)
        for place, row in enumerate(suggested)
    }


def _some(rows: Rows, most: int, rng: np.random.RandomState) -> Rows:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
