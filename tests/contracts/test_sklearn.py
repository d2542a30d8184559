"""scikit-learn's own checks, on every public estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from anchorview import FSSMSC, FSSMSCCV


def known_failures(estimator: Any) -> dict[str, str]:
    """Checks that cannot hold, as for scikit-learn's own KMeans; tests/test_weights.py checks what does."""
    reason = "landmarks are drawn at random from the rows, so repeated rows draw others than weighted ones"
    found = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if getattr(estimator, "solver", None) == "admm":
        weighted = ("sample_weights_list", "sample_weights_not_overwritten", "classifiers_one_label_sample_weights")
        found |= {f"check_{name}": "the paper's algorithm knows no weights and says so" for name in weighted}
    return found


@pytest.mark.filterwarnings("ignore::UserWarning")  # the checks ask for one cluster, or for one round, on purpose
@parametrize_with_checks(
    [
        FSSMSC(n_landmarks=30, random_state=0),
        FSSMSC(n_landmarks=30, solver="admm", max_iter=200, random_state=0),
        FSSMSC(n_landmarks=30, scaling="standard", inference="knn", random_state=0),
        FSSMSC(n_landmarks=30, scaling="l2", landmarks="random", random_state=0),
        FSSMSCCV(n_landmarks=30, scaling=["none", "minmax"], n_averaged=3, n_repeats=1, random_state=0),
    ],
    expected_failed_checks=known_failures,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
