"""What estimators that predict share: reading views, rows that lack some or all of them, scoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .missing import check_no_empty, find_present
from .scaling import Presence
from .validation import as_views, encode_labels, read_views
from .views import ColumnGroups, Views


class ViewReader:
    """Mixin of estimators with `views`, `on_empty`, `fit`, `predict` and `classes_`."""

    views: ColumnGroups | None
    on_empty: str
    classes_: npt.NDArray[Any]
    _accepts_missing = True
    predict: Any
    fit: Any

    def _find_present(self, views: Views) -> tuple[Presence, npt.NDArray[np.bool_] | None]:
        """Return which rows have which view, and which have none: an error unless `on_empty` allows it."""
        present = find_present(views)
        if present is None or present.any(axis=1).all():
            return present, None
        if self.on_empty != "drop":
            check_no_empty(present, views.ids)
        empty: npt.NDArray[np.bool_] = np.logical_not(present.any(axis=1))
        return present, empty

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> npt.NDArray[Any]:
        """Fit and return ``labels_``.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views.
        y : array-like of shape (n_rows,), optional
            Labels, -1 where there is none.
        **fit_params : dict
            Given to `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels: npt.NDArray[Any] = self.fit(X, y, **fit_params).labels_
        return labels

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the accuracy of `predict` over the rows that have a label.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.
        y : array-like of shape (n_rows,)
            True labels; rows marked as unlabelled are left out.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        classes, codes = encode_labels(y, len(as_views(X, self.views)), fitted=self.classes_)
        known = codes >= 0
        if not known.any():
            raise ValueError("No row of y has a label, so there is nothing to score against.")
        weights = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        hits = self.predict(X)[known] == classes[codes[known]]
        return float(np.average(hits, weights=weights[known]))

    def _read_views(self, X: Any, *, reset: bool) -> Views:
        return read_views(self, X, reset=reset)


def mark_unknown(labels: npt.NDArray[Any], empty: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Label rows about which nothing is known: -1, or "" among text."""
    labels = labels.copy()
    if labels.dtype.kind in "US":
        labels[empty] = ""
        return labels
    if labels.dtype.kind in "bu":
        labels = labels.astype(np.int64)
    labels[empty] = -1
    return labels
