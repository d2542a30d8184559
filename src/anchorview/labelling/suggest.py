"""Which rows to label next: the middle of the groups of rows in which most mistakes are expected.

Rows are grouped by their codes, which know nothing of the labels, into as many groups as there will be labels: that
spreads the suggestions over the data. A group's expected number of mistakes, Σ (1 − confidence), measures how much a
label there can help: it is large where the model is in doubt about many rows, not where a single row is odd. The row
nearest to the group's centre represents it best. Without labels all rows are in doubt alike: large groups come first.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import Mask, Matrix, Rows, unit_rows, unit_sparse_rows
from ..engine.blocks import one_blas_thread
from ..solver.codes import Codes, code_gram

_N_DIRECTIONS = 50  # of the codes
_MAX_ROWS = 10_000  # rows that are grouped; with more, a random sample
_MAX_GROUPS = 1000
_ROUNDS = 10  # of k-means


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
    coordinates = coordinates.astype(np.float32).astype(np.float64)  # as a run keeps them, for the same answer later
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
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with one_blas_thread(), threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        # the sums of several threads come in any order
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that are the same make fewer groups
        kmeans = KMeans(n_groups, n_init=1, max_iter=_ROUNDS, random_state=rng).fit(rows)
    distances: Matrix = np.linalg.norm(rows - kmeans.cluster_centers_[kmeans.labels_], axis=1)
    return kmeans.labels_.astype(np.intp), distances


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
