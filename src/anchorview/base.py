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
from .progress import CallbackSupportMixin
from .scaling import ViewsScaler, check_finite
from .solver.result import Encoder
from .validation import as_views, encode_labels, read_views
from .views import ColumnGroups, Views


class MultiViewClassifier(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """A classifier over several views whose fit leaves landmarks, an encoder and a rule for labels."""

    views: ColumnGroups | None
    n_jobs: int | None
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
        cross = ViewCrossProducts(views, self._scaler, self.landmarks_, cache=False)

        def embed(block: slice) -> npt.NDArray[np.floating]:
            products = cross.rows(block)
            if not np.isfinite(products.sum()):  # NaN and infinity pass through the product: no extra pass over X
                check_finite(views)
            return self._embed(self._encoder.encode(products))

        return np.concatenate(map_blocks(embed, cross.blocks, n_threads))

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
        embedding = np.asarray(_plain_transform(self, X))
        numbers = self._rule.evidence(embedding, count_threads(self.n_jobs)).argmax(axis=1)
        predicted: npt.NDArray[Any] = self.classes_[numbers]
        return predicted

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
        embedding = np.asarray(_plain_transform(self, X))
        return self._rule.probabilities(self._rule.evidence(embedding, count_threads(self.n_jobs)))

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[Any]:
        """Fit and return ``labels_``.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views.
        y : array-like of shape (n_rows,), optional
            Labels, -1 where there is none.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels: npt.NDArray[Any] = self.fit(X, y).labels_
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


def _plain_transform(model: MultiViewClassifier, X: Any) -> npt.NDArray[np.floating]:
    """Transform without the container that ``set_output`` may ask for."""
    method = type(model).transform
    plain = getattr(method, "__wrapped__", method)
    embedding: npt.NDArray[np.floating] = plain(model, X)
    return embedding
