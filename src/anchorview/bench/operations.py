"""Floating-point operations of a fit by stage, and of the compared methods as published, as the paper counts them.

An n×p by p×m product is 2npm whether or not a matrix is sparse, which is how the paper's program counts. The paper does
not print its counts step by step. Which products count, and the rounds of methods that stop by a criterion, were
settled with its totals in view (MVAR's dense n×n weights, AMGL's 15 rounds, CONMF's products, FSSMSC without k-means):
that they come near those totals is no independent check of either.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..cost.fit import NONZEROS_PER_ROW
from ..features.landmarks import MAX_ITER, PROJECTION, ROWS_PER_LANDMARK

_EIGEN_STEPS = 5  # eigen-decompositions of a trace-ratio step, cold start


def count_operations(
    n_rows: int,
    n_features: int,
    n_landmarks: int,
    n_components: int,
    n_labelled: int,
    *,
    solver: str = "active_set",
    n_iter: int | None = None,
    nonzeros: float = NONZEROS_PER_ROW,
) -> dict[str, float]:
    """Count the floating-point operations of a fit, by stage (a multiplication and an addition are two).

    Parameters
    ----------
    n_rows, n_features, n_landmarks, n_components, n_labelled : int
        n, d (all views), m, k and the number of labelled rows.
    solver : {"active_set", "admm", "paper"}
        "paper" counts Algorithm 1 as it is printed: dense pair matrices, every product of every update.
    n_iter : int, optional
        Rounds; by default 3 for "active_set" and 30 for the others.
    nonzeros : float
        Non-zeros of a code, for "active_set"; ``model.codes_.nnz / n`` after a fit.

    Returns
    -------
    dict of str to float
        Operations by stage, and their "total".

    Examples
    --------
    >>> ours = count_operations(9144, 3766, 500, 102, 457)
    >>> paper = count_operations(9144, 3766, 500, 102, 457, solver="paper")
    >>> ours["total"] < paper["total"] / 5
    True
    """
    n, d, m, k, n_l, s = n_rows, n_features, n_landmarks, n_components, n_labelled, nonzeros
    rounds = n_iter if n_iter is not None else (3 if solver == "active_set" else 30)
    sample = min(n, ROWS_PER_LANDMARK * m)
    if solver == "paper":
        landmarks = 2.0 * n * d * m * 100  # k-means on all rows, up to 100 iterations
    else:
        landmarks = 2.0 * sample * min(d, PROJECTION) * (d + m * MAX_ITER) + sample * d
    eigen = 4 / 3 * m**3 + 4.0 * m * m * k
    trace_ratio = rounds * (_EIGEN_STEPS if solver == "paper" else 2) * eigen
    if solver == "active_set":
        moves = s / 4  # of the row solver: about four indices enter per move
        codes = n * (moves * 2 * m * s / 2 + s**3 / 3 + 2 * moves * s**2)
        update = rounds * (n_l * (moves * m * s + 2 * m * k) + n * s * k * 2) + n * s * s
    else:
        codes = 2.0 * m * m * n  # first B
        # Z, q, B: AᵀAZ as two products of rank k, ZZᵀ, the least-squares solution, and a dozen sums of m×n.
        update = rounds * (4.0 * m * n * k + 4.0 * m * m * n + 12.0 * m * n)
        pairs = 2.0 * m * n_l * n_l * 2 if solver == "paper" else 4.0 * n_l * m
        update += rounds * (pairs + 2.0 * m * m * n_l * 2)
    stages = {
        "scaling": 5.0 * n * d,
        "landmarks": landmarks,
        "cross_products": 2.0 * n * d * m + 2.0 * m * m * d,
        "codes": codes,
        "rounds": update,
        "trace_ratio": trace_ratio,
        "labels": 2.0 * n * k * (m if solver != "active_set" else s) + 2.0 * n * n_l * k,
    }
    return stages | {"total": sum(stages.values())}


def published_operations(
    method: str, n: int, view_sizes: Sequence[int], k: int, n_labelled: int, n_landmarks: int = 500
) -> float:
    """Return the operations of one method, without the similarity graphs.

    Examples
    --------
    >>> nus = (30_000, (65, 226, 145, 74, 129), 31, 300)
    >>> 6e13 < published_operations("MVAR", *nus) < 7e13  # the paper: 6.76e13
    True
    """
    d, v = sum(view_sizes), len(view_sizes)
    u = n - n_labelled
    solve = 2 / 3 * u**3 + 2.0 * u * u * k + 2.0 * u * n_labelled * k  # L_uu F_u = −L_ul Y_l, dense
    if method == "MVAR":  # 29 rounds; XᵀB with a dense n×n B, for X and for F; normal equations
        return 29 * sum(4.0 * s * n * n + 2.0 * n * s * s + 2 / 3 * s**3 + 4.0 * n * s * k for s in view_sizes)
    if method == "AMGL":  # about 15 rounds: sum of Laplacians, solve, traces
        return 15 * (solve + 2.0 * v * n * n + 2.0 * v * n * n * k)
    if method == "MLAN":  # 30 rounds: weighted distances, solve; eigenvectors of an n×n Laplacian at the start
        return 30 * (solve + 4.0 * v * n * n + 2.0 * n * n * k) + 9.0 * n**3
    if method == "GPSNMF":  # 100 rounds, 100 factors, of which 60 % of a view's are shared
        own = round(100 / (0.6 / 0.4 + v))
        shared = 100 - own * v
        graphs = 4.0 * n * n * (own * v + shared) + 2.0 * n * n * (own + shared) * v  # V·S, V·D and Tr(V L Vᵀ)
        return 100 * (graphs + 8.0 * n * d * (own + shared))
    if method == "CONMF":  # 200 rounds: S·V and V·Vᵀ·V with n×n matrices, products with the views
        return 200 * (4.0 * n * n * k + 6.0 * n * d * k)
    if method == "FSSMSC":  # Algorithm 1 without k-means, which the paper does not seem to count
        counted = count_operations(n, d, n_landmarks, k, n_labelled, solver="paper")
        return counted["total"] - counted["landmarks"]
    raise ValueError(f"There is no count for {method!r}.")


def graph_operations(n: int, n_features: int) -> float:
    """Return the operations of all similarity matrices, dn² as the paper counts them."""
    return float(n_features) * n * n


COUNTED = ("MVAR", "MLAN", "AMGL", "GPSNMF", "CONMF", "FSSMSC")


def variables_bytes(n: int, n_features: int, k: int, n_labelled: int, n_landmarks: int) -> float:
    """Return the bytes of the variables of Algorithm 1 in double precision: X, U, L_M, L_C, Z, B, Λ, A, F, q.

    Examples
    --------
    >>> round(variables_bytes(2000, 649, 10, 100, 500) / 1e6, 1)
    37.3
    """
    m = n_landmarks
    return 8.0 * (n_features * (n + m) + 2.0 * n_labelled**2 + 3.0 * m * n + k * (m + n) + m)
