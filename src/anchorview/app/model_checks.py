"""Whether the parts of a loaded model fit together: compiled code must never meet arrays of unexpected sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..features.dense import DenseScaler
from ..features.directions import Directions
from ..features.scaling import ViewsScaler
from ..features.text import LSA_COMPONENTS, TextScaler
from ..labelling.clusters import ClusterCentres
from ..labelling.rule import RULES, LabelledNeighbours
from ..solver.admm.step import ReplayEncoder
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import PatternGrams
from ..tuning.experts import Expert, ExpertGroup
from ..tuning.graph import FittedRows, GraphHead
from ..tuning.heads import LinearHead, NeighbourHead, WeightedNeighbours
from ..tuning.poisson import PoissonHead
from ..tuning.readings import GraphReading, LinearReading, Readings
from ..tuning.settings import WITHOUT_CODES, Setting

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def check_model(model: Any) -> None:
    """Raise a ValueError that names what does not fit."""
    estimator = model.steps[-1][1] if hasattr(model, "steps") else model
    sizes, n_classes = estimator.view_sizes_, _length(estimator.classes_, "classes_")
    for name in ("view_names_", "_view_features", "_sparse_views"):
        _require(len(getattr(estimator, name)) == len(sizes), name)
    _require(all(_is_count(size) for size in sizes) and estimator.n_features_in_ == sum(sizes), "view_sizes_")
    _check_codes(estimator._scaler, estimator.landmarks_, estimator._encoder, sizes)
    _floats(estimator.landmark_embedding_, (None, len(estimator.landmarks_)), "landmark_embedding_")
    if hasattr(estimator, "_groups"):
        _require(_is_number(estimator._temperature), "_temperature")
        for group in estimator._groups:
            _check_group(group, sizes, n_classes)
    else:
        rule, n_landmarks = estimator._rule, len(estimator.landmarks_)
        if isinstance(rule, Readings):
            _check_readings(rule, n_landmarks, n_classes)
            rule = rule.neighbours
        if rule is not None:
            _check_rule(rule, len(estimator.landmark_embedding_), n_classes)


def _check_readings(readings: Readings, n_landmarks: int, n_classes: int) -> None:
    """Check what reads labels off the products with the landmarks."""
    _require(_is_number(readings.temperature) and readings.temperature > 0, "temperature")
    _require(isinstance(readings.on_products, tuple) and len(readings.on_products) > 0, "readings")
    for reading in readings.on_products:
        _require(isinstance(reading, LinearReading | GraphReading), "reading")
        _require(_is_number(reading.temperature) and reading.temperature > 0, "temperature")
        if isinstance(reading, LinearReading):
            _floats(reading.space.weights, (n_landmarks, n_classes), "weights")
            _floats(reading.intercept, (n_classes,), "intercept")
        else:
            _check_fitted_rows(reading.rows, n_landmarks)
            _floats(reading.potential, (len(reading.rows.points), n_classes), "potential")


def _check_fitted_rows(rows: Any, n_landmarks: int) -> None:
    """Check the rows of a graph, in their space."""
    _require(isinstance(rows, FittedRows), "fitted_rows")
    _floats(rows.space.weights, (n_landmarks, None), "weights")
    _floats(rows.points, (None, rows.space.weights.shape[1]), "points")
    _require(rows.points.dtype == np.float32, "points")


def _check_codes(scaler: Any, landmarks: Any, encoder: Any, sizes: list[int]) -> None:
    """Check what turns rows into codes."""
    _check_scaler(scaler, sizes)
    _floats(landmarks, (None, sum(scaler.sizes)), "landmarks")
    n_landmarks = _length(landmarks, "landmarks")
    if isinstance(encoder, ReplayEncoder):
        _floats(encoder.model.inverse, (n_landmarks, n_landmarks), "inverse")
        for push in encoder.pushes:
            _floats(push.left, (n_landmarks, None), "left")
            _floats(push.right, (push.left.shape[1], n_landmarks), "right")
        return
    _require(isinstance(encoder, ElasticNetEncoder), "encoder")
    _floats(encoder.gram, (n_landmarks, n_landmarks), "gram")
    _require(_is_number(encoder.ridge) and _is_number(encoder.l1), "ridge and l1")
    if encoder.grams is not None:
        _require(isinstance(encoder.grams, PatternGrams), "grams")
        _require(tuple(encoder.grams.sizes) == tuple(scaler.sizes), "sizes of grams")
        _floats(encoder.grams.landmarks, landmarks.shape, "landmarks of grams")
        _floats(encoder.grams.complete, (n_landmarks, n_landmarks), "complete")


def _check_scaler(scaler: Any, sizes: list[int]) -> None:
    _require(isinstance(scaler, ViewsScaler) and _is_float(scaler.dtype), "scaler")
    _require(len(scaler.scalers) == len(scaler.sizes) == len(sizes), "scalers")
    for one, n_out, size in zip(scaler.scalers, scaler.sizes, sizes, strict=True):
        _require(_is_count(n_out) and one.n_out == n_out, "n_out")
        if isinstance(one, TextScaler):
            _require(_is_float(one.dtype), "dtype")
            _require(one.components is not None or n_out == size, "n_out")
            if one.weight is not None:
                _floats(one.weight, (size,), "weight")
            if isinstance(one.components, Directions):
                _check_directions(one.components, size, n_out)
            elif one.components is not None:  # of a file of the first version
                _floats(one.components, (size, n_out), "components")
        else:
            _require(isinstance(one, DenseScaler) and n_out == size, "scaler of a view")
            for name in ("shift", "factor"):
                if getattr(one, name) is not None:
                    _floats(getattr(one, name), (size,), name)


def _check_directions(directions: Directions, n_terms: int, n_out: int) -> None:
    steps, row_of = directions.steps, directions.row_of
    _require(isinstance(steps, np.ndarray) and steps.dtype == np.int8 and steps.ndim == 2, "steps")
    n_kept = _length(steps, "steps")
    _require(steps.shape[1] == n_out <= LSA_COMPONENTS, "steps")  # more would be filled in from a small file
    _floats(directions.scale, (n_kept,), "scale")
    _require(isinstance(row_of, np.ndarray) and row_of.dtype == np.int32 and row_of.shape == (n_terms,), "row_of")
    _require(bool((row_of >= 0).all() and (row_of < n_kept).all()), "row_of")


def _check_rule(rule: Any, n_components: int, n_classes: int) -> None:
    """Check what reads labels off the embedding."""
    _require(_is_number(rule.temperature) and rule.temperature > 0, "temperature")
    if isinstance(rule, ClusterCentres):
        _floats(rule.centres, (n_classes, n_components), "centres")
        return
    _require(isinstance(rule, LabelledNeighbours) and rule.rule in RULES, "rule")
    _require(_is_count(rule.n_neighbors) and _is_number(rule.doubt), "n_neighbors")
    _check_reference(rule, n_components, n_classes)


def _check_reference(rule: Any, n_components: int | None, n_classes: int) -> None:
    """Check labelled rows and their classes, which are in ascending order."""
    _floats(rule.reference, (None, n_components), "reference")
    _class_ids(rule.class_ids, n_classes)
    _require(len(rule.class_ids) == _length(rule.reference, "reference"), "class_ids")
    _require(bool((np.diff(rule.class_ids) >= 0).all()), "order of class_ids")


def _check_group(group: Any, sizes: list[int], n_classes: int) -> None:
    """Check experts that share a scaling and landmarks."""
    _require(isinstance(group, ExpertGroup), "group")
    _check_scaler(group.scaler, sizes)
    _floats(group.landmarks, (None, sum(group.scaler.sizes)), "landmarks")
    n_landmarks = _length(group.landmarks, "landmarks")
    for encoder, experts in group.on_codes:
        _require(isinstance(encoder, ElasticNetEncoder), "encoder")
        _check_codes(group.scaler, group.landmarks, encoder, sizes)
        for expert in experts:
            n_features = n_landmarks
            if expert.embedding is not None:
                _floats(expert.embedding, (None, n_landmarks), "embedding")
                n_features = len(expert.embedding)
            _check_expert(expert, n_features, n_classes)
    for expert in group.on_features:
        _check_expert(expert, sum(group.scaler.sizes), n_classes)
    if group.on_graph:
        _check_fitted_rows(group.fitted_rows, n_landmarks)
    for expert in group.on_graph:
        _check_expert(expert, _length(group.fitted_rows.points, "points"), n_classes)


def _check_expert(expert: Any, n_features: int, n_classes: int) -> None:
    _require(isinstance(expert, Expert) and isinstance(expert.setting, Setting), "expert")
    _require(_is_number(expert.temperature) and _is_number(expert.weight), "weight of an expert")
    _require(isinstance(expert.saw_sure_rows, bool), "expert")
    _require(expert.embedding is not None or expert.setting.head in ("codes", *WITHOUT_CODES), "embedding")
    head = expert.head
    if isinstance(head, LinearHead):
        _class_ids(head.classes, n_classes)
        _require(head.n_classes == n_classes, "n_classes")
        _floats(head.coefficients, (len(head.classes), n_features), "coefficients")
        _floats(head.intercept, (len(head.classes),), "intercept")
    elif isinstance(head, GraphHead | PoissonHead):
        _floats(head.shares if isinstance(head, GraphHead) else head.potential, (n_features, n_classes), "shares")
    elif isinstance(head, WeightedNeighbours):
        _check_reference(head, n_features, n_classes)
        _floats(head.weights, (len(head.class_ids),), "weights")
        _require(_is_count(head.n_neighbors), "n_neighbors")
    else:
        _require(isinstance(head, NeighbourHead), "head")
        _check_rule(head.rule, n_features, n_classes)


def _floats(array: Any, shape: tuple[int | None, ...], what: str) -> None:
    """Require finite floating-point numbers of this shape; None stands for any size but 0."""
    _require(isinstance(array, np.ndarray) and array.dtype in _FLOATS and array.ndim == len(shape), what)
    sizes = zip(array.shape, shape, strict=True)
    _require(all(size == wanted if wanted is not None else size > 0 for size, wanted in sizes), what)
    _require(bool(np.isfinite(array).all()), what)


def _class_ids(array: Any, n_classes: int) -> None:
    _require(
        isinstance(array, np.ndarray) and array.dtype.kind == "i" and array.ndim == 1 and len(array) > 0, "class_ids"
    )
    _require(int(array.min()) >= 0 and int(array.max()) < n_classes, "class_ids")


def _length(array: Any, what: str) -> int:
    _require(isinstance(array, np.ndarray) and array.ndim > 0 and len(array) > 0, what)
    return len(array)


def _is_float(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype in _FLOATS  # to NumPy, None is float64


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value > 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"{what} does not fit the rest of the model")
