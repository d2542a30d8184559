"""Memory and operations, told beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview import FSSMSC, cost, datasets


def test_a_fit_that_cannot_succeed_is_refused_with_the_numbers() -> None:
    """Between a million landmarks there are 10¹² products, more than any machine holds."""
    data = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)
    model = FSSMSC(landmarks=np.zeros((10**6, 14), dtype=np.float32))
    message = r"needs about \d{5}\.\d GB beyond the input .*; \d+\.\d GB are available.*n_landmarks"
    with pytest.raises(MemoryError, match=message):
        model.fit(data.views, data.target)


def test_memory_is_refused_where_it_is_known_and_too_small() -> None:
    estimate = FSSMSC().estimate_memory(100_000, 500)
    cost.check_memory(estimate, estimate.total)
    cost.check_memory(estimate, None)  # where the system does not tell, a fit is tried
    with pytest.raises(MemoryError, match=r"; 0\.0 GB are available"):
        cost.check_memory(estimate, 10_000)


def test_estimate_grows_with_rows_and_dense_states() -> None:
    small, large = (FSSMSC().estimate_memory(n, 500).total for n in (100_000, 1_000_000))
    assert 7 * small < large < 10.5 * small
    assert FSSMSC(solver="admm").estimate_memory(100_000, 500).total > 5 * small
    assert FSSMSC(landmarks=np.ones((20, 500))).estimate_memory(100, 500).total > 0


def test_available_memory_is_plausible() -> None:
    available = cost.available_memory()
    assert available is None or 10**7 < available < 10**15


def test_operations_are_linear_in_rows() -> None:
    counts = [cost.count_operations(n, 2000, 500, 10, 1000)["total"] for n in (10**6, 10**7)]
    assert 9.5 < counts[1] / counts[0] < 10.5
    parts = cost.count_operations(70_000, 2064, 500, 10, 700)
    assert parts["cross_products"] == pytest.approx(2 * 70_000 * 2064 * 500, rel=0.01)
    assert parts["total"] == pytest.approx(sum(value for name, value in parts.items() if name != "total"))


@pytest.mark.parametrize(
    ("n", "d", "m", "k", "n_labelled", "printed"),
    [(9144, 3766, 500, 102, 457, 6.20e11), (30000, 639, 500, 31, 300, 1.86e12), (101499, 2125, 500, 31, 1014, 6.53e12)],
)
def test_the_papers_algorithm_costs_what_the_paper_prints(n, d, m, k, n_labelled, printed) -> None:
    """Its tables count 30 rounds without the k-means for landmarks; agreement within a factor of three."""
    parts = cost.count_operations(n, d, m, k, n_labelled, solver="paper")
    assert 1 / 3 < (parts["total"] - parts["landmarks"]) / printed < 3
