"""`PerView`: a transformer for each view, as one step of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .mapping import map_views, one_for_each
from .reading import ColumnGroups
from .validation import find_present, read_views
from .views import Views


class PerView(TransformerMixin, BaseEstimator):
    """Apply a transformer to each view on its own, in a pipeline.

    A scaler that stands alone in a `Pipeline` makes one array of all views; within `PerView` it is cloned and fitted
    view by view, on the rows that have the view. Names, ids and missing views stay what they are.

    Parameters
    ----------
    transformer : transformer, function, or mapping of str to one of them
        What to apply; functions are given the array of one view. A mapping names the views to change; the others stay,
        as do those that it gives None or "passthrough". It is fitted without labels.
    views : sequence or mapping, optional
        How to cut one 2-D array, table, AnnData or MuData object into views; see :class:`Views`.

    Attributes
    ----------
    transformers_ : dict
        The fitted transformer of each view.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views given.
    n_features_in_ : int
        Features of all views together.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from anchorview import FSSMSC, PerView, datasets
    >>> digits = datasets.load_handwritten()
    >>> y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    >>> pipeline = make_pipeline(PerView({"pix": PCA(30, random_state=0)}), FSSMSC(n_landmarks=100, random_state=0))
    >>> pipeline.fit(digits.views, y)[0].transform(digits.views[:5])
    Views(5 rows; fou: 76, fac: 216, kar: 64, pix: 30, zer: 47, mor: 6)
    >>> pipeline.predict(digits.views[:3])
    array([0, 0, 0])
    """

    def __init__(self, transformer: Any, *, views: ColumnGroups | None = None) -> None:
        self.transformer = transformer
        self.views = views

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also those of the transformers, by ``transformer__`` or the view's name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of the transformers.

        Returns
        -------
        dict
        """
        parameters: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.transformer, Mapping):
            for name, one in self.transformer.items():
                if hasattr(one, "get_params"):
                    parameters[name] = one
                    parameters |= {f"{name}__{key}": value for key, value in one.get_params().items()}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a view's name sets its transformer.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self
        """
        if isinstance(self.transformer, Mapping) and "transformer" not in params:
            changed = {name: params.pop(name) for name in list(params) if name in self.transformer}
            self.transformer = {**self.transformer, **changed}
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a clone of the transformer on each view.

        Parameters
        ----------
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            The views.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.preprocessing import StandardScaler
        >>> from anchorview import PerView
        >>> scaler = PerView(StandardScaler()).fit([[[1.0], [3.0]], [[2.0], [8.0]]])
        """
        self._map(read_views(self, X, reset=True, accept_missing=True), fit=True)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Views:
        """Fit, and return the views transformed.

        Parameters
        ----------
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            The views.
        y : ignored
            Here for scikit-learn.
        **fit_params : dict
            None are known.

        Returns
        -------
        Views

        Examples
        --------
        >>> from sklearn.preprocessing import StandardScaler
        >>> from anchorview import PerView
        >>> PerView(StandardScaler()).fit_transform([[[1.0], [3.0]], [[2.0], [8.0]]]).to_array()
        array([[-1., -1.],
               [ 1.,  1.]])
        """
        if fit_params:
            raise TypeError(f"PerView takes no fit parameters; got {sorted(fit_params)}.")
        return self._map(read_views(self, X, reset=True, accept_missing=True), fit=True)

    def transform(self, X: Any) -> Views:
        """Return the views of other rows, transformed as those of the fit were.

        Parameters
        ----------
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit, or some of these views by name.

        Returns
        -------
        Views

        Examples
        --------
        >>> from sklearn.preprocessing import StandardScaler
        >>> from anchorview import PerView
        >>> scaler = PerView(StandardScaler()).fit([[[1.0], [3.0]], [[2.0], [8.0]]])
        >>> scaler.transform([[[3.0]], [[5.0]]]).to_array()
        array([[1., 0.]])
        """
        check_is_fitted(self)
        return self._map(read_views(self, X, reset=False, accept_missing=True), fit=False)

    def _map(self, views: Views, *, fit: bool) -> Views:
        present = find_present(views)
        present = np.ones((len(views), len(views.names)), dtype=bool) if present is None else present
        if fit:
            mapped = map_views(views, list(one_for_each(self.transformer, views.names).values()), present)
            self.transformers_ = dict(zip(views.names, mapped.transformers, strict=True))
            self._sizes_out = [array.shape[1] for array in mapped.arrays]
        else:
            mapped = map_views(views, list(self.transformers_.values()), present, self._sizes_out)
        return views.with_arrays(mapped.arrays, mapped.features, present)
