"""Values to a tree of JSON and a list of arrays, and back.

Plain values are themselves; everything else is a JSON object with one key, its tag: ``{"tuple": [...]}``. An array or
object that is met again is stored once, so that what was shared is shared after loading too; so is an array with the
same content as another, and of a symmetric matrix the upper half, or nothing if it is the product of landmarks that
are stored with each other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator

from ..features.products import landmark_gram
from ..model.model import OfProcess, OfRows, names_declared, values_of_rows
from .former_models import FORMER, upgrade_fitted, upgrade_judgement
from .former_names import translate_parameters, translate_setting
from .model_arrays import KINDS, check_dtype, parse_dtype
from .model_classes import LAST_STEPS, TABLE, class_named, storable_name
from .model_parameters import check_transformer_parameters

_MOST_LANDMARKS = 2000  # whose products are computed again: a file that asks for more could take any memory
_MANY = 32  # items of one type from which a list becomes an array
_SPARSE = {kind.__name__: kind for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class TreeWriter:
    """Turns values into a tree; the arrays it refers to are gathered in `arrays`.

    Parameters
    ----------
    rows : bool
        Whether to keep what estimators know of the single rows of their fit.
    """

    def __init__(self, rows: bool = False) -> None:
        self.arrays: list[npt.NDArray[Any]] = []
        self.classes: dict[str, int] = {}  # those that were stored, and their versions
        self._rows = rows
        self._places: dict[Any, int] = {}  # of arrays, by content
        self._numbers: dict[int, int] = {}  # of objects, by identity
        self._alive: list[Any] = []  # identities are those of living objects only

    def write(self, value: Any, where: str) -> Any:
        """Return the tree of a value; `where` it is, for an error that names what cannot be stored."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            check_dtype(value.dtype)
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        if type(value) is list:
            return self._list(value, where)
        if type(value) is tuple:
            return {"tuple": self._list(list(value), where)}
        if isinstance(value, set | frozenset):
            return {type(value).__name__: self._list(sorted(value, key=repr), where)}
        if isinstance(value, Mapping) and not isinstance(value, BaseEstimator):
            keys = self._list(list(value), f"the keys of {where}")
            return {"dict": [keys, self._items(list(value.values()), [f"{where}[{key!r}]" for key in value])]}
        if isinstance(value, slice | range):
            parts = [value.start, value.stop, value.step]
            return {type(value).__name__: [self.write(part, where) for part in parts]}
        if isinstance(value, np.dtype):
            check_dtype(value)
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic) and np.dtype(value).kind in KINDS:
            return {"type": np.dtype(value).str}
        if sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.write(value.get_state(legacy=True), where)}
        if storable_name(type(value)) is not None:
            return self._object(value, where)
        if hasattr(value, "__array__") and not isinstance(value, type):  # an array, a pandas Index …
            return self._array(np.asarray(value), where)
        raise TypeError(
            f"{where} is a {type(value).__module__}.{type(value).__qualname__}, which a model file cannot hold. Fit "
            "with plain values (numbers, text, lists, dicts, arrays) and transformers that docs/models.md lists, or "
            "keep the model with pickle or joblib."
        )

    def _items(self, values: Sequence[Any], places: Sequence[str]) -> Any:
        packed = self._packed(values)
        return [self.write(*item) for item in zip(values, places, strict=True)] if packed is None else packed

    def _list(self, values: list[Any], where: str) -> Any:
        packed = self._packed(values)
        return [self.write(value, f"{where}[{i}]") for i, value in enumerate(values)] if packed is None else packed

    def _packed(self, values: Sequence[Any]) -> Any:
        """Return a long list of one type as an array; None if it is not."""
        kinds = set(map(type, values)) if len(values) >= _MANY else set()
        if len(kinds) != 1:
            return None
        kind = kinds.pop()
        if kind is str:
            parts = [value.encode("utf-8", "surrogatepass") for value in values]
            joined = np.frombuffer(b"".join(parts), np.uint8)
            return {"texts": [self._place(joined), self._place(np.array([len(part) for part in parts], np.int64))]}
        if kind is int and all(-(2**63) <= value < 2**63 for value in values):
            return {"numbers": self._place(np.array(values, np.int64))}
        if kind is float:
            return {"numbers": self._place(np.array(values, np.float64))}
        if (
            issubclass(kind, np.generic)
            and len({value.dtype for value in values}) == 1
            and values[0].dtype.kind in KINDS
        ):
            return {"scalars": self._place(np.array(values, values[0].dtype))}
        return None

    def _place(self, array: npt.NDArray[Any]) -> int:
        """Return the place of an array among those stored; one with the same content is stored once."""
        content = array.dtype.str, array.shape, array.flags.f_contiguous, hashlib.sha256(array.tobytes("A")).digest()
        if content not in self._places:
            self._places[content] = len(self.arrays)
            self.arrays.append(array)
        return self._places[content]

    def _array(self, array: npt.NDArray[Any], where: str) -> Any:
        if array.dtype.kind == "O":
            return {"objects": [list(array.shape), self._list(array.ravel().tolist(), where)]}
        if array.dtype.kind not in KINDS:
            raise TypeError(f"{where} is an array of {array.dtype!r}, which a model file cannot hold.")
        if _is_symmetric(array):
            landmarks = self._landmarks_of(array)
            if landmarks is not None:
                return {"product": landmarks}
            return {"symmetric": self._place(array[np.triu_indices(len(array))])}
        return {"array": self._place(array)}

    def _landmarks_of(self, gram: npt.NDArray[Any]) -> int | None:
        """Return the place of the landmarks whose products with each other these are, to the last bit."""
        if gram.dtype != np.float64 or len(gram) > _MOST_LANDMARKS:
            return None
        for place, array in enumerate(self.arrays):
            if array.dtype.kind != "f" or array.ndim != 2 or len(array) != len(gram):
                continue
            first = array[0].astype(np.float64)
            if np.isclose(first @ first, gram[0, 0]) and np.array_equal(landmark_gram(array), gram):
                return place
        return None

    def _sparse(self, value: Any, where: str) -> Any:
        kind = type(value).__name__
        if kind not in _SPARSE:
            raise TypeError(f"{where} is a {kind}, which a model file cannot hold; use csr_array or csc_array.")
        parts = [self._place(part) for part in (value.data, value.indices, value.indptr)]
        self._alive.append(value)
        return {"sparse": [kind, list(value.shape), *parts]}

    def _object(self, value: Any, where: str) -> Any:
        if isinstance(value, Enum):
            self.classes[type(value).__name__] = TABLE[type(value).__name__].version
            return {"enum": [storable_name(type(value)), value.name]}
        if id(value) in self._numbers:
            return {"again": self._numbers[id(value)]}
        name = storable_name(type(value))
        assert name is not None
        self.classes[name] = TABLE[name].version
        body = self._estimator(value, name, where) if isinstance(value, BaseEstimator) else self._fields(value, where)
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return {"object": [name, body]}

    def _fields(self, value: Any, where: str) -> dict[str, Any]:
        """Return what a dataclass is made of; fields that are no part of that are computed again."""
        assert is_dataclass(value)
        stored = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        stored = _without_times(stored, TABLE[type(value).__name__].times)
        return {name: self.write(item, f"{where}.{name}") for name, item in stored.items()}

    def _estimator(self, value: Any, name: str, where: str) -> dict[str, Any]:
        about = TABLE[name]
        given, state = value.get_params(deep=False), vars(value)
        # None says that there is nothing of this machine, whatever the default is.
        parameters = {key: item for key, item in given.items() if key not in about.without or item is None}
        try:
            check_transformer_parameters(type(value), parameters)
        except ValueError as error:
            raise TypeError(f"{where}: {error}. Keep the model with pickle or joblib instead.") from None
        of_rows = (values_of_rows(value) if self._rows else None) or {}
        of_process = set(names_declared(type(value), OfProcess)) - set(about.rows)
        fitted = {
            key: item
            for key, item in {**state, **of_rows}.items()
            if key not in {*about.without, *of_process, *given, "_rows"} and "callback" not in key
        }
        fitted = _without_times(fitted, about.times)
        left_out = () if self._rows else (*names_declared(type(value), OfRows), *about.rows)
        return {
            "parameters": {key: self.write(item, f"{where}.{key}") for key, item in sorted(parameters.items())},
            "fitted": {
                key: self.write(item, f"{where}.{key}") for key, item in sorted(fitted.items()) if key not in left_out
            },
        }


def _without_times(values: dict[str, Any], times: Sequence[str]) -> dict[str, Any]:
    """Return values in which those that are times, or dicts of them, are unknown."""
    changed = dict(values)
    for name in times:
        outer, _, inner = name.partition(".")
        value = changed.get(outer)
        if inner and isinstance(value, dict) and inner in value:
            changed[outer] = {**value, inner: np.full_like(value[inner], math.nan)}
        elif not inner and value is not None:
            changed[outer] = {} if isinstance(value, dict) else math.nan
    return changed


class TreeReader:
    """Turns a tree back into values, made of classes of the table only. What makes no sense is a ValueError.

    Parameters
    ----------
    arrays : sequence of ndarray
        What the tree refers to.
    is_former : bool
        Whether it was written before models were values (`former_models`).
    """

    def __init__(self, arrays: Sequence[npt.NDArray[Any]], *, is_former: bool = False) -> None:
        self._arrays, self._is_former = arrays, is_former
        self._whole: dict[int, npt.NDArray[Any]] = {}  # symmetric matrices that were read
        self._products: dict[int, npt.NDArray[Any]] = {}  # and those that were computed
        self._listed: dict[Any, list[str]] = {}  # texts that were read
        self._objects: list[Any] = []
        self._readers: dict[str, Callable[[Any], Any]] = {
            "float": lambda body: _NOT_FINITE[body],
            "scalar": self._scalar,
            "tuple": lambda body: tuple(self.read(body)),
            "set": lambda body: set(self.read(body)),
            "frozenset": lambda body: frozenset(self.read(body)),
            "dict": lambda body: dict(zip(*map(self.read, body), strict=True)),
            "slice": lambda body: slice(*map(self.read, body)),
            "range": lambda body: range(*map(self.read, body)),
            "dtype": parse_dtype,
            "type": lambda body: parse_dtype(body).type,
            "sparse": self._sparse,
            "random_state": self._random_state,
            "array": self._array,
            "symmetric": self._symmetric,
            "product": self._product,
            "objects": self._object_array,
            "texts": self._texts,
            "numbers": lambda body: self._array(body).tolist(),
            "scalars": lambda body: list(self._array(body)),
            "enum": self._enum,
            "again": self._again,
            "object": self._object,
        }

    def read(self, tree: Any) -> Any:
        """Return the value of a tree."""
        if tree is None or isinstance(tree, bool | int | float | str):
            return tree
        if isinstance(tree, list):
            return [self.read(item) for item in tree]
        ((tag, body),) = tree.items()
        return self._readers[tag](body)

    def _array(self, place: Any) -> npt.NDArray[Any]:
        return self._arrays[_index(place, len(self._arrays))]

    def _symmetric(self, place: Any) -> npt.NDArray[Any]:
        if place not in self._whole:
            half = self._array(place)
            size = (math.isqrt(8 * half.size + 1) - 1) // 2
            if half.ndim != 1 or size * (size + 1) // 2 != half.size:
                raise ValueError("a symmetric matrix is not stored as its upper half")
            whole = np.empty((size, size), dtype=half.dtype)
            upper = np.triu_indices(size)
            whole[upper] = whole.T[upper] = half
            self._whole[place] = whole
        return self._whole[place]

    def _product(self, place: Any) -> npt.NDArray[Any]:
        if place not in self._products:
            landmarks = self._array(place)
            if landmarks.dtype.kind != "f" or landmarks.ndim != 2 or len(landmarks) > _MOST_LANDMARKS:
                raise ValueError("products are not those of landmarks")
            self._products[place] = landmark_gram(landmarks)
        return self._products[place]

    def _scalar(self, body: Any) -> Any:
        dtype, data = parse_dtype(body[0]), bytes.fromhex(body[1])
        return np.frombuffer(data, dtype, 1)[0] if data else dtype.type()

    def _texts(self, body: Any) -> list[str]:
        key = tuple(body)
        if key not in self._listed:
            self._listed[key] = self._read_texts(*map(self._array, key))
        return list(self._listed[key])  # lists of the same texts: comparing them takes less if these are the same too

    def _read_texts(self, joined: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> list[str]:
        if joined.dtype != np.uint8 or joined.ndim != 1 or lengths.dtype != np.int64 or lengths.ndim != 1:
            raise ValueError("texts are not stored as bytes and lengths")
        if (lengths < 0).any() or (lengths > len(joined)).any() or lengths.sum() != len(joined):
            raise ValueError("texts are longer than what is stored of them")
        data, ends = joined.tobytes(), np.cumsum(lengths).tolist()
        starts = [0, *ends[:-1]]
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]

    def _object_array(self, body: Any) -> npt.NDArray[Any]:
        shape, items = tuple(body[0]), self.read(body[1])
        result = np.empty(len(items), dtype=object)
        result[:] = items
        return result.reshape(shape)

    def _sparse(self, body: Any) -> Any:
        kind, shape, *parts = body
        result = _SPARSE[kind](tuple(self._array(part) for part in parts), shape=tuple(shape))
        result.check_format(full_check=True)  # indices outside the matrix would be read, or written, by compiled code
        return result

    def _random_state(self, body: Any) -> np.random.RandomState:
        result = np.random.RandomState(0)
        result.set_state(self.read(body))
        return result

    def _enum(self, body: Any) -> Any:
        kind = class_named(body[0])
        if not issubclass(kind, Enum):
            raise ValueError(f"{body[0]} is no enumeration")
        return kind[body[1]]

    def _again(self, number: Any) -> Any:
        return self._objects[_index(number, len(self._objects))]

    def _object(self, body: Any) -> Any:
        kind = FORMER[body[0]] if self._is_former and body[0] in FORMER else class_named(body[0])
        made = self._estimator(kind, body[1]) if issubclass(kind, BaseEstimator) else self._dataclass(kind, body[1])
        self._objects.append(made)
        return made

    def _dataclass(self, kind: type, body: dict[str, Any]) -> Any:
        if not is_dataclass(kind):
            raise ValueError(f"{kind.__name__} is stored in another way")
        if self._is_former and kind.__name__ == "Judgement":
            body = upgrade_judgement(body)
        known = {field.name for field in fields(kind) if field.init}
        if not body.keys() <= known:
            raise ValueError(f"{kind.__name__} has no {sorted(body.keys() - known)}")
        values = {name: self.read(item) for name, item in body.items()}
        if self._is_former and kind.__name__ == "Setting":
            values = translate_setting(values)
        return kind(**values)

    def _estimator(self, kind: type, body: dict[str, Any]) -> Any:
        about = TABLE[kind.__name__]
        parameters = {name: self.read(item) for name, item in body["parameters"].items()}
        refused = [name for name in about.without if parameters.get(name) is not None]
        if refused:
            raise ValueError(f"{kind.__name__} is stored without {sorted(refused)}")
        check_transformer_parameters(kind, parameters)
        made = kind(**translate_parameters(kind.__name__, parameters))
        fitted: dict[str, Any] = {}
        for name, item in body["fitted"].items():
            if not name.isidentifier() or name.startswith("__") or not (name[0] == "_" or name[-1] == "_"):
                raise ValueError(f"{name!r:.80} is no fitted attribute of {kind.__name__}")
            if callable(getattr(kind, name, None)):
                raise ValueError(f"{name!r:.80} is a method of {kind.__name__}, and no fitted attribute")
            fitted[name] = self.read(item)
        if self._is_former and kind.__name__ in LAST_STEPS:
            fitted = upgrade_fitted(fitted)
        of_rows = {name: fitted.pop(name) for name in names_declared(kind, OfRows) if name in fitted}
        vars(made).update(fitted)
        if of_rows:
            made._rows = of_rows
        return made


def _is_symmetric(array: npt.NDArray[Any]) -> bool:
    """Tell whether half of a matrix says it all: products of landmarks with each other are such."""
    if array.dtype.kind != "f" or array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < _MANY:
        return False
    return bool(array.flags.c_contiguous and (array == array.T).all())


def _index(place: Any, count: int) -> int:
    if type(place) is not int or not 0 <= place < count:
        raise ValueError(f"there is no part number {place!r:.20}")
    return place
