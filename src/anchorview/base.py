"""What every fitted estimator does with rows: read views, say which rows have which, label, predict, score, suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .core.arrays import ClassIds, Mask, Matrix, Presence, Rows
from .core.checks import Number
from .core.display import html_form
from .core.progress import CallbackSupportMixin
from .cost.estimator import MemoryEstimator
from .data.labels import check_weights, encode_labels
from .data.reading import ColumnGroups
from .data.validation import RowChecks, column_of, read_views
from .data.views import Views
from .features.auto import FOR_SPARSE
from .fitting.report import FitReport
from .model.model import Later, Model, OfProcess, OfRows, names_declared, values_of_rows
from .model.predicting import Chunk, Wanted, predict_chunks
from .readers.base import HeldOutLabels, TopTwo
from .readers.wrong_labels import LabelVerdicts
from .supervision.conflicts import Conflict, ConstraintViolations, count_violations
from .supervision.given import FitInput, read_known
from .supervision.known import Supervision


class MultiViewClassifier(
    MemoryEstimator,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """A classifier over several views that embeds them; a subclass fits, and has the probabilities of rows."""

    views: ColumnGroups | None
    scaling: Any
    on_empty: str
    unlabelled: Any
    n_jobs: int | None
    view_names_: list[str]
    classes_: npt.NDArray[Any]
    landmarks_: Matrix
    landmark_embedding_: Matrix
    fit: Any
    labels_ = OfRows[npt.NDArray[Any]]()
    confidence_ = OfRows[Matrix]()
    codes_ = OfRows[Any]()
    embedding_ = OfRows[Any]()
    held_out_ = OfRows["HeldOutLabels | None"]()
    label_quality_ = OfRows[Matrix]()
    relabelled_ = OfRows[Rows]()
    constraint_conflicts_ = OfRows[list[Conflict]]()
    _ids = OfRows["npt.NDArray[Any] | None"]()
    _can_be_labelled = OfRows[Mask]()
    _runner_up = OfRows["tuple[ClassIds, Matrix]"]()
    _likely_class_ids = OfRows[ClassIds]()  # what models that have not seen a label prefer
    _report = OfProcess[FitReport]()
    _rows: dict[str, Any]  # by the names of the attributes above
    _model: Model
    constraint_violations_: ConstraintViolations | None
    status_: str
    stage_seconds_: dict[str, float]
    _needs_labels = True

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without what only `update` needs: the rows of the fit, which belong to the user."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_rows" in state:
            state["_rows"] = values_of_rows(self)
        # Places of rows are computed when they are asked for: the same model gives the same bytes.
        dropped = names_declared(type(self), OfProcess)
        return {name: value for name, value in state.items() if name not in dropped}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what is needed, and that the embedding has the precision of the rows."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels
        tags.input_tags.sparse = self._takes_sparse()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _repr_html_inner(self) -> str:
        return html_form(self, super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show a fitted model in a notebook as a summary with a map; others as scikit-learn does."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = html_form(self, bundle["text/html"])
        return bundle

    def _publish_model(self, model: Model) -> None:
        """Set what predictions need."""
        self._model, self.classes_ = model, model.classes
        self.landmarks_, self.landmark_embedding_ = model.embedder.landmarks, model.embedder.embedding
        self._n_features_out = len(model.embedder.embedding)

    def _checks(self) -> RowChecks:
        return RowChecks(self.on_empty == "drop", self.scaling)

    def _read_views(self, X: Any, *, reset: bool) -> Views:
        return read_views(
            self, X, reset=reset, accept_sparse=self._takes_sparse(), accept_missing=True, accept_stored=True
        )

    def _takes_sparse(self) -> bool:
        return not isinstance(self.scaling, str) or self.scaling in FOR_SPARSE

    def _read_input(self, X: Any, y: Any, sample_weight: Any, constraints: Any = None) -> FitInput:
        """Read and check everything that a fit is given."""
        checks, views = self._checks(), self._read_views(X, reset=True)
        # of a store, one more pass may take as long as the fit
        has_two_passes = not (views.is_stored or views.is_on_cluster)
        y, sample_weight = column_of(X, y, "y"), column_of(X, sample_weight, "sample_weight")
        present, empty = checks.check(views) if has_two_passes else checks.find_present(views)
        return read_known(views, present, empty, y, sample_weight, constraints, self.unlabelled)

    def _read_labels_of(
        self, views: Views, present: Presence, empty: Mask | None, y: Any, sample_weight: Any, constraints: Any
    ) -> FitInput:
        return read_known(views, present, empty, y, sample_weight, constraints, self.unlabelled)

    def _publish_rows(self, given: FitInput, top: TopTwo, held_out: HeldOutLabels | None) -> None:
        """Set labels and confidence of the rows of the fit, labelled ones keeping their labels, and `held_out_`."""
        model, known = self._model, given.known
        is_labelled = known.class_ids >= 0
        class_ids = model.places(np.where(is_labelled, known.class_ids, top.class_ids))
        self.labels_ = model.labels(class_ids, given.empty)
        confidence, can_be_labelled = top.confidence.copy(), ~is_labelled
        confidence[is_labelled] = 1.0
        if given.empty is not None:
            confidence[given.empty] = 0.0
            can_be_labelled &= ~given.empty
        if given.weights is not None:
            can_be_labelled &= given.weights > 0
        self.confidence_, self._ids, self._can_be_labelled = confidence, given.views.ids, can_be_labelled
        self._runner_up = top.renumbered(model.places).other_than(class_ids)
        self.constraint_conflicts_ = known.conflicts
        self.constraint_violations_ = None if known.pairs is None else count_violations(self.labels_, known.pairs)
        if held_out is not None:  # by places in `classes_`
            columns = model.by_class(held_out.probabilities)
            held_out = replace(held_out, class_ids=model.places(held_out.class_ids), probabilities=columns)
        self.held_out_ = held_out

    def _keep_verdicts(self, known: Supervision, rows: Rows, verdicts: LabelVerdicts | None, n_rows: int) -> None:
        """Set what models that have not seen the labels of these rows say of them; None if nothing."""
        self.label_quality_, self._likely_class_ids = _by_row(known, rows, verdicts, n_rows)

    def _judge_labels_later(self, known: Supervision, judge: Callable[[], LabelVerdicts | None]) -> None:
        """Set the same, to be computed when it is first asked for: no answer about other rows needs it."""

        @cache  # one judgement, two attributes
        def verdicts() -> tuple[Matrix, ClassIds]:
            return _by_row(known, known.labelled, judge(), len(known.class_ids))

        self.label_quality_, self._likely_class_ids = Later(lambda: verdicts()[0]), Later(lambda: verdicts()[1])

    def predict(self, X: Any, *, min_confidence: float | None = None) -> npt.NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.
        min_confidence : float, optional
            Abstain where the likeliest class has a smaller probability: -1, or "" among text.

        Returns
        -------
        ndarray of shape (n_rows,)

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> model.predict(made.views[:3]).tolist() == made.target[:3].tolist()
        True
        """
        if min_confidence is not None:
            check_is_fitted(self)
            Number(0, 1).check("min_confidence", min_confidence)
            probabilities = self.predict_proba(X)  # equal for all classes where a row has no view
            unsure = probabilities.max(axis=1) < min_confidence
            return self._model.labels(self._model.top_two(probabilities).class_ids, unsure)
        views = self._read_new(X)
        class_ids, empty = np.empty(len(views), dtype=np.intp), np.zeros(len(views), dtype=bool)
        for chunk, found, is_empty in self._iter_rows(views, "class_ids"):
            class_ids[chunk] = found
            empty[chunk] = False if is_empty is None else is_empty
        return self._model.labels(class_ids, empty if empty.any() else None)

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Equal for all classes where a row has no view at all.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> model.predict_proba(made.views[:5]).shape
        (5, 3)
        """
        parts = []
        for _, probabilities, empty in self._iter_rows(self._read_new(X), "probabilities"):
            if empty is not None:
                probabilities[empty] = 1 / probabilities.shape[1]
            parts.append(probabilities)
        return np.concatenate(parts)

    def _restore(self, before: dict[str, Any]) -> None:
        """Put the estimator back as it was before a fit that failed or was interrupted: the old model, or none."""
        kept = {name: value for name, value in self.__dict__.items() if "callback" in name}
        self.__dict__ = before | kept  # at once: one more interrupt must find the old model or the new one
        # (scikit-learn closes its callbacks after this)

    def _read_new(self, X: Any) -> Views:
        """Read rows with the views of the fit."""
        check_is_fitted(self)
        return self._read_views(X, reset=False)

    def _read_rows(self, X: Any) -> tuple[Views, Presence, Mask | None]:
        """Read such rows, and tell which have which view, and which have none."""
        views = self._read_new(X)
        return views, *self._checks().find_present(views)

    def _iter_rows(self, views: Views, wanted: Wanted) -> Iterator[Chunk]:
        """Read rows chunk by chunk."""
        return predict_chunks(self._model, views, wanted, self._checks(), self.n_jobs)

    def transform(self, X: Any) -> Matrix:
        """Embed rows.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Each row depends on that row only.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> model.transform(made.views[:5]).shape
        (5, 3)
        """
        return np.concatenate([embedded for _, embedded, _ in self._iter_rows(self._read_new(X), "embedding")])

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

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(200, 3, random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.15, random_state=0)
        >>> labels = FSSMSC(n_landmarks=30, random_state=0).fit_predict(made.views, y)
        >>> bool((labels == made.target).mean() > 0.9)
        True
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

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> model.score(made.views, y)  # rows without a label are left out
        1.0
        """
        views = self._read_new(X)
        y, sample_weight = column_of(X, y, "y"), column_of(X, sample_weight, "sample_weight")
        classes, class_ids = encode_labels(
            y, len(views), fitted=self.classes_, unlabelled=self.unlabelled, ids=views.ids
        )
        if len(classes) and (classes.dtype.kind in "US") != (self.classes_.dtype.kind in "US"):
            raise ValueError(
                f"y holds labels such as {classes[0]!r}, but the classes of the fit are such as {self.classes_[0]!r}; "
                "give labels of the same type."
            )
        known = class_ids >= 0
        if not known.any():
            raise ValueError("No row of y has a label, so there is nothing to score against.")
        weights = check_weights(sample_weight, len(class_ids), views.ids)
        if weights is not None and not weights[known].any():
            raise ValueError("sample_weight is zero for every row of y that has a label; at least one must count.")
        hits = self.predict(views)[known] == classes[class_ids[known]]
        return float(np.average(hits, weights=None if weights is None else weights[known]))


def _by_row(known: Supervision, rows: Rows, verdicts: LabelVerdicts | None, n_rows: int) -> tuple[Matrix, ClassIds]:
    """Return the quality of each row's label and the class that is likelier, as a place in `classes_`."""
    quality, likely = np.full(n_rows, np.nan), np.full(n_rows, -1, dtype=np.intp)
    if verdicts is not None:
        places = np.searchsorted(np.sort(known.classes), known.classes)
        quality[rows], likely[rows] = verdicts.quality, places[verdicts.preferred]
    return quality, likely
