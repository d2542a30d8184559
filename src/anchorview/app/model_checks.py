"""Whether the parts of a loaded model fit together: compiled code must never meet arrays of unexpected sizes."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from ..features.directions import Directions
from ..features.scaled import DenseScaler, ViewsScaler
from ..features.text import LSA_COMPONENTS, TextScaler
from ..model.model import Branch, Embedder, Member, Model
from ..readers.base import RULES, Space
from ..readers.clusters import ClusterCentres
from ..readers.graph import FittedRows, GraphSpace, PoissonReader, SpreadReader
from ..readers.linear import FoldedReader, LinearReader
from ..readers.nearest import LabelledNeighbours
from ..readers.plain_neighbours import PlainNeighbours
from ..readers.view_regressions import ViewRegressions
from ..solver.admm.step import ReplayEncoder
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import PatternGrams
from .model_rows import check_rows
from .model_steps import check_steps
from .model_values import check_floats, is_count, is_float, is_number, require

READERS = (
    LabelledNeighbours,
    PlainNeighbours,
    ClusterCentres,
    LinearReader,
    FoldedReader,
    SpreadReader,
    PoissonReader,
    ViewRegressions,
)


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
    model: Any = getattr(estimator, "_model", None)
    require(isinstance(model, Model), "_model")
    _check_whole(model, sizes, n_classes)
    require(np.array_equal(model.classes, estimator.classes_), "classes of the model")
    require(np.array_equal(model.embedder.landmarks, estimator.landmarks_), "landmarks_")
    require(np.array_equal(model.embedder.embedding, estimator.landmark_embedding_), "landmark_embedding_")
    require(len(model.embedder.embedding) == estimator._n_features_out, "_n_features_out")
    if "_kept_plain" in vars(estimator):
        _check_estimator(estimator._kept_plain)


def _check_whole(model: Model, sizes: list[int], n_classes: int) -> None:
    """Check all that predictions need."""
    embedder = model.embedder
    require(isinstance(embedder, Embedder), "embedder")
    _check_codes(embedder.scaler, embedder.landmarks, embedder.encoder, sizes)
    check_floats(embedder.embedding, (None, len(embedder.landmarks)), "embedding of the landmarks")
    require(model.order is None or _is_order(model.order, n_classes), "order of the classes")
    require(isinstance(model.branches, tuple) and len(model.branches) > 0, "branches")
    for branch in model.branches:
        _check_branch(branch, sizes, n_classes)
    if model.temperature is None:
        members = model.members
        require(len(model.branches) == len(members) == 1 and members[0].reader.reads == "embedding", "temperature")
    else:
        require(is_number(model.temperature) and model.temperature > 0, "temperature")


def _check_branch(branch: Any, sizes: list[int], n_classes: int) -> None:
    """Check members that share a scaling and landmarks."""
    require(isinstance(branch, Branch) and isinstance(branch.members, tuple), "branch")
    _check_scaler(branch.scaler, sizes)
    check_floats(branch.landmarks, (None, sum(branch.scaler.sizes)), "landmarks")
    if branch.completer is not None:
        _check_codes(branch.scaler, branch.landmarks, branch.completer, sizes)
    for member in branch.members:
        require(isinstance(member, Member) and isinstance(member.reader, READERS), "reader")
        require(is_number(member.weight) and isinstance(member.saw_guesses, bool), "weight of a member")
        _check_reader(member.reader, _width(member, branch, sizes), n_classes)


def _width(member: Member, branch: Branch, sizes: list[int]) -> int:
    """Return how many numbers the reader of a member reads of a row."""
    reads, n_landmarks = member.reader.reads, _length(branch.landmarks, "landmarks")
    require(reads in get_args(Space), "what a reader reads")
    if reads == "features":
        return sum(branch.scaler.sizes)
    if reads == "products":
        return n_landmarks
    if reads == "graph":
        _check_fitted_rows(member.graph, n_landmarks)
        return len(member.graph.points)  # type: ignore[union-attr]
    _check_codes(branch.scaler, branch.landmarks, member.encoder, sizes)
    if reads == "unit_codes":
        require(member.embedding is None, "embedding")
        return n_landmarks
    check_floats(member.embedding, (None, n_landmarks), "embedding")
    return len(member.embedding)  # type: ignore[arg-type]


def _check_reader(reader: Any, width: int, n_classes: int) -> None:
    """Check what turns so many numbers of a row into scores of the classes."""
    require(is_number(reader.temperature) and reader.temperature > 0, "temperature")
    if isinstance(reader, LinearReader):
        require(reader.reads in ("unit_embedding", "unit_codes", "features"), "what a regression reads")
        _class_ids(reader.classes, n_classes)
        require(reader.n_classes == n_classes and isinstance(reader.converged, bool), "n_classes")
        check_floats(reader.coefficients, (len(reader.classes), width), "coefficients")
        check_floats(reader.intercept, (len(reader.classes),), "intercept")
    elif isinstance(reader, ViewRegressions):
        require(isinstance(reader.views, tuple) and len(reader.views) > 0, "regressions of views")
        require(all(isinstance(one, LinearReader) and one.reads == "features" for one in reader.views), "reader")
        classes = reader.views[0].classes
        require(all(np.array_equal(one.classes, classes) for one in reader.views), "classes of views")
        widths = [np.shape(one.coefficients)[-1] for one in reader.views]
        require(sum(widths) == width, "columns of views")
        for one, part in zip(reader.views, widths, strict=True):
            _check_reader(one, part, n_classes)
    elif isinstance(reader, FoldedReader):
        require(isinstance(reader.space, GraphSpace), "space")
        check_floats(reader.space.weights, (width, n_classes), "weights")
        check_floats(reader.intercept, (n_classes,), "intercept")
    elif isinstance(reader, SpreadReader | PoissonReader):
        shares = reader.shares if isinstance(reader, SpreadReader) else reader.potential
        check_floats(shares, (width, n_classes), "shares")
    elif isinstance(reader, ClusterCentres):
        check_floats(reader.centres, (n_classes, width), "centres")
    elif isinstance(reader, PlainNeighbours):
        require(isinstance(reader.labelled, LabelledNeighbours), "labelled rows")
        _check_neighbours(reader.labelled, width, n_classes)
        if reader.weights is not None:
            check_floats(reader.weights, (len(reader.labelled.class_ids),), "weights")
    else:
        _check_neighbours(reader, width, n_classes)


def _check_neighbours(rule: Any, width: int, n_classes: int) -> None:
    """Check labelled rows and their classes, which are in ascending order."""
    require(rule.rule in RULES, "rule")
    require(is_count(rule.n_neighbors) and is_number(rule.doubt), "n_neighbors")
    check_floats(rule.reference, (None, width), "reference")
    _class_ids(rule.class_ids, n_classes)
    require(len(rule.class_ids) == _length(rule.reference, "reference"), "class_ids")
    require(bool((np.diff(rule.class_ids) >= 0).all()), "order of class_ids")


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
        require(encoder.grams.view_weights == scaler.view_weights, "view_weights of grams")
        check_floats(encoder.grams.landmarks, landmarks.shape, "landmarks of grams")
        check_floats(encoder.grams.complete, (n_landmarks, n_landmarks), "complete")


def _check_scaler(scaler: Any, sizes: list[int]) -> None:
    require(isinstance(scaler, ViewsScaler) and is_float(scaler.dtype), "scaler")
    require(len(scaler.scalers) == len(scaler.sizes) == len(sizes), "scalers")
    _check_view_weights(scaler.view_weights, len(sizes))
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


def _check_view_weights(weights: Any, n_views: int) -> None:
    if weights is not None:
        require(isinstance(weights, tuple) and len(weights) == n_views, "view_weights")
        require(all(is_number(weight) and weight > 0 for weight in weights), "view_weights")


def _check_directions(directions: Directions, n_terms: int, n_out: int) -> None:
    steps, row_of = directions.steps, directions.row_of
    require(isinstance(steps, np.ndarray) and steps.dtype == np.int8 and steps.ndim == 2, "steps")
    n_kept = _length(steps, "steps")
    require(steps.shape[1] == n_out <= LSA_COMPONENTS, "steps")  # more would be filled in from a small file
    check_floats(directions.scale, (n_kept,), "scale")
    require(isinstance(row_of, np.ndarray) and row_of.dtype == np.int32 and row_of.shape == (n_terms,), "row_of")
    require(bool((row_of >= 0).all() and (row_of < n_kept).all()), "row_of")


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
