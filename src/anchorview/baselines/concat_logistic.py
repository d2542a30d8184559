"""Logistic regression on the labelled rows, views side by side: what the unlabelled rows have to add to."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..core.arrays import AnyMatrix, ClassIds, Matrix
from ..core.checks import COUNT, Flag, Number
from ..data.labels import split_labels
from ._base import Labels, Task
from ._best_setting import best_setting
from ._concat import concatenate_views, view_factors
from ._inductive import InductiveMultiView
from ._parameters import method, parameter

_STRENGTHS = (10.0, 0.1, 1.0, 1e2, 1e3, 1e4)  # the first is taken where nothing can be compared


@method
class ConcatLogisticRegression(InductiveMultiView):
    """Logistic regression on the concatenated views of the labelled rows.

    Parameters
    ----------
    C : float or "cv", default="cv"
        Inverse strength of the penalty.
    max_iter : int, default=1000
        Iterations of the solver at most.

    Attributes
    ----------
    C_ : float
        The value used.
    n_iter_ : int
        Iterations of the solver.

    Examples
    --------
    >>> from anchorview.baselines import ConcatLogisticRegression
    >>> from anchorview.datasets import hide_labels, make_multiview_subspaces
    >>> data = make_multiview_subspaces(300, 3, noise=0.1, random_state=0)
    >>> y = hide_labels(data.target, 0.1, random_state=0)
    >>> model = ConcatLogisticRegression(random_state=0).fit(data.views, y)
    >>> bool((model.predict(data.views) == data.target).mean() > 0.9)
    True
    """

    _: KW_ONLY
    C: float | str = parameter("cv", Number(0, strict=True, or_text=("cv",)))
    n_folds: int = parameter(5, Number(2, integer=True))
    max_iter: int = parameter(1000, COUNT)
    equal_views: bool = parameter(True, Flag())

    def _max_rounds(self, n_views: int) -> int:
        return 1

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        self._factors = view_factors(task.views, self.equal_views)
        rows = concatenate_views(task.views, self._factors)
        known, class_ids = rows[labels.labelled], labels.class_ids[labels.labelled]

        def fit(strength: float, part: ClassIds) -> LogisticRegression:
            return LogisticRegression(C=strength, max_iter=self.max_iter).fit(known[part >= 0], part[part >= 0])

        def probabilities(strength: float, part: ClassIds) -> Matrix:
            shares: Matrix = fit(strength, part).predict_proba(known)  # no class loses all its rows: a column for each
            return shares

        strengths = _STRENGTHS if self.C == "cv" else (float(self.C),)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            folds = split_labels(class_ids, self.n_folds, task.rng)
            self.C_ = best_setting(strengths, class_ids, folds, probabilities)
        self._model = fit(self.C_, class_ids)
        task.report(1, 0.0, 0.0)
        self.n_iter_ = int(np.max(self._model.n_iter_))
        result: ClassIds = self._model.predict(rows)
        return result

    def _choose(self, views: list[AnyMatrix]) -> ClassIds:
        class_ids: ClassIds = self._model.predict(concatenate_views(views, self._factors))
        return class_ids
