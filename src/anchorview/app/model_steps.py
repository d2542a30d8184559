"""Whether the steps before a loaded model are whole: what they were fitted to, and that they fit one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.column_encoders import CategoryEncoder, ListEncoder, TextEncoder
from ..data.column_kinds import LEFT_OUT, USED, ColumnKind
from ..data.columns import DATE_FORMATS
from ..data.image_column import ImageColumn
from ..data.number_encoder import NumberColumn, NumberEncoder
from ..data.tag_encoder import TagEncoder
from ..data.tag_words import TAG_READERS
from ..data.text_vectors import TextVectors
from .model_classes import LAST_STEPS, storable_name
from .model_parameters import is_vocabulary
from .model_values import is_count, is_number, require

# Sizes of fitted arrays: n features in, k components, q quantiles. An attribute may be None, or not there, if the
# parameters of the transformer ask for nothing to be fitted.
_SHAPES: dict[str, dict[str, str]] = {
    "PCA": {
        "components_": "kn",
        "mean_": "n",
        "explained_variance_": "k",
        "explained_variance_ratio_": "k",
        "singular_values_": "k",
    },
    "TruncatedSVD": {
        "components_": "kn",
        "explained_variance_": "k",
        "explained_variance_ratio_": "k",
        "singular_values_": "k",
    },
    "TfidfTransformer": {"idf_": "n"},
    "SimpleImputer": {"statistics_": "n"},
    "MaxAbsScaler": {"max_abs_": "n", "scale_": "n"},
    "MinMaxScaler": {"scale_": "n", "min_": "n", "data_min_": "n", "data_max_": "n", "data_range_": "n"},
    "RobustScaler": {"center_": "n", "scale_": "n"},
    "StandardScaler": {"mean_": "n", "var_": "n", "scale_": "n"},
    "QuantileTransformer": {"references_": "q", "quantiles_": "qn"},
}
_NEEDED = {  # without these a transformer is not fitted
    "PCA": ("components_", "mean_"),
    "TruncatedSVD": ("components_",),
    "SimpleImputer": ("statistics_",),
    "MaxAbsScaler": ("scale_",),
    "MinMaxScaler": ("scale_", "min_"),
    "QuantileTransformer": ("quantiles_", "references_"),
    "OneHotEncoder": ("categories_", "_n_features_outs"),
    "OrdinalEncoder": ("categories_",),
    "CountVectorizer": ("vocabulary_",),
    "TfidfVectorizer": ("vocabulary_", "_tfidf"),
}


def check_steps(pipeline: Any) -> None:
    """Raise a ValueError that names what does not fit in the steps of a pipeline."""
    steps = pipeline.steps
    require(isinstance(steps, list) and len(steps) > 0, "steps")
    for step in steps:
        require(isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str), "steps")
    last = steps[-1][1]
    for name, step in steps[:-1]:
        check_transformer(step, f"step {name!r:.80}", None)
    if len(steps) > 1 and storable_name(type(steps[-2][1])) == "TableViews":
        sizes = {view: len(features) for view, features in steps[-2][1]._features.items()}
        fitted = dict(zip(last.view_names_, last.view_sizes_, strict=True))
        require(sizes == fitted, "views of the table")


def check_transformer(step: Any, where: str, n_features: int | None) -> None:
    """Raise a ValueError if a step is no transformer, is not fitted, or its arrays do not fit one another."""
    if step is None or step == "passthrough":
        return
    name = storable_name(type(step))
    require(name is not None and name not in LAST_STEPS and hasattr(step, "transform"), where)
    if name == "TableViews":
        _check_table(step, where)
    elif name == "PerView":
        _check_per_view(step, where)
    elif name == "Pipeline":  # of one view
        for inner, one in step.steps:
            check_transformer(one, f"{where}, step {inner!r:.80}", None)
    else:
        _check_fitted(step, str(name), where, n_features)


def _check_fitted(step: Any, name: str, where: str, n_features: int | None) -> None:
    state = vars(step)
    for needed in _NEEDED.get(name, ()):
        require(needed in state, f"{needed} of {where}")
    sizes = {"n": state.get("n_features_in_", n_features)}
    if n_features is not None and "n_features_in_" in state:
        require(step.n_features_in_ == n_features, f"n_features_in_ of {where}")
    if "n_features_in_" in state:
        require(is_count(step.n_features_in_), f"n_features_in_ of {where}")
    if "feature_names_in_" in state:
        require(np.shape(step.feature_names_in_) == (sizes["n"],), f"feature_names_in_ of {where}")
    for attribute, axes in _SHAPES.get(name, {}).items():
        array = state.get(attribute)
        if array is None:
            require(attribute not in _NEEDED.get(name, ()), f"{attribute} of {where}")
            continue
        what = f"{attribute} of {where}"
        require(isinstance(array, np.ndarray) and array.ndim == len(axes) and array.dtype.kind in "biufOU", what)
        for axis, size in zip(axes, array.shape, strict=True):
            known = sizes.get(axis)
            require(size == known if known is not None else True, what)
            sizes[axis] = size
    if name in ("CountVectorizer", "TfidfVectorizer"):
        _check_words(step, where)
    if name in ("OneHotEncoder", "OrdinalEncoder"):
        _check_categories(step, name, where)


def _check_words(step: Any, where: str) -> None:
    require(isinstance(step.vocabulary_, Mapping) and is_vocabulary(step.vocabulary_), f"vocabulary_ of {where}")
    if hasattr(step, "_tfidf"):
        require(storable_name(type(step._tfidf)) == "TfidfTransformer", f"_tfidf of {where}")
        _check_fitted(step._tfidf, "TfidfTransformer", where, len(step.vocabulary_))


def _check_categories(step: Any, name: str, where: str) -> None:
    """Check that codes stay within the columns: what is beyond would be read, or written, by compiled code."""
    what = f"categories_ of {where}"
    require(isinstance(step.categories_, list) and len(step.categories_) == step.n_features_in_, what)
    require(all(isinstance(one, np.ndarray) and one.ndim == 1 for one in step.categories_), what)
    if name == "OneHotEncoder":
        dropped = step._drop_idx_after_grouping
        if dropped is not None:
            require(np.shape(dropped) == (len(step.categories_),), f"drop_idx_ of {where}")
        require(step._n_features_outs == step._compute_n_features_outs(), f"_n_features_outs of {where}")


def _check_per_view(step: Any, where: str) -> None:
    sizes = step.view_sizes_
    require(all(is_count(size) for size in sizes) and step.n_features_in_ == sum(sizes), f"view_sizes_ of {where}")
    require(list(step.transformers_) == list(step.view_names_), f"transformers_ of {where}")
    for values in (step.view_names_, step._sizes_out):
        require(len(values) == len(sizes), f"views of {where}")
    require(all(is_count(size) for size in step._sizes_out), f"_sizes_out of {where}")
    for name, size in zip(step.view_names_, sizes, strict=True):
        check_transformer(step.transformers_[name], f"{where}, view {name!r:.80}", size)


def _check_table(step: Any, where: str) -> None:
    columns, encoders = step.columns_, step._encoders
    require(isinstance(columns, dict) and isinstance(encoders, list), f"columns_ of {where}")
    for found in columns.values():
        require(isinstance(found, ColumnKind) and found.kind in (*USED, *LEFT_OUT), f"columns_ of {where}")
        require(found.date_format in DATE_FORMATS, f"columns_ of {where}")
    used: list[str] = []
    n_features = 0
    for encoder in encoders:
        names, size = _table_part(encoder, where)
        used += names
        n_features += size
    require(all(name in columns and columns[name].used for name in used), f"columns of {where}")
    features = step._features
    require(isinstance(features, dict) and sum(map(len, features.values())) == n_features, f"_features of {where}")


def _table_part(encoder: Any, where: str) -> tuple[list[str], int]:
    """Return the columns that an encoder reads, and how many features it makes."""
    if isinstance(encoder, TextEncoder):
        for terms in (encoder.words, encoder.characters):
            require(isinstance(terms, list) and is_vocabulary(terms) and len(set(terms)) == len(terms), where)
        return [encoder.column], len(encoder.words) + len(encoder.characters)
    if isinstance(encoder, TextVectors):
        require(is_count(encoder.n_features), where)
        require(isinstance(encoder.encoder, str) and isinstance(encoder.fingerprint, str), where)
        return [encoder.column], encoder.n_features
    if isinstance(encoder, ImageColumn):
        require(isinstance(encoder.sizes, dict) and all(map(is_count, encoder.sizes.values())), where)
        require(isinstance(encoder.encoder, str), where)
        return [encoder.column], sum(encoder.sizes.values())
    if isinstance(encoder, ListEncoder):
        require(is_count(encoder.n_features), where)
        return [encoder.column], encoder.n_features
    if isinstance(encoder, CategoryEncoder):
        for known in encoder.values.values():
            require(isinstance(known, list) and is_vocabulary(known) and len(set(known)) == len(known), where)
        return list(encoder.values), sum(map(len, encoder.values.values()))
    if isinstance(encoder, TagEncoder):
        require(isinstance(encoder.kinds, dict) and set(encoder.kinds.values()) <= set(TAG_READERS), where)
        require(list(encoder.kinds) == list(encoder.values), where)
        for known in encoder.values.values():
            require(isinstance(known, list) and is_vocabulary(known) and len(set(known)) == len(known), where)
        return list(encoder.values), sum(map(len, encoder.values.values()))
    require(isinstance(encoder, NumberEncoder), where)
    for one in encoder.numbers:
        require(isinstance(one, NumberColumn) and one.date_format in DATE_FORMATS, where)
        require(all(map(is_number, (one.low, one.high, one.fill))) and one.low < one.high, where)
    return [one.column for one in encoder.numbers], sum(3 if one.tells_empty else 2 for one in encoder.numbers)
