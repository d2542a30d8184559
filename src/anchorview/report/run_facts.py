"""Facts about a fit as text: names, ids, settings, files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..features.view_weights import describe_view_weights
from ..label_loop.judging import LabelLoop
from .markup import one_line

_LONGEST_VALUE = 200  # characters of a parameter


def class_names(model: LabelLoop, names: Sequence[Any] | None, has_labels: bool) -> list[str]:
    """Return the names of the classes: those given, the classes themselves, or numbers of clusters."""
    if names is None:
        names = model.classes_.tolist() if has_labels else [f"cluster {number}" for number in model.classes_]
    return [one_line(str(name)).strip() or repr(str(name)) for name in names]  # blanks can be seen


def id_texts(ids: npt.NDArray[Any] | None) -> list[str] | None:
    """Return ids as text; None if they are but the numbers of the rows."""
    if ids is None or (ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids)))):
        return None
    return [one_line(str(name)) for name in ids.tolist()]


def chosen_settings(model: LabelLoop) -> dict[str, Any]:
    """Return what the settings became."""
    if hasattr(model, "averaged_"):
        tried = len(model.cv_results_["params"])
        best = {f"best setting: {name}": value for name, value in model.best_setting_.items()}
        if "best setting: view_weights" in best:
            weights = model.best_setting_["view_weights"]
            best["best setting: view_weights"] = describe_view_weights(model.view_names_, weights)
        return {"settings": f"{len(model.averaged_)} averaged of {tried} tried", **best}
    chosen = dict(getattr(model, "chosen_", {}))
    if "view_weights" in chosen:
        chosen["view_weights"] = describe_view_weights(model.view_names_, chosen["view_weights"])
    return chosen


def value_text(value: Any) -> str:
    """Return a value as it is written in Python, without the rest of what is very long; text without quotes."""
    if isinstance(value, str | Path):
        text = without_folder(str(value))
    else:
        text = f"array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
    text = one_line(text)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def file_names(files: Mapping[str, Any] | Iterable[Any] | None) -> dict[str, str]:
    """Return names of files by their role."""
    if files is None:
        return {}
    if isinstance(files, str):
        files = [files]
    named = files.items() if isinstance(files, Mapping) else ((f"file {n}", name) for n, name in enumerate(files, 1))
    return {one_line(str(role)): without_folder(one_line(str(name))) for role, name in named}


def without_folder(name: str) -> str:
    """Return the name of a file without the folders of an absolute path: a page is passed on, and they are nobody's.

    Examples
    --------
    >>> without_folder("/home/ada/reviews.csv"), without_folder("reviews/may.csv")
    ('reviews.csv', 'reviews/may.csv')
    """
    is_absolute = name.startswith(("/", "~", "\\\\")) or re.match(r"[A-Za-z]:[\\/]", name) is not None
    return re.split(r"[\\/]", name.rstrip("\\/"))[-1] if is_absolute else name
