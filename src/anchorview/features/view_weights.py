"""How much each view counts: the weights of the views, as they are given and as the scaled rows carry them.

A view of weight w has its block of the scaled rows multiplied by √w, so that its part in every product of rows and
landmarks, and in every distance, is w times what it would be. Weights have the mean 1: the weights of the model, and
what depends on the length of rows, keep their meaning.

Before labels have a say, copies of a view share one weight, and supporting views wait for the labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Matrix, Presence, is_sparse, unit_sparse_rows
from ..data.views import Views

ViewWeights = tuple[float, ...] | None  # of each view, of mean 1; None if all count the same
ViewWeightsChoice = str | Sequence[float] | Mapping[str, float] | npt.NDArray[Any] | None
_SAME = 1e-9  # by which weights, or their mean, differ when they are the same but for rounding
_SOME_ROWS = 200  # which have 20,000 products with one another
_COPY = 0.99  # correlation of these products; a copy in half precision has 0.9999, views of the same rows up to 0.9
_WAITING = 1e-3  # of a supporting view, beside 1: a handful of them changes products of rows by less than a hundredth


def read_view_weights(names: Sequence[str], given: ViewWeightsChoice) -> ViewWeights:
    """Return the weights of the views that were given, of mean 1; None for None and "auto", and if all are the same.

    Views that a mapping does not name have the weight 1, beside those that it names.

    Examples
    --------
    >>> read_view_weights(["image", "text"], [3, 1])
    (1.5, 0.5)
    >>> read_view_weights(["image", "text"], {"text": 3}), read_view_weights(["image", "text"], [2, 2])
    ((0.5, 1.5), None)
    """
    if given is None or isinstance(given, str):
        return None
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise ValueError(f"view_weights names views that are not there: {unknown}; the views are {list(names)}.")
        weights = [given.get(name, 1.0) for name in names]
    else:
        weights = list(given)
        if len(weights) != len(names):
            raise ValueError(f"view_weights lists {len(weights)} weights for {len(names)} views.")
    return normalise(weights)


def normalise(weights: Sequence[float]) -> ViewWeights:
    """Return weights divided by their mean; None if all are the same. Those of mean 1 stay as they are, to the bit.

    Examples
    --------
    >>> normalise(normalise([0.3, 0.1, 0.1])) == normalise([0.3, 0.1, 0.1]), normalise([0.7])
    (True, None)
    """
    found = np.asarray(weights, dtype=np.float64)
    if found.max() - found.min() <= _SAME * found.max():
        return None
    mean = found.mean()
    return tuple((found if abs(mean - 1) <= _SAME else found / mean).tolist())


def describe_view_weights(names: Sequence[str], weights: ViewWeights) -> str:
    """Return the weights as text.

    Examples
    --------
    >>> describe_view_weights(["image", "text"], (1.5, 0.5)), describe_view_weights(["image", "text"], None)
    ('image: 1.5, text: 0.5', 'equal')
    """
    if weights is None:
        return "equal"
    return ", ".join(f"{name}: {weight:.3g}" for name, weight in zip(names, weights, strict=True))


def start_weights(views: Views, present: Presence = None) -> ViewWeights:
    """Return the weights to start from; None if all views count the same.

    Examples
    --------
    >>> views = Views({"network": np.eye(3), "colour": np.ones((3, 2))})
    >>> views.supporting = frozenset({"colour"})
    >>> np.round(start_weights(views), 3).tolist()
    [1.998, 0.002]
    """
    copies = weigh_copies(views, present)
    return normalise((_as_array(copies, views) * np.where(_is_waiting(views), _WAITING, 1.0)).tolist())


def all_joined(views: Views, weights: ViewWeights) -> ViewWeights:
    """Return the weights to start from with the supporting views as heavy as the others.

    Examples
    --------
    >>> views = Views({"network": np.eye(3), "colour": np.ones((3, 2))})
    >>> views.supporting = frozenset({"colour"})
    >>> all_joined(views, start_weights(views)) is None
    True
    """
    return normalise((_as_array(weights, views) / np.where(_is_waiting(views), _WAITING, 1.0)).tolist())


def _as_array(weights: ViewWeights, views: Views) -> Matrix:
    return np.ones(len(views.names)) if weights is None else np.array(weights)


def _is_waiting(views: Views) -> Mask:
    """Tell for each view whether it waits; none does without one that leads."""
    found: Mask = np.array([name in views.supporting for name in views.names])
    return found & (not found.all())


def weigh_copies(views: Views, present: Presence = None) -> ViewWeights:
    """Return weights with which the copies of a view count as much together as any other view; None without copies.

    Views of as many features are copies if the products of their rows with one another are the same but for a factor,
    on some rows: whatever the order and the scale of their columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> one, other = rng.normal(size=(2, 50, 4))
    >>> weigh_copies(Views([one, 2 * one[:, ::-1], other])), weigh_copies(Views([one, other]))
    ((0.75, 0.75, 1.5), None)
    """
    sizes, first_of = views.sizes, list(range(len(views.sizes)))
    alike = [number for number, size in enumerate(sizes) if sizes.count(size) > 1]
    if not alike:
        return None
    rows = np.unique(np.linspace(0, len(views) - 1, _SOME_ROWS).astype(np.intp))
    some = views.select([views.names[number] for number in alike])[rows]
    parts = dict(zip(alike, some.arrays, strict=True))
    for number in alike:
        for earlier in alike:
            if earlier >= number or sizes[earlier] != sizes[number] or first_of[earlier] != earlier:
                continue
            has_both = slice(None) if present is None else present[rows, number] & present[rows, earlier]
            if _are_copies(parts[earlier][has_both], parts[number][has_both]):
                first_of[number] = earlier
                break
    return normalise([1 / first_of.count(first) for first in first_of])


def _are_copies(one: Any, other: Any) -> bool:
    """Tell whether the products of some rows with one another are the same in both views, but for a factor."""
    text = is_sparse(one) or is_sparse(other)
    with np.errstate(over="ignore", invalid="ignore"):  # of values too large: reported by those who need them
        first, second = (_products(part, text) for part in (one, other))
        if len(first) != len(second):
            return False
        first, second = first - first.mean(), second - second.mean()
        length = float(np.linalg.norm(first) * np.linalg.norm(second))
        return length > 0 and float(first @ second) >= _COPY * length


def _products(rows: Any, text: bool) -> Matrix:
    """Return the products of rows with one another, but not with themselves.

    Columns are standardised, so that none makes up a product alone; those of text stay sparse, and rows get unit
    length.
    """
    if text:
        unit = unit_sparse_rows(sparse.csr_array(rows, dtype=np.float64))
        products = (unit @ unit.T).toarray()
    else:
        wide = np.asarray(rows, dtype=np.float64)
        wide = wide[np.isfinite(wide).all(axis=1)]  # others are reported by those who need the values
        if len(wide) < 2:
            return np.zeros(1)
        centred = wide - wide.mean(axis=0)
        deviations = centred.std(axis=0)
        scaled = centred / np.where(deviations > 0, deviations, 1.0)
        products = scaled @ scaled.T
    found: Matrix = products[np.triu_indices(len(products), 1)]
    return found
