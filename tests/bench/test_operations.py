"""Floating-point operations, counted by stage."""

from __future__ import annotations

import pytest

from anchorview.bench.operations import count_operations


def test_operations_are_linear_in_rows() -> None:
    counts = [count_operations(n, 2000, 500, 10, 1000)["total"] for n in (10**6, 10**7)]
    assert 9.5 < counts[1] / counts[0] < 10.5
    parts = count_operations(70_000, 2064, 500, 10, 700)
    assert parts["cross_products"] == pytest.approx(2 * 70_000 * 2064 * 500, rel=0.01)
    assert parts["total"] == pytest.approx(sum(value for name, value in parts.items() if name != "total"))


@pytest.mark.parametrize(
    ("n", "d", "m", "k", "n_labelled", "printed"),
    [(9144, 3766, 500, 102, 457, 6.20e11), (30000, 639, 500, 31, 300, 1.86e12), (101499, 2125, 500, 31, 1014, 6.53e12)],
)
def test_the_papers_algorithm_costs_what_the_paper_prints(n, d, m, k, n_labelled, printed) -> None:
    """Its tables count 30 rounds without the k-means for landmarks; agreement within a factor of three."""
    parts = count_operations(n, d, m, k, n_labelled, solver="paper")
    assert 1 / 3 < (parts["total"] - parts["landmarks"]) / printed < 3
