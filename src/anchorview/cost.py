"""What a fit costs: memory before it runs, floating-point operations by stage."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .features.landmarks import MAX_ITER, PROJECTION, ROWS_PER_LANDMARK

NONZEROS_PER_ROW = 48  # of a code; measured 25 (Fashion-MNIST) to 70 (Scene-15), see docs/performance.md
_EIGEN_STEPS = 5  # eigen-decompositions of a trace-ratio step, cold start


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs beyond the input, by what they are for.

    Examples
    --------
    >>> from anchorview import FSSMSC
    >>> print(FSSMSC().estimate_memory(n_rows=1_000_000, n_features=200, n_clusters=10))
    1.1 GB beyond the input (1.1 KB per row): codes 0.96 GB, embedding 0.12 GB, landmarks 0.02 GB, blocks 0.02 GB
    """

    n_rows: int
    parts: dict[str, int]

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return sum(self.parts.values())

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {size / 1e9:.2f} GB" for name, size in self.parts.items())
        per_row = self.total / max(self.n_rows, 1) / 1e3
        return f"{self.total / 1e9:.1f} GB beyond the input ({per_row:.1f} KB per row): {listed}"


def estimate_memory(
    n_rows: int, n_features: int, n_landmarks: int, n_components: int, *, solver: str, n_threads: int
) -> MemoryEstimate:
    """Estimate the peak memory of a fit beyond its input, in single precision."""
    itemsize = 4
    code_bytes = NONZEROS_PER_ROW * (itemsize + 4)
    # CSR codes: of the rows on their own, of the joint problem, and one copy while blocks are put together.
    codes = int(2.5 * n_rows * code_bytes)
    if solver == "admm":  # dense states: first consensus, consensus, dual, codes and the proposal for them
        codes += 5 * n_rows * n_landmarks * itemsize
    embedding = n_rows * (n_components * 3 * itemsize)
    square = 12 * n_landmarks**2 * 8
    landmarks = 2 * n_landmarks * n_features * itemsize + square
    sample = min(n_rows, ROWS_PER_LANDMARK * n_landmarks) * min(n_features, PROJECTION) * itemsize
    blocks = n_threads * (4096 * n_landmarks + 256 * n_features) * itemsize + sample
    return MemoryEstimate(n_rows, {"codes": codes, "embedding": embedding, "landmarks": landmarks, "blocks": blocks})


def available_memory() -> int | None:
    """Return the bytes that can still be had, None where the system does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def check_memory(estimate: MemoryEstimate, available: int | None) -> None:
    """Refuse a fit that cannot succeed in the memory available (None: not known), with the numbers and what to do."""
    if available is not None and estimate.total > available:
        raise MemoryError(
            f"This fit needs about {estimate}; {available / 1e9:.1f} GB are available. Lower n_landmarks, or fit a "
            "sample of the rows and predict the rest in blocks (predict needs a fixed amount of memory)."
        )


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
