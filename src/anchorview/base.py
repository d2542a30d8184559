"""What a fitted model does with rows: read the views, embed, predict, score."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .engine.blocks import ViewCrossProducts
from .engine.parallel import count_threads, map_blocks
from .inference import ClusterCentres, LabelledNeighbours
from .missing import check_no_empty, find_present
from .progress import CallbackSupportMixin
from .scaling import FOR_SPARSE, Presence, ScalingChoice, ViewsScaler, check_finite
from .solver.result import Encoder
from .validation import as_views, encode_labels, read_views
from .views import ColumnGroups, Views


class MultiViewClassifier(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """A classifier over several views whose fit leaves landmarks, an encoder and a rule for labels."""

    views: ColumnGroups | None
    scaling: ScalingChoice
    n_jobs: int | None
    on_empty: str
    view_names_: list[str]
    _accepts_missing = True
    classes_: npt.NDArray[Any]
    landmarks_: npt.NDArray[np.floating]
    landmark_embedding_: npt.NDArray[np.float64]
    _scaler: ViewsScaler
    _encoder: Encoder
    _rule: LabelledNeighbours | ClusterCentres

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are optional."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.sparse = not isinstance(self.scaling, str) or self.scaling in FOR_SPARSE
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def transform(self, X: Any) -> npt.NDArray[np.floating]:
        """Embed rows.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Each row depends on that row only.
        """
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        n_threads = count_threads(self.n_jobs)
        present, _ = self._find_present(views)
        return self._transform(views, present, n_threads)

    def _transform(self, views: Views, present: Presence, n_threads: int) -> npt.NDArray[np.floating]:
        cross = ViewCrossProducts(views, self._scaler, self.landmarks_, cache=False, presence=present)

        def embed(block: slice) -> npt.NDArray[np.floating]:
            products = cross.rows(block)
            if not np.isfinite(products.sum()):  # NaN and infinity pass through the product: no extra pass over X
                check_finite(views, present=present)
            return self._embed(self._encoder.encode(products, cross.present(block)))

        return np.concatenate(map_blocks(embed, cross.blocks, n_threads))

    def _find_present(self, views: Views) -> tuple[Presence, npt.NDArray[np.bool_] | None]:
        """Return which rows have which view, and which have none: an error unless `on_empty` allows it."""
        present = find_present(views)
        if present is None or present.any(axis=1).all():
            return present, None
        if self.on_empty != "drop":
            check_no_empty(present, views.ids)
        empty: npt.NDArray[np.bool_] = np.logical_not(present.any(axis=1))
        return present, empty

    def _embed(self, codes: sparse.csr_array) -> npt.NDArray[np.floating]:
        embedding: npt.NDArray[np.floating] = (codes @ self.landmark_embedding_.T).astype(self._scaler.dtype)
        return embedding

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
        evidence, empty = self._evidence(X)
        predicted: npt.NDArray[Any] = self.classes_[evidence.argmax(axis=1)]
        return predicted if empty is None else mark_unknown(predicted, empty)

    def predict_proba(self, X: Any) -> npt.NDArray[np.floating]:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        evidence, empty = self._evidence(X)
        probabilities = self._rule.probabilities(evidence)
        if empty is not None:
            probabilities[empty] = 1 / probabilities.shape[1]
        return probabilities

    def _evidence(self, X: Any) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.bool_] | None]:
        """Return the evidence for each class, and which rows have no view at all."""
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        n_threads = count_threads(self.n_jobs)
        present, empty = self._find_present(views)
        return self._rule.evidence(self._transform(views, present, n_threads), n_threads), empty

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
