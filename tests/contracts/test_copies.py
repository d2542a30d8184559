"""Copies of fitted models by other means: pickle, copy.deepcopy, joblib and skops; they answer as the model does."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io

from support.models import fitted, labels, made, search

# What a user has to trust to load a model with skops; docs/models.md lists them.
TRUSTED = (
    "anchorview.core.cache.Cache",
    "anchorview.features.scaled.DenseScaler",
    "anchorview.features.scaled.ViewsScaler",
    "anchorview.features.text.TextScaler",
    "anchorview.fssmsc.FSSMSC",
    "anchorview.classifier.AnchorViewClassifier",
    "anchorview.fitting.searching.SearchState",
    "anchorview.model.model.Branch",
    "anchorview.model.model.Embedder",
    "anchorview.model.model.Member",
    "anchorview.model.model.Model",
    "anchorview.readers.clusters.ClusterCentres",
    "anchorview.readers.code_space.CodeSpace",
    "anchorview.readers.linear.FoldedReader",
    "anchorview.readers.linear.LinearReader",
    "anchorview.readers.view_regressions.ViewRegressions",
    "anchorview.readers.plain_neighbours.PlainNeighbours",
    "anchorview.readers.graph.PoissonReader",
    "anchorview.readers.graph.SpreadReader",
    "anchorview.readers.base.HeldOutLabels",
    "anchorview.readers.nearest.LabelledNeighbours",
    "anchorview.solver.admm.step.Push",
    "anchorview.solver.admm.step.ReplayEncoder",
    "anchorview.solver.admm.step.RowModel",
    "anchorview.solver.elastic_net.ElasticNetEncoder",
    "anchorview.solvers.ADMM",
    "anchorview.solvers.ActiveSet",
    "anchorview.solver.grams.PatternGrams",
    "anchorview.supervision.conflicts.Conflict",
    "anchorview.supervision.conflicts.ConstraintViolations",
    "anchorview.readers.graph.FittedRows",
    "anchorview.readers.graph.GraphSpace",
    "anchorview.features.directions.Directions",
    "anchorview.tuning.judging.Judgement",
    "anchorview.tuning.settings.Setting",
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
)


def by_joblib(model: Any) -> Any:
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    return joblib.load(stream)


def by_skops(model: Any) -> Any:
    data = skops.io.dumps(model)
    assert [name for name in skops.io.get_untrusted_types(data=data) if name not in TRUSTED] == []
    return skops.io.loads(data, trusted=list(TRUSTED))


WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "joblib": by_joblib,
    "skops": by_skops,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["plain", "auto", "text", "gaps", "clusters", "admm", "search", "text search"])
def test_copies_answer_as_the_model_does(kind: str, way: str) -> None:
    model, X = fitted(kind)
    back = WAYS[way](model)
    assert (back.predict_proba(X) == model.predict_proba(X)).all()
    assert (back.transform(X) == model.transform(X)).all()
    assert (back.labels_ == model.labels_).all()
    assert (back.suggest_labels(3) == model.suggest_labels(3)).all()


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_search_goes_on(way: str) -> None:
    model = search(warm_start=True, n_averaged=2).fit(made().views, labels())
    back = WAYS[way](model).fit(made().views, labels())
    assert np.array_equal(back.cv_results_["mean_fit_time"], model.cv_results_["mean_fit_time"])
    assert list(back._search.judged) == list(model._search.judged)


def test_a_search_that_was_not_fitted_is_copied() -> None:
    for way in WAYS.values():
        assert way(search()).get_params()["n_averaged"] == 6
