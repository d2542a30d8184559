"""Parameters that the transformers of a model file may have: none that reads files, runs code or runs without end.

A parameter has its default, or a value that is listed here. The same is asked of a model that is saved, so that what is
saved can be loaded.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .model_values import is_count, is_number

# Regular expressions can take time that is exponential in the text. These take linear time: scikit-learn's default, the
# one of TableViews, and the common ones for words of one letter and for whatever stands between spaces.
TOKEN_PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"\w+", r"\w\w+", r"\S+", r"[^\s]+")
_ENCODINGS = ("utf-8", "utf8", "utf-8-sig", "utf-16", "ascii", "latin-1", "latin1", "iso-8859-1", "cp1252")
_LONGEST_N_GRAM = 32  # of words or characters
_MOST_COLUMNS = 2**31 - 1

Rule = Callable[[Any], bool]


def _one_of(*values: Any) -> Rule:
    return lambda value: any(type(value) is type(one) and value == one for one in values)


def _either(*rules: Rule) -> Rule:
    return lambda value: any(rule(value) for rule in rules)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_none(value: Any) -> bool:
    return value is None


def _is_plain(value: Any) -> bool:
    """Whether this is a number, text or nothing."""
    return value is None or isinstance(value, str | int | float | np.number | np.str_)


def _is_numeric_type(value: Any) -> bool:
    is_type = isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))
    return (is_type and np.dtype(value).kind in "biuf") or _one_of("float32", "float64", "int64", "int32")(value)


def _is_random_state(value: Any) -> bool:
    return value is None or isinstance(value, int | np.integer | np.random.RandomState)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list | tuple | set | frozenset) and all(isinstance(value, str) for value in values)


def _is_pair_of(rule: Rule) -> Rule:
    return lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(map(rule, value))


def _is_n_gram_range(value: Any) -> bool:
    return _is_pair_of(is_count)(value) and value[0] <= value[1] <= _LONGEST_N_GRAM


def is_vocabulary(value: Any) -> bool:
    """Whether terms have the places 0, 1, 2, …: any other would be a column outside the matrix of counts."""
    if not isinstance(value, Mapping):
        return _are_texts(value)
    places = list(value.values())
    if not all(isinstance(place, int | np.integer) for place in places):
        return False
    return all(isinstance(term, str) for term in value) and sorted(places) == list(range(len(places)))


def _are_categories(value: Any) -> bool:
    rows = value if isinstance(value, list | tuple) else [None]
    return all(isinstance(row, np.ndarray | list | tuple) and all(map(_is_plain, row)) for row in rows)


_NORM = _one_of(None, "l1", "l2", "max")
_NUMBER_OR_NONE = _either(_is_none, is_number)
_COUNT_OR_NONE = _either(_is_none, is_count)

_TEXT: dict[str, Rule] = {
    "input": _one_of("content"),  # "filename" would open files that the rows name
    "encoding": _one_of(*_ENCODINGS),
    "decode_error": _one_of("strict", "ignore", "replace"),
    "strip_accents": _one_of(None, "ascii", "unicode"),
    "lowercase": _is_bool,
    "preprocessor": _is_none,
    "tokenizer": _is_none,
    "stop_words": _either(_one_of(None, "english"), _are_texts),
    "token_pattern": _one_of(None, *TOKEN_PATTERNS),
    "ngram_range": _is_n_gram_range,
    "analyzer": _one_of("word", "char", "char_wb"),
    "max_df": is_number,
    "min_df": is_number,
    "max_features": _COUNT_OR_NONE,
    "vocabulary": _either(_is_none, is_vocabulary),
    "binary": _is_bool,
    "dtype": _is_numeric_type,
    "n_features": lambda value: is_count(value) and value <= _MOST_COLUMNS,
    "alternate_sign": _is_bool,
}
_TFIDF: dict[str, Rule] = {"norm": _NORM, "use_idf": _is_bool, "smooth_idf": _is_bool, "sublinear_tf": _is_bool}
_DECOMPOSITION: dict[str, Rule] = {
    "n_components": _either(_NUMBER_OR_NONE, _one_of("mle")),
    "copy": _is_bool,
    "whiten": _is_bool,
    "svd_solver": _one_of("auto", "full", "covariance_eigh", "arpack", "randomized"),
    "algorithm": _one_of("arpack", "randomized"),
    "tol": is_number,
    "iterated_power": _either(is_count, _one_of("auto")),
    "n_iter": is_count,
    "n_oversamples": is_count,
    "power_iteration_normalizer": _one_of("auto", "QR", "LU", "none"),
    "random_state": _is_random_state,
}
_SCALING: dict[str, Rule] = {
    "copy": _is_bool,
    "clip": _is_bool,
    "norm": _NORM,
    "with_mean": _is_bool,
    "with_std": _is_bool,
    "with_centering": _is_bool,
    "with_scaling": _is_bool,
    "unit_variance": _is_bool,
    "feature_range": _is_pair_of(is_number),
    "quantile_range": _is_pair_of(is_number),
}
_CATEGORIES: dict[str, Rule] = {
    "categories": _either(_one_of("auto"), _are_categories),
    "drop": _either(_one_of(None, "first", "if_binary"), lambda value: _are_categories([value])),
    "sparse_output": _is_bool,
    "dtype": _is_numeric_type,
    "handle_unknown": _one_of("error", "ignore", "infrequent_if_exist", "warn", "use_encoded_value"),
    "unknown_value": _is_plain,
    "encoded_missing_value": _is_plain,
    "min_frequency": _NUMBER_OR_NONE,
    "max_categories": _COUNT_OR_NONE,
    "feature_name_combiner": _one_of("concat"),
}
RULES: dict[str, dict[str, Rule]] = {
    "CountVectorizer": _TEXT,
    "HashingVectorizer": {**_TEXT, "norm": _NORM},
    "TfidfVectorizer": {**_TEXT, **_TFIDF},
    "TfidfTransformer": _TFIDF,
    "PCA": _DECOMPOSITION,
    "TruncatedSVD": _DECOMPOSITION,
    "SimpleImputer": {
        "missing_values": _is_plain,
        "strategy": _one_of("mean", "median", "most_frequent", "constant"),
        "fill_value": _is_plain,
        "copy": _is_bool,
        "add_indicator": _one_of(False),
        "keep_empty_features": _is_bool,
    },
    "QuantileTransformer": {
        "n_quantiles": is_count,
        "output_distribution": _one_of("uniform", "normal"),
        "ignore_implicit_zeros": _is_bool,
        "subsample": _COUNT_OR_NONE,
        "random_state": _is_random_state,
        "copy": _is_bool,
    },
    "OneHotEncoder": _CATEGORIES,
    "OrdinalEncoder": _CATEGORIES,
    **dict.fromkeys(("MaxAbsScaler", "MinMaxScaler", "Normalizer", "RobustScaler", "StandardScaler"), _SCALING),
}


def check_transformer_parameters(kind: type, parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError that names a parameter of a transformer of scikit-learn with a value that is not listed."""
    rules = RULES.get(kind.__name__)
    if rules is None or not kind.__module__.startswith("sklearn."):
        return
    defaults = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    for name, value in parameters.items():
        if _is_same(value, defaults.get(name, inspect.Parameter.empty)) or (name in rules and rules[name](value)):
            continue
        hint = f"; it may be one of {', '.join(map(repr, TOKEN_PATTERNS))}" if name == "token_pattern" else ""
        raise ValueError(f"a {kind.__name__} of a model file cannot have {name}={value!r:.80}{hint}")


def _is_same(value: Any, default: Any) -> bool:
    if type(value) is not type(default):
        return False
    return bool(value == default) or (isinstance(value, float) and math.isnan(value) and math.isnan(default))
