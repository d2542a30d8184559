"""Whether what a loaded model knows of the single rows of its fit is about the same rows, classes and landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..fitting.kept_fit import KeptFit
from ..fitting.searching import SearchState
from ..fssmsc import FSSMSC
from ..readers.base import COMBINATIONS, HeldOutLabels
from ..readers.code_space import CodeSpace
from ..readers.label_sources import SKIPPED, are_numbered, name_sources
from ..readers.unlikeness import Unlikeness
from ..supervision.conflicts import Conflict
from ..tuning.judging import Judgement
from ..tuning.settings import Setting
from .model_values import check_floats, is_number, require

_ALWAYS = ("labels_", "confidence_", "embedding_", "codes_", "_can_be_labelled", "_runner_up", "_ids")


def check_rows(model: Any) -> None:
    """Raise a ValueError that names what does not fit; a model without its rows is left alone."""
    places = {name: value for name, value in vars(model).items() if name in CHECKS}
    known = {**(vars(model).get("_rows") or {}), **places}
    search = getattr(model, "_search", None)
    if not known and search is None:
        return
    require(all(name in CHECKS for name in known), "what is known of the rows")
    for name in _ALWAYS:
        require(name in known, name)
    n_rows = _length_of(model.labels_, "labels_")
    _can_be_labelled(model._can_be_labelled, model, n_rows)  # others are compared with it
    for name in known:
        CHECKS[name](known[name], model, n_rows)
    if known.get("held_out_") is not None:
        labelled = ~model._can_be_labelled
        require(bool(labelled[model.held_out_.rows].all()), "held_out_")
    if search is not None:
        _check_search(search, None if getattr(model, "_is_plain", False) else len(model.classes_), n_rows)


def _labels(labels: Any, model: Any, n_rows: int) -> None:
    _one_dimension(labels, n_rows, "labels_")
    require(labels.dtype.kind == model.classes_.dtype.kind or labels.dtype.kind in "Of", "labels_")


def _confidence(confidence: Any, model: Any, n_rows: int) -> None:
    check_floats(confidence, (n_rows,), "confidence_")
    require(bool((confidence >= 0).all() and (confidence <= 1 + 1e-6).all()), "confidence_")  # sums are rounded


def _embedding(embedding: Any, model: Any, n_rows: int) -> None:
    check_floats(embedding, (n_rows, len(model.landmark_embedding_)), "embedding_")


def _codes(codes: Any, model: Any, n_rows: int) -> None:
    require(sparse.issparse(codes) and codes.shape == (n_rows, len(model.landmarks_)), "codes_")
    require(codes.dtype.kind == "f" and bool(np.isfinite(codes.data).all()), "codes_")


def _label_quality(quality: Any, model: Any, n_rows: int) -> None:
    _one_dimension(quality, n_rows, "label_quality_")
    require(
        quality.dtype == np.float64 and bool(((quality >= 0) & (quality <= 1 + 1e-6) | np.isnan(quality)).all()),
        "label_quality_",
    )
    require("_likely_class_ids" in model._rows, "_likely_class_ids")


def _likely_class_ids(class_ids: Any, model: Any, n_rows: int) -> None:
    _one_dimension(class_ids, n_rows, "_likely_class_ids")
    require(class_ids.dtype.kind == "i" and bool((class_ids >= -1).all()), "_likely_class_ids")
    require(bool((class_ids < len(model.classes_)).all()), "_likely_class_ids")
    require("label_quality_" in model._rows, "label_quality_")


def _label_source(numbers: Any, model: Any, n_rows: int) -> None:
    _one_dimension(numbers, n_rows, "_label_source")
    require(are_numbered(numbers), "_label_source")
    is_labelled = ~np.isin(name_sources(numbers), ["", SKIPPED])
    require(not bool((model._can_be_labelled & is_labelled).any()), "_label_source")
    require(bool(np.isin(model.labels_[is_labelled], model.classes_).all()), "_label_source")


def _can_be_labelled(mask: Any, model: Any, n_rows: int) -> None:
    _one_dimension(mask, n_rows, "_can_be_labelled")
    require(mask.dtype == bool, "_can_be_labelled")


def _ids(ids: Any, model: Any, n_rows: int) -> None:
    if ids is not None:
        _one_dimension(ids, n_rows, "_ids")


def _runner_up(found: Any, model: Any, n_rows: int) -> None:
    require(isinstance(found, tuple) and len(found) == 2, "_runner_up")
    seconds, values = found
    _one_dimension(seconds, n_rows, "_runner_up")
    require(seconds.dtype.kind == "i" and bool((seconds >= -1).all()), "_runner_up")
    require(bool((seconds < len(model.classes_)).all()), "_runner_up")
    check_floats(values, (n_rows,), "_runner_up")


def _relabelled(rows: Any, model: Any, n_rows: int) -> None:
    _row_numbers(rows, n_rows, "relabelled_")
    require(not bool(model._can_be_labelled[rows].any()), "relabelled_")  # only given labels are changed


def _conflicts(conflicts: Any, model: Any, n_rows: int) -> None:
    require(isinstance(conflicts, list), "constraint_conflicts_")
    for conflict in conflicts:
        require(isinstance(conflict, Conflict), "constraint_conflicts_")
        for row in (conflict.first, conflict.second):
            require(isinstance(row, int | np.integer) and 0 <= int(row) < n_rows, "constraint_conflicts_")


def _held_out(held_out: Any, model: Any, n_rows: int) -> None:
    if held_out is None:
        return
    require(isinstance(held_out, HeldOutLabels), "held_out_")
    rows, class_ids, n_classes = held_out.rows, held_out.class_ids, len(model.classes_)
    _row_numbers(rows, n_rows, "held_out_")
    _one_dimension(class_ids, len(rows), "held_out_")
    require(class_ids.dtype.kind == "i" and bool(((class_ids >= 0) & (class_ids < n_classes)).all()), "held_out_")
    _probabilities(held_out.probabilities, len(rows), n_classes, "held_out_")
    if held_out.weights is not None:
        require(len(rows) > 0, "held_out_")
        check_floats(held_out.weights, (len(rows),), "held_out_")


def _coordinates(places: Any, model: Any, n_rows: int) -> None:
    require("_code_space" in vars(model), "_code_space")
    _code_space(model._code_space, model, n_rows)
    check_floats(places, (n_rows, model._code_space.directions.shape[1]), "_coordinates")


def _code_space(space: Any, model: Any, n_rows: int) -> None:
    require(isinstance(space, CodeSpace) and "_coordinates" in vars(model), "_code_space")
    check_floats(space.directions, (len(model.landmarks_), None), "_code_space")


def _unlikeness(unlike: Any, model: Any, n_rows: int) -> None:
    require(isinstance(unlike, Unlikeness), "_unlikeness")
    m = len(model.landmarks_)
    for array, shape in ((unlike.middle, (m,)), (unlike.directions, (m, m)), (unlike.of_rows, (n_rows,))):
        check_floats(array, shape, "_unlikeness")


def _kept(kept: Any, model: Any, n_rows: int) -> None:
    """Check what other labels need of the rows."""
    require(isinstance(kept, KeptFit), "_kept")
    m, n_views = len(model.landmarks_), len(model.view_sizes_)
    check_floats(kept.products, (n_rows, m), "_kept")
    require(is_number(kept.squared_norm) and is_number(kept.nonzeros), "_kept")
    for array, shape in ((kept.present, (n_rows, n_views)), (kept.empty, (n_rows,))):
        require(array is None or (isinstance(array, np.ndarray) and array.shape == shape), "_kept")
        require(array is None or array.dtype == bool, "_kept")
    if kept.sample_weight is not None:
        check_floats(kept.sample_weight, (n_rows,), "_kept")
        require(bool((kept.sample_weight >= 0).all()), "_kept")
    require((kept.codes is None) == (kept.sums is None), "_kept")
    if kept.codes is not None:
        _codes(kept.codes, model, n_rows)
        require(isinstance(kept.sums, tuple) and len(kept.sums) == 4, "_kept")
        check_floats(kept.sums[0], (m, m), "_kept")
        require(all(map(is_number, kept.sums[1:])), "_kept")
    require(isinstance(kept.chosen, dict) and isinstance(kept.paper_weights, dict), "_kept")
    for name in ("l1", "ridge", "must_link_weight", "coupling"):
        require(is_number(kept.chosen.get(name)) and is_number(kept.paper_weights.get(name)), "_kept")
    require(len(kept.chosen.get("scaling", ())) == n_views, "_kept")
    readers = kept.chosen.get("readers")
    require(isinstance(readers, tuple) and readers in COMBINATIONS, "_kept")
    require(isinstance(kept.rng, np.random.RandomState), "_kept")
    require((kept.members is None) == (kept.considered is None), "_kept")
    if kept.members is not None:
        for rows in (kept.members, kept.considered):
            _row_numbers(rows, n_rows, "_kept")
            require(bool((np.diff(rows) > 0).all()), "_kept")


def _kept_plain(plain: Any, model: Any, n_rows: int) -> None:
    require(isinstance(plain, FSSMSC) and "_kept" in vars(plain), "_kept_plain")
    require(len(plain.labels_) == n_rows and plain.view_sizes_ == model.view_sizes_, "_kept_plain")
    check_rows(plain)


CHECKS: dict[str, Callable[[Any, Any, int], None]] = {
    "labels_": _labels,
    "confidence_": _confidence,
    "embedding_": _embedding,
    "codes_": _codes,
    "_can_be_labelled": _can_be_labelled,
    "_ids": _ids,
    "_runner_up": _runner_up,
    "relabelled_": _relabelled,
    "constraint_conflicts_": _conflicts,
    "held_out_": _held_out,
    "label_quality_": _label_quality,
    "_likely_class_ids": _likely_class_ids,
    "_label_source": _label_source,
    "_coordinates": _coordinates,
    "_code_space": _code_space,
    "_unlikeness": _unlikeness,
    "_kept": _kept,
    "_kept_plain": _kept_plain,
}


def _check_search(search: Any, n_classes: int | None, n_rows: int) -> None:
    """Check what `warm_start` goes on from; after an update there may be other classes than in the search."""
    require(isinstance(search, SearchState), "_search")
    require(isinstance(search.seed, int | np.integer) and isinstance(search.fingerprint, str), "seed")
    if search.sampled is not None:
        _row_numbers(search.sampled, n_rows, "sampled")
    require(isinstance(search.folds, list), "folds")
    for fold in search.folds:
        _row_numbers(fold, n_rows, "folds")
    hidden = np.bincount(np.concatenate([np.zeros(0, np.intp), *search.folds]))
    times = np.unique(hidden[hidden > 0])
    require(len(times) <= 1, "folds")  # every label is hidden as often as any other
    n_judged = int(np.count_nonzero(hidden))
    require(isinstance(search.judged, dict), "judged")
    for setting, judgement in search.judged.items():
        require(isinstance(setting, Setting) and isinstance(judgement, Judgement), "judged")
        require(is_number(judgement.loss) and is_number(judgement.accuracy), "judged")
        n_classes = np.shape(judgement.held_out)[-1] if n_classes is None else n_classes
        _probabilities(judgement.held_out, n_judged, n_classes, "judged")


def _probabilities(array: Any, n_rows: int, n_classes: int, what: str) -> None:
    require(isinstance(array, np.ndarray) and array.dtype.kind == "f", what)
    require(array.shape == (n_rows, n_classes) and bool(np.isfinite(array).all()), what)


def _row_numbers(rows: Any, n_rows: int, what: str) -> None:
    require(isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind == "i", what)
    if len(rows):
        require(int(rows.min()) >= 0 and int(rows.max()) < n_rows and len(np.unique(rows)) == len(rows), what)


def _one_dimension(array: Any, length: int, what: str) -> None:
    require(isinstance(array, np.ndarray) and array.shape == (length,), what)


def _length_of(array: Any, what: str) -> int:
    require(isinstance(array, np.ndarray) and array.ndim == 1 and len(array) > 0, what)
    return len(array)
