"""Logistic regression on the labelled rows, views side by side: what the unlabelled rows have to add to."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..core.arrays import AnyMatrix, ClassIds, Matrix
from ..core.checks import COUNT, Flag, Number, Rule
from ..data.labels import split_labels
from ..data.reading import ColumnGroups
from ._base import Labels, Task
from ._best_setting import best_setting
from ._concat import side_by_side, view_factors
from ._inductive import InductiveMultiView

_STRENGTHS = (10.0, 0.1, 1.0, 1e2, 1e3, 1e4)  # the first is taken where nothing can be compared


class ConcatLogisticRegression(InductiveMultiView):
    """Logistic regression on the concatenated views of the labelled rows.

    Parameters
    ----------
    C : float or "cv", default="cv"
        Inverse strength of the penalty.
    n_folds : int, default=5
        Parts of the labelled rows that are hidden in turn to choose `C`.
    max_iter : int, default=1000
        Iterations of the solver at most.
    equal_views : bool, default=True
        Divide each view, after `scaling`, by the root of its total variance, so that all views count the same.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see `anchorview.Views`.
    scaling : str or sequence of str, default="minmax"
        Scaling of the features, one for all views or one per view: "none", "l2", "sum", "standard", "minmax" or
        "row_standard".
    random_state : int, RandomState or None, default=None
        Seed of the folds.
    n_jobs : int, optional
        Not used.
    verbose : bool, default=False
        Write a line to the logger "anchorview".

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Labels of all rows.
    classes_ : ndarray
        The classes.
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

    C_: float
    _model: LogisticRegression
    _factors: Matrix

    _rules: ClassVar[dict[str, Rule]] = {
        **InductiveMultiView._rules,
        "C": Number(0, strict=True, or_text=("cv",)),
        "n_folds": Number(2, integer=True),
        "max_iter": COUNT,
        "equal_views": Flag(),
    }

    def __init__(
        self,
        *,
        C: float | str = "cv",
        n_folds: int = 5,
        max_iter: int = 1000,
        equal_views: bool = True,
        views: ColumnGroups | None = None,
        scaling: str | Sequence[str] = "minmax",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.n_folds = n_folds
        self.max_iter = max_iter
        self.equal_views = equal_views
        self.views = views
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _max_rounds(self, n_views: int) -> int:
        return 1

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        self._factors = view_factors(task.views, self.equal_views)
        rows = side_by_side(task.views, self._factors)
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
        class_ids: ClassIds = self._model.predict(side_by_side(views, self._factors))
        return class_ids
