"""scikit-learn's own checks, on every public estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from anchorview import FSSMSC


@pytest.mark.filterwarnings("ignore::UserWarning")  # the checks ask for one cluster, or for one round, on purpose
@parametrize_with_checks(
    [
        FSSMSC(n_landmarks=30, random_state=0),
        FSSMSC(n_landmarks=30, solver="admm", max_iter=200, random_state=0),
        FSSMSC(n_landmarks=30, scaling="standard", inference="knn", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
