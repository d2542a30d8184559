"""The cost model of `docs/lab/scale.md`: operations, bytes and memory of a fit by formula, and those measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anchorview.bench.operations import count_operations
from anchorview.cost.fit import FitSizes, estimate_memory

FLOAT, INDEX, START = 4, 4, 8  # bytes of a number, of its column, and of where a row starts
PASSES = 3  # over the rows: which are missing, scaling, codes
LABELLED = 1000


@dataclass(frozen=True)
class CostModel:
    """Costs of a fit on float32 rows with so many features, landmarks and classes."""

    n_features: int
    n_landmarks: int
    n_classes: int

    def bytes_read(self, n_rows: int, nonzeros: float, rounds: int) -> float:
        """Return the bytes read: rows three times, codes in files once a round and once for the embedding."""
        codes = n_rows * nonzeros * (FLOAT + INDEX) * (rounds + 1)
        return PASSES * n_rows * self.n_features * FLOAT + codes + START * n_rows

    def bytes_written(self, n_rows: int, nonzeros: float) -> float:
        """Return the bytes of the codes."""
        return n_rows * (nonzeros * (FLOAT + INDEX) + START)

    def memory(self, n_rows: int, nonzeros: float, n_threads: int) -> float:
        """Return the peak of memory beyond what the process has before the fit."""
        sizes = FitSizes(
            n_rows,
            self.n_features,
            self.n_landmarks,
            self.n_classes,
            LABELLED,
            nonzeros=nonzeros,
            n_threads=n_threads,
            codes_in_files=True,
        )
        return float(estimate_memory(sizes).total)

    def operations(self, n_rows: int, nonzeros: float, rounds: int) -> float:
        """Return the floating-point operations."""
        sizes = (n_rows, self.n_features, self.n_landmarks, self.n_classes, LABELLED)
        return count_operations(*sizes, n_iter=rounds, nonzeros=nonzeros)["total"]

    def bytes_moved(self, workers: int, rounds: int) -> float:
        """Return the bytes over a network, all rounds together: m×m sums from each worker, m×m and k×m state to it."""
        m, k = self.n_landmarks, self.n_classes
        return workers * (2 * m * m * 8 + rounds * (m * k * 8 + 3 * 8) + self.n_features * m * FLOAT)

    def compare(self, fits: dict[str, Any]) -> dict[str, dict[str, float]]:
        """Return what the model says of the fit from disk, and what was measured.

        The processor time of the fit from disk is told from that of the fit in memory, by the operations of both.
        """
        disk, memory = fits["disk"], fits["memory"]
        own = (disk["rows"], disk["nonzeros"], disk["rounds"])
        rate = memory["cpu_seconds"] / self.operations(memory["rows"], memory["nonzeros"], memory["rounds"])
        return {
            "bytes read": {"model": self.bytes_read(*own), "measured": disk["read"]},
            "bytes written": {"model": self.bytes_written(*own[:2]), "measured": disk["written"]},
            "memory": {"model": self.memory(*own[:2], n_threads=2), "measured": disk["beyond"]},
            "processor time": {"model": rate * self.operations(*own), "measured": disk["cpu_seconds"]},
        }
