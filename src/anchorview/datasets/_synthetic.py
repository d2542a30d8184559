"""Synthetic views of any size: a union of affine subspaces that all views share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from ..core.checks import Seed, check_number, is_plain_number, is_sequence, shorten
from ._bunch import make_bunch

_BLOCK_ROWS = 4096


def make_multiview_subspaces(
    n_samples: int = 1000,
    n_clusters: int = 5,
    view_dims: Sequence[int] = (50, 30, 20),
    *,
    subspace_dim: int = 4,
    noise: float = 0.1,
    view_noise: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    nonnegative: bool = False,
    dtype: Literal["float32", "float64"] = "float32",
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Generate clusters that lie on low-dimensional affine subspaces, seen in several views.

    A sample of cluster j has coordinates u, drawn once and shared by all views. In view v it is the point
    ``offset + u @ basis`` of the subspace that cluster j has in that view, plus noise. Offsets and noise-free
    deviations have about unit variance in each feature, so `noise` is relative to the signal.

    The rows are made in blocks, so memory is little more than what the result takes. With the same seed,
    a larger `n_samples` only appends rows, and another noise level leaves the signal as it is.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least `n_clusters`.
    n_clusters : int, default=5
        Number of clusters; each has at least one row.
    view_dims : sequence of int, default=(50, 30, 20)
        Number of features of each view.
    subspace_dim : int, default=4
        Dimension of each subspace.
    noise : float, default=0.1
        Standard deviation of the noise.
    view_noise : sequence of float, optional
        Standard deviation of the noise of each view, in place of `noise`.
    weights : sequence of float, optional
        Relative sizes of the clusters; equal if not given.
    nonnegative : bool, default=False
        Whether to make offsets, bases and coordinates non-negative, and clip noisy values at 0.
    dtype : {"float32", "float64"}, default="float32"
        Type of the views. The two types draw different numbers.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; None draws new data at each call.

    Returns
    -------
    sklearn.utils.Bunch
        data : list of ndarrays of shape (n_samples, view_dims[v])
            The views.
        views : Views
            The same views as one object that can be sliced by rows.
        target : ndarray of shape (n_samples,)
            The clusters, from 0.
        view_names : list of str
            "view0", "view1", …
        target_names : list of str
            "0", "1", …
        DESCR : str
            How the data were made.

    Examples
    --------
    >>> from anchorview.datasets import make_multiview_subspaces
    >>> made = make_multiview_subspaces(100, 3, (8, 5), random_state=0)
    >>> [view.shape for view in made.data]
    [(100, 8), (100, 5)]
    >>> sorted(set(made.target.tolist()))
    [0, 1, 2]
    """
    for name, value in (("n_samples", n_samples), ("n_clusters", n_clusters), ("subspace_dim", subspace_dim)):
        check_number(name, value, 1, integer=True)
    Seed().check("random_state", random_state)
    if not is_sequence(view_dims) or len(view_dims) == 0:
        raise ValueError(f"view_dims must be a sequence with the features of each view; got {shorten(view_dims)}.")
    for dim in view_dims:
        check_number("each of view_dims", dim, 1, integer=True)
    if n_samples < n_clusters:
        raise ValueError(
            f"n_samples is {n_samples} and n_clusters is {n_clusters}; "
            "there must be at least one cluster, and one row for each."
        )
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be 'float32' or 'float64', not {dtype!r}.")
    noises = [noise] * len(view_dims) if view_noise is None else list(view_noise)
    if len(noises) != len(view_dims):
        raise ValueError(f"view_noise has {len(noises)} numbers but there are {len(view_dims)} views.")
    if not all(is_plain_number(level) and np.isfinite(float(level)) and level >= 0 for level in noises):
        raise ValueError(f"noise levels must be finite and not negative, not {noises}.")
    shares = _shares(weights, n_clusters)

    # One stream for each thing that is drawn: rows follow each other in it whatever the blocks are.
    seeds = np.random.default_rng(random_state).integers(2**63, size=2 + len(view_dims)).tolist()
    target = _draw_clusters(n_samples, shares, np.random.default_rng(seeds[0]))
    streams = [np.random.default_rng(seed) for seed in seeds[2:]]
    subspaces = [
        _Subspaces(n_clusters, subspace_dim, dim, level, nonnegative, np.dtype(dtype), rng)
        for dim, level, rng in zip(view_dims, noises, streams, strict=True)
    ]
    coordinate_rng = np.random.default_rng(seeds[1])
    data = [np.empty((n_samples, dim), dtype=dtype) for dim in view_dims]
    for start in range(0, n_samples, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        clusters = target[rows]
        coordinates = coordinate_rng.standard_normal((len(clusters), subspace_dim), dtype=np.dtype(dtype))
        if nonnegative:
            np.abs(coordinates, out=coordinates)
        for view, space in zip(data, subspaces, strict=True):
            space.fill(view[rows], clusters, coordinates)

    descr = (
        f"Union of {n_clusters} affine subspaces of dimension {subspace_dim} in {len(view_dims)} views with "
        f"noise {noises}, made by anchorview.datasets.make_multiview_subspaces."
    )
    names = [f"view{number}" for number in range(len(view_dims))]
    return make_bunch(data, target, names, [str(cluster) for cluster in range(n_clusters)], descr)


def _shares(weights: Sequence[float] | None, n_clusters: int) -> npt.NDArray[np.float64]:
    if weights is None:
        return np.full(n_clusters, 1.0 / n_clusters)
    shares = np.array(weights, dtype=np.float64)
    if shares.shape != (n_clusters,):
        raise ValueError(f"weights has shape {shares.shape} but there are {n_clusters} clusters.")
    if not (np.isfinite(shares).all() and (shares > 0).all()):
        raise ValueError("weights must be finite and positive.")
    shares /= shares.sum()
    return shares


def _draw_clusters(n_samples: int, shares: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw clusters independently, except that the first rows show each cluster once."""
    first = rng.permutation(len(shares))
    edges = np.cumsum(shares)[:-1]
    rest = np.searchsorted(edges, rng.random(n_samples - len(shares)), side="right")
    return np.concatenate([first, rest]).astype(np.int64)


class _Subspaces:
    """The subspaces of all clusters in one view, and the noise of that view."""

    def __init__(
        self,
        n_clusters: int,
        subspace_dim: int,
        n_features: int,
        noise: float,
        nonnegative: bool,
        dtype: np.dtype[np.floating],
        rng: np.random.Generator,
    ) -> None:
        self.offset = rng.standard_normal((n_clusters, n_features)).astype(dtype)
        basis = rng.standard_normal((subspace_dim, n_clusters, n_features)) / np.sqrt(subspace_dim)
        self.basis = basis.astype(dtype)
        if nonnegative:
            self.offset, self.basis = np.abs(self.offset), np.abs(self.basis)
        self.noise, self.nonnegative, self.rng = noise, nonnegative, rng

    def fill(
        self,
        out: npt.NDArray[np.floating],
        clusters: npt.NDArray[np.int64],
        coordinates: npt.NDArray[np.floating],
    ) -> None:
        """Write the rows of one block.

        Sums of elementwise products, not matrix products, so that no rounding depends on the block.
        """
        out[:] = self.offset[clusters]
        for coordinate, direction in zip(coordinates.T, self.basis, strict=True):
            out += coordinate[:, np.newaxis] * direction[clusters]
        if self.noise > 0:
            error = self.rng.standard_normal(out.shape, dtype=out.dtype)
            error *= self.noise
            out += error
        if self.nonnegative:
            np.maximum(out, 0, out=out)
