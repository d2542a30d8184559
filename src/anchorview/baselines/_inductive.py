"""Methods that can also label rows which were not in the fit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import AnyMatrix, ClassIds
from ..data.validation import read_views
from ..data.views import Views
from ..features.scaling import check_finite
from ._base import SemiSupervisedMultiView, Task
from ._new_rows import NewRowScaling


class InductiveMultiView(ClassifierMixin, SemiSupervisedMultiView):
    """A method with `predict`, which scales new rows as those of the fit were; subclasses implement `_choose`."""

    _new_rows: NewRowScaling

    @abstractmethod
    def _choose(self, views: list[AnyMatrix]) -> ClassIds:
        """Return the class number of each row of scaled views."""

    def _begin(self, views: Views) -> Task:
        task = super()._begin(views)
        self._new_rows = NewRowScaling(views, task.views, self.scaling)
        return task

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        views = read_views(self, X, reset=False)
        check_finite(views)
        return self.classes_[self._choose(self._new_rows.apply(views))]
