"""Whether the parts of a loaded model fit together: compiled code must never meet arrays of unexpected sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..features.dense import DenseScaler
from ..features.directions import Directions
from ..features.scaling import ViewsScaler
from ..features.text import LSA_COMPONENTS, TextScaler
from ..readers.clusters import ClusterCentres
from ..readers.graph import FittedRows, GraphHead
from ..readers.nearest import RULES, LabelledNeighbours
from ..readers.poisson import PoissonHead
from ..solver.admm.step import ReplayEncoder
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import PatternGrams
from ..tuning.experts import Expert, ExpertGroup
from ..tuning.heads import LinearHead, NeighbourHead, WeightedNeighbours
from ..tuning.readings import GraphReading, LinearReading, Readings
from ..tuning.settings import WITHOUT_CODES, Setting
from .model_rows import check_rows
from .model_steps import check_steps
from .model_values import check_floats, is_count, is_float, is_number, require


def check_model(model: Any, *, rows: bool = True) -> None:
    """Raise a ValueError that names what does not fit: in a pipeline each step, in a model all that predictions need.

    Parameters
    ----------
    model : FSSMSC, AnchorViewClassifier or Pipeline
        The model.
    rows : bool, default=True
        Whether to check what it knows of the rows of its fit too.
    """
    estimator = model
    if hasattr(model, "steps"):
        check_steps(model)
        estimator = model.steps[-1][1]
    _check_estimator(estimator)
    if rows:
        check_rows(estimator)


def _check_estimator(estimator: Any) -> None:
    sizes, n_classes = estimator.view_sizes_, _length(estimator.classes_, "classes_")
    require(estimator.classes_.ndim == 1 and len(set(estimator.classes_.tolist())) == n_classes, "classes_")
    for name in ("view_names_", "_view_features", "_sparse_views"):
        require(len(getattr(estimator, name)) == len(sizes), name)
    require(all(is_count(size) for size in sizes) and estimator.n_features_in_ == sum(sizes), "view_sizes_")
    for features, size in zip(estimator._view_features, sizes, strict=True):
        require(features is None or len(features) == size, "_view_features")
    _check_codes(estimator._scaler, estimator.landmarks_, estimator._encoder, sizes)
    check_floats(
        estimator.landmark_embedding_, (estimator._n_features_out, len(estimator.landmarks_)), "landmark_embedding_"
    )
    order = getattr(estimator, "_class_order", None)
    require(order is None or _is_order(order, n_classes), "_class_order")
    if hasattr(estimator, "_groups"):
        require(is_number(estimator._temperature), "_temperature")
        for group in estimator._groups:
            if "_rule" not in vars(estimator):  # else of an earlier answer, which may know fewer classes
                _check_group(group, sizes, n_classes)
        if "_kept_plain" in vars(estimator):
            _check_estimator(estimator._kept_plain)
    if hasattr(estimator, "_rule") or not hasattr(estimator, "_groups"):
        rule, n_landmarks = estimator._rule, len(estimator.landmarks_)
        if isinstance(rule, Readings):
            _check_readings(rule, n_landmarks, n_classes)
            rule = rule.neighbours
        if rule is not None:
            _check_rule(rule, len(estimator.landmark_embedding_), n_classes)


def _check_readings(readings: Readings, n_landmarks: int, n_classes: int) -> None:
    """Check what reads labels off the products with the landmarks."""
    require(is_number(readings.temperature) and readings.temperature > 0, "temperature")
    require(isinstance(readings.on_products, tuple) and len(readings.on_products) > 0, "readings")
    for reading in readings.on_products:
        require(isinstance(reading, LinearReading | GraphReading), "reading")
        require(is_number(reading.temperature) and reading.temperature > 0, "temperature")
        if isinstance(reading, LinearReading):
            check_floats(reading.space.weights, (n_landmarks, n_classes), "weights")
            check_floats(reading.intercept, (n_classes,), "intercept")
        else:
            _check_fitted_rows(reading.rows, n_landmarks)
            check_floats(reading.potential, (len(reading.rows.points), n_classes), "potential")


def _check_fitted_rows(rows: Any, n_landmarks: int) -> None:
    """Check the rows of a graph, in their space."""
    require(isinstance(rows, FittedRows), "fitted_rows")
    check_floats(rows.space.weights, (n_landmarks, None), "weights")
    check_floats(rows.points, (None, rows.space.weights.shape[1]), "points")
    require(rows.points.dtype == np.float32, "points")


def _check_codes(scaler: Any, landmarks: Any, encoder: Any, sizes: list[int]) -> None:
    """Check what turns rows into codes."""
    _check_scaler(scaler, sizes)
    check_floats(landmarks, (None, sum(scaler.sizes)), "landmarks")
    n_landmarks = _length(landmarks, "landmarks")
    if isinstance(encoder, ReplayEncoder):
        check_floats(encoder.model.inverse, (n_landmarks, n_landmarks), "inverse")
        for push in encoder.pushes:
            check_floats(push.left, (n_landmarks, None), "left")
            check_floats(push.right, (push.left.shape[1], n_landmarks), "right")
        return
    require(isinstance(encoder, ElasticNetEncoder), "encoder")
    check_floats(encoder.gram, (n_landmarks, n_landmarks), "gram")
    require(is_number(encoder.ridge) and is_number(encoder.l1), "ridge and l1")
    if encoder.grams is not None:
        require(isinstance(encoder.grams, PatternGrams), "grams")
        require(tuple(encoder.grams.sizes) == tuple(scaler.sizes), "sizes of grams")
        check_floats(encoder.grams.landmarks, landmarks.shape, "landmarks of grams")
        check_floats(encoder.grams.complete, (n_landmarks, n_landmarks), "complete")


def _check_scaler(scaler: Any, sizes: list[int]) -> None:
    require(isinstance(scaler, ViewsScaler) and is_float(scaler.dtype), "scaler")
    require(len(scaler.scalers) == len(scaler.sizes) == len(sizes), "scalers")
    for one, n_out, size in zip(scaler.scalers, scaler.sizes, sizes, strict=True):
        require(is_count(n_out) and one.n_out == n_out, "n_out")
        if isinstance(one, TextScaler):
            require(is_float(one.dtype), "dtype")
            require(one.components is not None or n_out == size, "n_out")
            if one.weight is not None:
                check_floats(one.weight, (size,), "weight")
            if isinstance(one.components, Directions):
                _check_directions(one.components, size, n_out)
            elif one.components is not None:  # of a file of the first version
                check_floats(one.components, (size, n_out), "components")
        else:
            require(isinstance(one, DenseScaler) and n_out == size, "scaler of a view")
            for name in ("shift", "factor"):
                if getattr(one, name) is not None:
                    check_floats(getattr(one, name), (size,), name)


def _check_directions(directions: Directions, n_terms: int, n_out: int) -> None:
    steps, row_of = directions.steps, directions.row_of
    require(isinstance(steps, np.ndarray) and steps.dtype == np.int8 and steps.ndim == 2, "steps")
    n_kept = _length(steps, "steps")
    require(steps.shape[1] == n_out <= LSA_COMPONENTS, "steps")  # more would be filled in from a small file
    check_floats(directions.scale, (n_kept,), "scale")
    require(isinstance(row_of, np.ndarray) and row_of.dtype == np.int32 and row_of.shape == (n_terms,), "row_of")
    require(bool((row_of >= 0).all() and (row_of < n_kept).all()), "row_of")


def _check_rule(rule: Any, n_components: int, n_classes: int) -> None:
    """Check what reads labels off the embedding."""
    require(is_number(rule.temperature) and rule.temperature > 0, "temperature")
    if isinstance(rule, ClusterCentres):
        check_floats(rule.centres, (n_classes, n_components), "centres")
        return
    require(isinstance(rule, LabelledNeighbours) and rule.rule in RULES, "rule")
    require(is_count(rule.n_neighbors) and is_number(rule.doubt), "n_neighbors")
    _check_reference(rule, n_components, n_classes)


def _check_reference(rule: Any, n_components: int | None, n_classes: int) -> None:
    """Check labelled rows and their classes, which are in ascending order."""
    check_floats(rule.reference, (None, n_components), "reference")
    _class_ids(rule.class_ids, n_classes)
    require(len(rule.class_ids) == _length(rule.reference, "reference"), "class_ids")
    require(bool((np.diff(rule.class_ids) >= 0).all()), "order of class_ids")


def _check_group(group: Any, sizes: list[int], n_classes: int) -> None:
    """Check experts that share a scaling and landmarks."""
    require(isinstance(group, ExpertGroup), "group")
    _check_scaler(group.scaler, sizes)
    check_floats(group.landmarks, (None, sum(group.scaler.sizes)), "landmarks")
    n_landmarks = _length(group.landmarks, "landmarks")
    for encoder, experts in group.on_codes:
        require(isinstance(encoder, ElasticNetEncoder), "encoder")
        _check_codes(group.scaler, group.landmarks, encoder, sizes)
        for expert in experts:
            n_features = n_landmarks
            if expert.embedding is not None:
                check_floats(expert.embedding, (None, n_landmarks), "embedding")
                n_features = len(expert.embedding)
            _check_expert(expert, n_features, n_classes)
    for expert in group.on_features:
        _check_expert(expert, sum(group.scaler.sizes), n_classes)
    if group.completion is not None:
        require(isinstance(group.completion, tuple) and len(group.completion) == 2, "completion")
        require(all(is_number(weight) and weight >= 0 for weight in group.completion), "completion")
    if group.on_graph:
        _check_fitted_rows(group.fitted_rows, n_landmarks)
    for expert in group.on_graph:
        _check_expert(expert, _length(group.fitted_rows.points, "points"), n_classes)


def _check_expert(expert: Any, n_features: int, n_classes: int) -> None:
    require(isinstance(expert, Expert) and isinstance(expert.setting, Setting), "expert")
    require(is_number(expert.temperature) and is_number(expert.weight), "weight of an expert")
    require(isinstance(expert.saw_sure_rows, bool), "expert")
    require(expert.embedding is not None or expert.setting.head in ("codes", *WITHOUT_CODES), "embedding")
    head = expert.head
    if isinstance(head, LinearHead):
        _class_ids(head.classes, n_classes)
        require(head.n_classes == n_classes, "n_classes")
        check_floats(head.coefficients, (len(head.classes), n_features), "coefficients")
        check_floats(head.intercept, (len(head.classes),), "intercept")
    elif isinstance(head, GraphHead | PoissonHead):
        check_floats(head.shares if isinstance(head, GraphHead) else head.potential, (n_features, n_classes), "shares")
    elif isinstance(head, WeightedNeighbours):
        _check_reference(head, n_features, n_classes)
        check_floats(head.weights, (len(head.class_ids),), "weights")
        require(is_count(head.n_neighbors), "n_neighbors")
    else:
        require(isinstance(head, NeighbourHead), "head")
        _check_rule(head.rule, n_features, n_classes)


def _class_ids(array: Any, n_classes: int) -> None:
    require(
        isinstance(array, np.ndarray) and array.dtype.kind == "i" and array.ndim == 1 and len(array) > 0, "class_ids"
    )
    require(int(array.min()) >= 0 and int(array.max()) < n_classes, "class_ids")


def _is_order(array: Any, size: int) -> bool:
    is_integer = isinstance(array, np.ndarray) and array.dtype.kind == "i" and array.ndim == 1
    return is_integer and np.array_equal(np.sort(array), np.arange(size))


def _length(array: Any, what: str) -> int:
    require(isinstance(array, np.ndarray) and array.ndim > 0 and len(array) > 0, what)
    return len(array)
