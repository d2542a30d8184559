"""The dry run: read everything, say what was found, and what the fit is going to take."""

from __future__ import annotations

import dataclasses
import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ..classifier import AnchorViewClassifier
from ..core.arrays import Rows, is_sparse
from ..data.text_models import AUTO, WORDLLAMA
from ..datasets import make_multiview_subspaces
from ..fssmsc import FSSMSC
from .errors import UsageError
from .fitting import fit_to_data, make_model, memory_of, read
from .inputs.gathering import RunData
from .inputs.labels import RunLabels
from .progress import Reporter
from .settings import RunSettings

_SAMPLES = (100, 250)  # rows that are fitted to tell how long all will take
_MANY_ROWS = 10_000  # from which on what a row takes counts, with as many landmarks as the fit will have
_SAMPLES_OF_MANY = (750, 1500)
_BLOCK_ROWS = 1500


def check_run(settings: RunSettings, reporter: Reporter, *, timed: bool = True) -> dict[str, Any]:
    """Say what a run would do, with or without how long it takes, and return it for machines."""
    encoder = _text_encoder(settings)
    with reporter.working():
        # Encoders may take minutes, which nobody expects of a dry run.
        quick = dataclasses.replace(settings, text_encoder="none", image_encoder=None)
        data = read(settings if timed else quick, reporter)
        model = make_model(settings, data)
        empty = _missing_cells(data)
        needed = memory_of(data, model, count=len(data.views) >= _MANY_ROWS)
        seconds = _time_of(model, data, reporter) if timed else None
    listed = ", ".join(f"{name} {count:,}" for name, count in empty.items() if count)
    reporter.say(f"Cells that are empty: {sum(empty.values()):,}{f' ({listed})' if listed else ''}.")
    reporter.say(f"Memory to expect: about {needed}.")
    has_text = data.table is not None and any(found.kind == "text" for found in data.table.columns_.values())
    if seconds is None and has_text and encoder is not None:
        reporter.say(f"A fit encodes text by {encoder}, too: one more view of each column of text.")
    if seconds is None and settings.image_encoder is not None:
        reporter.say(f"A fit encodes photos by {settings.image_encoder.name}, too: one more view, which leads.")
    if seconds is None:
        reporter.say("Nothing was written (--dry-run); --check tells how long the fit will take, too.")
    else:
        reporter.say(f"Time to expect of the fit: about {_rounded(seconds)}. Nothing was written (--check).")
    return {
        "rows": len(data.views),
        "views": dict(zip(data.views.names, data.views.sizes, strict=True)),
        "labels": {str(name): count for name, count in data.labels.counts.items()},
        "missing_cells": empty,
        "memory_bytes": needed.total,
        "seconds": None if seconds is None else round(seconds, 1),
        "label_sources": data.labels.sources,
        "columns": [] if data.table is None else data.table.describe().splitlines(),
        "notes": data.notes,
    }


def _text_encoder(settings: RunSettings) -> str | None:
    """Return what a fit would encode text by; an error if there is no such folder."""
    named = settings.text_encoder or AUTO
    if named == AUTO:
        return WORDLLAMA if importlib.util.find_spec(WORDLLAMA) is not None else None
    if named not in ("none", WORDLLAMA) and not Path(named).is_dir():
        raise UsageError(f"--text-encoder {named} is neither auto, wordllama, none nor the folder of a model.")
    return None if named == "none" else named


def _missing_cells(data: RunData) -> dict[str, int]:
    """Count the empty cells of each column of a raw table; else of each view, without rows that lack all of it."""
    if data.table is not None:
        return data.empty_cells
    counts = {}
    for name, array in data.views.items():
        counts[name] = 0
        if not is_sparse(array) and array.dtype.kind == "f":
            for start in range(0, len(array), _BLOCK_ROWS):
                empty = np.isnan(array[start : start + _BLOCK_ROWS])
                counts[name] += int(empty[~empty.all(axis=1)].sum())
    return counts


def _time_of(model: Any, data: RunData, reporter: Reporter) -> float:
    """Fit few rows, then twice as many: what more rows add to the time, all the others will add."""
    n_rows = len(data.views)
    sizes = _SAMPLES if n_rows < _MANY_ROWS else _SAMPLES_OF_MANY
    reporter.step(f"timing the fit on {min(sizes[1], n_rows):,} rows")
    _load_kernels()
    if n_rows <= sizes[1]:
        return _seconds(model, data, np.arange(n_rows))
    few, more = (_seconds(model, data, _draw(data, size)) for size in sizes)
    return extrapolate(few, more, sizes, n_rows)


def extrapolate(few: float, more: float, sizes: tuple[int, int], n_rows: int) -> float:
    """Return about how long a fit of all rows takes, if one of some and one of more of them took so many seconds.

    Examples
    --------
    >>> extrapolate(1.0, 1.5, (200, 400), 1000)
    3.0
    """
    return more + max(more - few, 0.0) / (sizes[1] - sizes[0]) * (n_rows - sizes[1])


def _seconds(model: Any, data: RunData, rows: Rows) -> float:
    values = None if data.labels.values is None else data.labels.values[rows]
    some = RunData(data.views[rows], None, RunLabels(values, data.labels.place), data.settings)
    # How much each view counts is chosen on a sample of rows, and regressions on single views look at labelled rows:
    # more rows add nothing to these.
    timed = clone(model).set_params(view_weights=None)
    if isinstance(timed, AnchorViewClassifier):
        timed.search_options = {**(timed.search_options or {}), "view_strengths": ()}
    start = time.perf_counter()
    fit_to_data(timed, some)
    return time.perf_counter() - start


def _draw(data: RunData, size: int) -> Rows:
    """Return some rows, up to half of them labelled: a smaller draw is part of a larger one."""
    rng, given = np.random.RandomState(0), data.labels.is_given
    labelled = np.empty(0, dtype=np.intp) if given is None else rng.permutation(np.flatnonzero(given))[: size // 2]
    others = rng.permutation(np.setdiff1d(np.arange(len(data.views)), labelled))
    return np.union1d(labelled, others[: size - len(labelled)])


def _load_kernels() -> None:
    """Fit a little, since the first fit of a process loads, or compiles, what later ones find."""
    importlib.import_module("sklearn.linear_model")
    made = make_multiview_subspaces(40, 2, (4, 4), random_state=0)
    FSSMSC(n_landmarks=8, scaling="none", ridge=1.0, must_link_weight=1.0, readers="nearest").fit(
        made.views, made.target
    )


def _rounded(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
