"""The search as a table, and what tells one search's data from another's."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arrays import ClassIds, is_sparse
from ..data.views import Views
from .search_data import Judgement


def cv_results(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return the judgements in the form of ``GridSearchCV.cv_results_``, best first."""
    parameters = [judgement.setting.parameters() for judgement in judgements]
    result: dict[str, Any] = {
        f"param_{name}": np.array([str(p[name]) if name == "scaling" else p[name] for p in parameters])
        for name in parameters[0]
    }
    result["params"] = parameters
    n_splits = max(len(judgement.split_accuracies) for judgement in judgements)
    for split in range(n_splits):
        result[f"split{split}_test_score"] = np.array([judgement.split_accuracies[split] for judgement in judgements])
    result["mean_test_score"] = np.array([judgement.accuracy for judgement in judgements])
    result["std_test_score"] = np.array([np.std(judgement.split_accuracies) for judgement in judgements])
    result["mean_test_loss"] = np.array([judgement.loss for judgement in judgements])
    result["mean_fit_time"] = np.array([judgement.seconds for judgement in judgements])
    result["rank_test_score"] = np.arange(1, len(judgements) + 1)
    return result


def data_fingerprint(views: Views, class_ids: ClassIds, parameters: Mapping[str, Any]) -> str:
    """Return a digest of the shape of the data, some of its values, the labels and the parameters."""
    digest = hashlib.sha256()
    keys = sorted(set(parameters) - {"verbose", "n_jobs", "warm_start", "n_averaged"})
    digest.update(repr((views.shape, views.sizes, views.names, [parameters[key] for key in keys])).encode())
    digest.update(class_ids.tobytes())
    some = np.unique(np.linspace(0, len(views) - 1, 50).astype(int))
    for array in views[some].arrays:
        digest.update(np.ascontiguousarray(array.toarray() if is_sparse(array) else array).tobytes())
    return digest.hexdigest()
