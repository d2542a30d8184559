"""Questions that every check of a loaded model asks of its values."""

from __future__ import annotations

from typing import Any

import numpy as np

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def require(condition: bool, what: str) -> None:
    """Raise the error for a part that does not fit."""
    if not condition:
        raise ValueError(f"{what} does not fit the rest of the model")


def check_floats(array: Any, shape: tuple[int | None, ...], what: str) -> None:
    """Require finite floating-point numbers of this shape; None stands for any size but 0."""
    require(isinstance(array, np.ndarray) and array.dtype in FLOATS and array.ndim == len(shape), what)
    sizes = zip(array.shape, shape, strict=True)
    require(all(size == wanted if wanted is not None else size > 0 for size, wanted in sizes), what)
    require(bool(np.isfinite(array).all()), what)


def is_float(dtype: Any) -> bool:
    """Whether this is the dtype of floating-point numbers; to NumPy, None is float64."""
    return isinstance(dtype, np.dtype) and dtype in FLOATS


def is_count(value: Any) -> bool:
    """Whether this is a positive integer."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value > 0)


def is_number(value: Any) -> bool:
    """Whether this is a finite number."""
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))
