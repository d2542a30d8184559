"""Which rows to label next: the middle of the groups of rows in which most mistakes are expected.

Rows are grouped by their codes, which know nothing of the labels, into as many groups as there will be labels: that
spreads the suggestions over the data. A group's expected number of mistakes, Σ (1 − confidence), measures how much a
label there can help: it is large where the model is in doubt about many rows, not where a single row is odd. The row
nearest to the group's centre represents it best. Without labels all rows are in doubt alike: large groups come first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Matrix, Rows, squared_norms, unit_rows, unit_sparse_rows
from ..engine.blocks import one_blas_thread
from ..features.landmarks import kmeans_labels
from ..solver.codes import Codes, code_gram

_N_DIRECTIONS = 50  # of the codes
_MAX_ROWS = 10_000  # rows that are grouped; with more, a random sample
_MAX_GROUPS = 1000
_ROUNDS = 10  # of k-means
_MAX_TOGETHER = 256  # first rows of groups that are drawn together


def suggest_rows(
    coordinates: Matrix,
    doubt: Matrix,
    candidates: Mask,
    n: int,
    n_labelled: int = 0,
    random_state: int = 0,
) -> Rows:
    """Return the rows to label next, the most useful first.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, p)
        Where rows that are alike lie together; see `code_coordinates`.
    doubt : ndarray of shape (n_rows,)
        Probability that the label found for a row is wrong; 0 for rows that do not matter.
    candidates : ndarray of bool of shape (n_rows,)
        Rows that may be suggested, at least `n`.
    n : int
        Number of rows.
    n_labelled : int
        Number of rows that have a label.
    random_state : int
        Where the grouping starts.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> places = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0]])
    >>> suggest_rows(places, np.array([0.1, 0.1, 0.1, 0.6, 0.6, 0.6, 0.9]), np.full(7, True), 2, n_labelled=1)
    array([4, 6])
    """
    coordinates = coordinates.astype(np.float32)  # as a run keeps them, for the same answer later
    rng = np.random.RandomState(random_state)
    rows = np.arange(len(doubt))
    if len(rows) > max(_MAX_ROWS, 2 * n):
        chosen = rng.choice(len(rows), max(_MAX_ROWS, 2 * n), replace=False)
        rows = np.union1d(chosen, rng.permutation(np.flatnonzero(candidates))[:n])  # enough to choose from
    n_groups = min(n_labelled + n, max(n, _MAX_GROUPS), len(rows))
    groups, distances = _group(coordinates[rows], n_groups, rng)
    is_candidate = candidates[rows]
    expected_mistakes = np.bincount(groups, weights=doubt[rows], minlength=n_groups)
    # The first row of each group, groups in order; then the second of each, should there be too few groups.
    order = np.lexsort((distances, groups))
    order = order[is_candidate[order]]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    best = np.lexsort((-expected_mistakes[groups[order]], place))[:n]
    result: Rows = rows[order[best]]
    return result


def _group(rows: Matrix, n_groups: int, rng: np.random.RandomState) -> tuple[Rows, Matrix]:
    """Return the group of each row and its distance from the group's centre."""
    with one_blas_thread():  # several round otherwise
        groups = kmeans_labels(rows, n_groups, rng, max_iter=_ROUNDS, first=_spread_out(rows, n_groups, rng))
    sums = sparse.csr_array((np.ones(len(rows)), (groups, np.arange(len(rows)))), shape=(n_groups, len(rows))) @ rows
    centres = sums / np.bincount(groups, minlength=n_groups)[:, None]
    distances: Matrix = np.linalg.norm(rows - centres[groups], axis=1)
    return groups, distances


def _spread_out(rows: Matrix, n: int, rng: np.random.RandomState) -> Rows:
    """Draw different rows that are far from each other, as k-means++ does, but several of many at a time.

    The chance of a row is its squared distance from the nearest of those drawn before. To draw a quarter as many as
    there are already takes one product, where k-means++ takes as many passes over the rows as it draws.
    """
    squares = squared_norms(rows)
    chosen = new = np.array([rng.randint(len(rows))])
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < n:
        squared = squares[:, None] + squares[new] - 2 * (rows @ rows[new].T)
        nearest = np.minimum(nearest, np.maximum(squared.min(axis=1), 0.0))
        nearest[chosen] = 0.0
        reached = np.cumsum(nearest)
        if reached[-1] <= 0:  # all others are the same as one of those drawn
            others = np.setdiff1d(np.arange(len(rows)), chosen)
            return np.concatenate([chosen, rng.permutation(others)[: n - len(chosen)]])
        count = min(n - len(chosen), max(1, len(chosen) // 4), _MAX_TOGETHER)
        new = np.unique(np.searchsorted(reached, rng.random_sample(count) * reached[-1], side="right"))
        chosen = np.concatenate([chosen, new])
    return chosen


def code_coordinates(codes: Codes) -> Matrix:
    """Return unit rows in the leading directions of the codes' unit rows: alike where rows use the same landmarks.

    Examples
    --------
    >>> from scipy import sparse
    >>> places = code_coordinates(sparse.csr_array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    >>> (places @ places.T).round(6)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    unit = unit_sparse_rows(codes[:].astype(np.float64))  # codes in a store are read
    with one_blas_thread():  # several round otherwise, and take seconds for so small a matrix on a busy machine
        directions = np.linalg.eigh(code_gram(unit))[1][:, -_N_DIRECTIONS:]
    return unit_rows(unit @ directions)


def check_request(n: Any, candidates: Mask) -> None:
    """Raise an error unless `n` rows can be suggested."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be an integer of at least 1, the number of rows to suggest; got {n!r}.")
    available = int(np.count_nonzero(candidates))
    if n > available:
        raise ValueError(f"n={n} rows were asked for, but only {available} rows can be labelled; ask for fewer.")


def restrict(candidates: Mask, among: Any, ids: npt.NDArray[Any] | None) -> Mask:
    """Leave only the rows listed in `among`: numbers of rows, or ids if the rows have ids.

    Examples
    --------
    >>> import numpy as np
    >>> restrict(np.array([True, True, False]), ["b", "c"], np.array(["a", "b", "c"]))
    array([False,  True, False])
    """
    if among is None:
        return candidates
    listed = np.asarray(among)
    names = np.arange(len(candidates)) if ids is None else ids
    unknown = [] if listed.dtype == bool else listed[~np.isin(listed, names)].tolist()
    if listed.ndim != 1 or listed.dtype == bool or unknown:
        what = "numbers of rows" if ids is None else "ids of rows"
        raise ValueError(f"among must list {what} of the fit; got {unknown[:5] or repr(among)[:60]}.")
    result: Mask = candidates & np.isin(names, listed)
    return result
