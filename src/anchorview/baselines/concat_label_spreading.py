"""scikit-learn's label spreading on the views side by side: what a user would try first."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelSpreading

from ..core.arrays import ClassIds, Matrix, Rows
from ..core.checks import COUNT, WEIGHT, Flag, Number
from ..data.labels import split_labels
from ..features.neighbours import nearest_rows
from ._base import Labels, SemiSupervisedMultiView, Task
from ._best_setting import best_setting
from ._concat import concatenate_views, view_factors
from ._parameters import method, parameter

_NEIGHBOURS = (7, 5, 10, 20)  # scikit-learn's default first: it is taken where nothing can be compared
_ALPHAS = (0.2, 0.5, 0.8, 0.95)


@method
class ConcatLabelSpreading(SemiSupervisedMultiView):
    """Label spreading over the nearest neighbours in the concatenated views.

    This is ``sklearn.semi_supervised.LabelSpreading(kernel="knn")``, but for the search of the neighbours, which is
    done once, in blocks and also on sparse views.

    Parameters
    ----------
    n_neighbors : int or "cv", default="cv"
        Neighbours of a row, itself included as in scikit-learn.
    alpha : float or "cv", default="cv"
        Share of a row's label that comes from its neighbours, above 0 and below 1.
    max_iter : int, default=300
        Steps of the spreading at most.
    tol : float, default=1e-3
        Change of all labels together at which it ends.

    Attributes
    ----------
    n_neighbors_, alpha_ : int, float
        The values used.
    n_iter_ : int
        Steps of the last spreading.

    Examples
    --------
    >>> from anchorview.baselines import ConcatLabelSpreading
    >>> from anchorview.datasets import hide_labels, make_multiview_subspaces
    >>> data = make_multiview_subspaces(300, 3, noise=0.1, random_state=0)
    >>> y = hide_labels(data.target, 0.1, random_state=0)
    >>> model = ConcatLabelSpreading(random_state=0).fit(data.views, y)
    >>> bool((model.labels_ == data.target).mean() > 0.9)
    True
    """

    _: KW_ONLY
    n_neighbors: int | str = parameter("cv", Number(1, integer=True, or_text=("cv",)))
    alpha: float | str = parameter("cv", Number(0, 1, strict=True, or_text=("cv",)))
    n_folds: int = parameter(5, Number(2, integer=True))
    max_iter: int = parameter(300, COUNT)
    tol: float = parameter(1e-3, WEIGHT)
    equal_views: bool = parameter(True, Flag())

    def _max_rounds(self, n_views: int) -> int:
        return 1

    def _classify(self, task: Task, labels: Labels) -> ClassIds:
        counts = _NEIGHBOURS if self.n_neighbors == "cv" else (int(self.n_neighbors),)
        alphas = _ALPHAS if self.alpha == "cv" else (float(self.alpha),)
        rows = concatenate_views(task.views, view_factors(task.views, self.equal_views))
        nearest = self._graphs.build(nearest_rows, rows, max(counts) - 1, n_threads=task.n_threads)[0]
        graphs = {count: _graph(nearest[:, : count - 1]) for count in counts}

        def spread(setting: tuple[int, float], class_ids: ClassIds) -> LabelSpreading:
            count, alpha = setting
            model = LabelSpreading(kernel=lambda *_: graphs[count], alpha=alpha, max_iter=self.max_iter, tol=self.tol)
            # The graph stands in for the features, of which only the number of rows is looked at.
            return model.fit(np.zeros((task.n_rows, 1)), class_ids)

        def probabilities(setting: tuple[int, float], class_ids: ClassIds) -> Matrix:
            shares: Matrix = spread(setting, class_ids).label_distributions_
            return shares

        settings = [(count, alpha) for count in counts for alpha in alphas]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            folds = split_labels(labels.class_ids, self.n_folds, task.rng)
            best = best_setting(settings, labels.class_ids, folds, probabilities)
        self.n_neighbors_, self.alpha_ = best
        model = spread(best, labels.class_ids)
        task.report(1, 0.0, 0.0)
        self.n_iter_ = int(model.n_iter_)
        result: ClassIds = model.label_distributions_.argmax(axis=1)
        return result


def _graph(nearest: Rows) -> sparse.csr_matrix:
    """Join each row with its nearest ones and itself, all with weight 1, as scikit-learn does."""
    n = len(nearest)
    index = np.hstack([np.arange(n)[:, None], nearest])
    starts = np.arange(0, index.size + 1, index.shape[1])
    return sparse.csr_matrix((np.ones(index.size), index.ravel(), starts), shape=(n, n))
