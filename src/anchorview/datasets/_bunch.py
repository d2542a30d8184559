"""The one form in which every data set is returned, and what its labels must be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from ..core.checks import shorten


def make_bunch(
    data: Sequence[Any],
    target: npt.NDArray[np.generic],
    view_names: Sequence[str],
    target_names: Sequence[str],
    descr: str,
) -> Bunch:
    """Bundle views and classes; `views` is the same data as one row-sliceable object."""
    from ..data.views import Views

    return Bunch(
        data=list(data),
        views=Views(dict(zip(view_names, data, strict=True))),
        target=target,
        view_names=list(view_names),
        target_names=list(target_names),
        DESCR=descr,
    )


def existing_file(path: Any) -> Path:
    """Return the path of a file that is there, or raise an error."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must name a file, as text or Path; got {shorten(path)}.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {Path(path)}.")
    return Path(path)


def check_finite_labels(labels: npt.NDArray[Any], what: str) -> None:
    """Raise an error if a file has NaN or infinity for a label, which would become a class."""
    wrong = np.flatnonzero(~np.isfinite(labels) if labels.dtype.kind == "f" else [])
    if len(wrong):
        raise ValueError(
            f"{what} holds {labels.flat[wrong[0]]} as the label of {len(wrong)} samples, the first of them sample "
            f"{wrong[0]} (from 0); a data set needs a class for every sample. Remove these samples, or label them."
        )
