"""benchmarks/few_labels.py: what the tuned estimator is compared with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


def test_each_draw_is_compared_with_what_was_best_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from few_labels import SIMPLE, gaps_to_known_best

    accuracies = {method: np.zeros(3) for method in SIMPLE} | {"tuned": np.array([50.0, 60.0, 70.0])}
    accuracies["Poisson"] = np.array([90.0, 10.0, 10.0])  # lucky once
    accuracies["spread"] = np.array([40.0, 40.0, 40.0])
    assert gaps_to_known_best(accuracies) == [10.0, 50.0, 60.0]
    assert gaps_to_known_best({method: values[:1] for method, values in accuracies.items()}) == []
