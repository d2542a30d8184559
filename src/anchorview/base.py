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
from .scaling import FOR_SPARSE, Presence, ScalingChoice, ViewsScaler, check_finite
from .solver.result import Encoder
from .suggesting import LabelSuggester
from .view_reader import ViewReader, mark_unknown
from .views import Views


class MultiViewClassifier(
    ViewReader,
    LabelSuggester,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """A classifier over several views whose fit leaves landmarks, an encoder and a rule for labels."""

    scaling: ScalingChoice
    n_jobs: int | None
    view_names_: list[str]
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
        cross = ViewCrossProducts(views, self._scaler, self.landmarks_, presence=present, for_prediction=True)

        def embed(block: slice) -> npt.NDArray[np.floating]:
            products = cross.rows(block)
            if not np.isfinite(products.sum()):  # NaN and infinity pass through the product: no extra pass over X
                check_finite(views, present=present)
            return self._embed(self._encoder.encode(products, cross.present(block)))

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
