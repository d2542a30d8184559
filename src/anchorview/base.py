"""What every fitted estimator does with rows: read views, say which rows have which, label, predict, score, suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .core.arrays import ClassIds, Mask, Matrix, Presence, Rows, Weights
from .core.checks import Number
from .core.display import html_form
from .core.progress import CallbackSupportMixin
from .cost.estimator import MemoryEstimator
from .data.labels import check_weights, encode_labels
from .data.reading import ColumnGroups
from .data.validation import column_of, find_present, read_views
from .data.view_errors import check_no_empty, check_no_empty_view
from .data.views import Views
from .engine.blocks import count_threads, map_blocks, one_blas_thread, row_blocks
from .engine.sources.dask_rows import join_sources
from .features.auto import FOR_SPARSE
from .features.magnitude import check_magnitude, is_unscaled
from .features.products import ViewCrossProducts
from .features.scaling import ViewsScaler, check_finite
from .fitting.given import FitInput
from .readers.held_out_labels import HeldOutLabels
from .readers.top_two import TopTwo
from .readers.wrong_labels import LabelVerdicts
from .solver.result import Encoder
from .supervision.known import Supervision, read_supervision

CHUNK_ROWS = 65_536  # predicted at a time: rows that are read once, and a bound on memory
OF_FITTED_ROWS = (  # attributes about the single rows of a fit: predictions do not need them
    "codes_",
    "embedding_",
    "labels_",
    "confidence_",
    "relabelled_",
    "constraint_conflicts_",
    "_ids",
    "_can_be_labelled",
    "_runner_up",
    "held_out_",
    "label_quality_",
    "_likely_class_ids",
    "_label_source",
    "_coordinates",
    "_code_space",
)
OF_UPDATES = ("_kept", "_kept_plain")  # what a file keeps of these rows for other labels, on demand
# What only the rows of a fit and other labels for them need: never pickled, copied to workers, or written to files.
_PLACES = ("_coordinates", "_code_space")
OF_LABEL_LOOP = (
    "_prepared",
    "_fitted_input",
    "_plain",
    "_versions",
    "_audit",
    "_curve",
    "_novelty",
    "_row_groups",
    "_report",
)


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
    codes_: sparse.csr_array
    landmarks_: Matrix
    landmark_embedding_: Matrix
    embedding_: Matrix
    labels_: npt.NDArray[Any]
    confidence_: Matrix
    label_quality_: Matrix
    held_out_: HeldOutLabels | None
    fit: Any
    _kept_after_failure: tuple[str, ...] = ()  # attributes that a later fit may go on from
    _ids: npt.NDArray[Any] | None
    _can_be_labelled: Mask
    _scaler: ViewsScaler
    _encoder: Encoder
    _class_order: Rows | None = None  # number, in the fit, of each class of `classes_`; None if they are the same

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without what only `update` needs: the rows of the fit, which belong to the user."""
        state: dict[str, Any] = dict(super().__getstate__())
        # Places of rows are computed when they are asked for: the same model gives the same bytes.
        return {name: value for name, value in state.items() if name not in (*OF_LABEL_LOOP, *_PLACES)}

    if not TYPE_CHECKING:  # or any name would be an attribute to type checkers

        def __getattr__(self, name: str) -> Any:
            """Say why an attribute is not there: the file of the model may have been written without it."""
            about = f"{type(self).__name__!r} object has no attribute {name!r}"
            if {name, f"_{name.rstrip('_')}"} & set(self.__dict__.get("_left_out", ())):
                about = (
                    f"This {type(self).__name__} was loaded from a file without the rows of its fit, so there is no "
                    f"{name} (nor what rests on it, such as suggest_labels). To keep it, save the fitted model by "
                    "anchorview.save(model, path, rows=True)."
                )
            raise AttributeError(about)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the embedding has the precision of the rows."""
        tags = super().__sklearn_tags__()
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

    def _read_classes(self, views: Views, present: Presence, n_threads: int) -> Matrix:
        """Return the class probabilities of rows, by the numbers that classes have in the fit."""
        raise NotImplementedError

    def _probabilities(self, views: Views, present: Presence, n_threads: int) -> Matrix:
        """Return the class probabilities of rows, a column for each of `classes_`."""
        return self._by_class(self._read_classes(views, present, n_threads))

    def _publish_classes(self, classes: npt.NDArray[Any]) -> None:
        """Set `classes_`, sorted; the fit numbers them by their first rows, so that their names make no difference."""
        order = np.argsort(classes)
        self.classes_ = classes[order]
        self._class_order = None if np.array_equal(order, np.arange(len(order))) else order

    def _by_class(self, probabilities: Matrix) -> Matrix:
        """Bring columns from the order of the fit to that of `classes_`."""
        return probabilities if self._class_order is None else probabilities[:, self._class_order]

    def _places(self, class_ids: ClassIds) -> ClassIds:
        """Turn numbers of classes in the fit, −1 for none, into places in `classes_`."""
        if self._class_order is None:
            return class_ids
        places: ClassIds = np.append(np.argsort(self._class_order), -1)[class_ids]
        return places

    def _top_two(self, probabilities: Matrix) -> TopTwo:
        """Return the likeliest two of `classes_`; of equal ones that of the first labelled row, whatever its name."""
        if self._class_order is None:
            return TopTwo.of(probabilities)
        return TopTwo.of(probabilities[:, np.argsort(self._class_order)]).renumbered(self._places)

    def _read_rows(self, X: Any, *, reset: bool) -> tuple[Views, Presence, Mask | None]:
        """Return the views, which rows have which, and which have none: an error unless `on_empty` allows it."""
        views = self._read_views(X, reset=reset)
        return views, *self._find_present(views)

    def _read_views(self, X: Any, *, reset: bool) -> Views:
        takes_sparse = not isinstance(self.scaling, str) or self.scaling in FOR_SPARSE
        views = read_views(self, X, reset=reset, accept_sparse=takes_sparse, accept_missing=True, accept_stored=True)
        views.check_unchanged()
        return views

    def _find_present(self, views: Views) -> tuple[Presence, Mask | None]:
        """Return which rows have which view, and which have none."""
        present = find_present(views)
        if present is None or present.any(axis=1).all():
            return present, None
        if self.on_empty != "drop":
            check_no_empty(present, views.ids)
        empty: Mask = np.logical_not(present.any(axis=1))
        return present, empty

    def _read_input(self, X: Any, y: Any, sample_weight: Any, constraints: Any = None) -> FitInput:
        """Read and check everything that a fit is given."""
        views, present, empty = self._read_rows(X, reset=True)
        if not (views.is_stored or views.is_on_cluster):  # one more pass over a store may take as long as the fit
            check_magnitude(views, present, unscaled=is_unscaled(self.scaling))
        y, sample_weight = column_of(X, y, "y"), column_of(X, sample_weight, "sample_weight")
        return self._read_labels_of(views, present, empty, y, sample_weight, constraints)

    def _read_labels_of(
        self, views: Views, present: Presence, empty: Mask | None, y: Any, sample_weight: Any, constraints: Any
    ) -> FitInput:
        """Read and check labels, weights and pairs of rows."""
        weights = given_weights = check_weights(sample_weight, len(views), views.ids)
        counted = None if weights is None else weights > 0
        known = read_supervision(y, constraints, views, empty, self.unlabelled, counted)
        if present is not None:
            check_no_empty_view(present, views.names, weights)
            weights = _weigh_by_views(weights, present)
        n_counted = len(views) if weights is None else int(np.count_nonzero(weights))
        return FitInput(views, present, empty, weights, given_weights, known, n_counted)

    def _label_rows(self, given: FitInput, probabilities: Matrix) -> None:
        """Set the labels and the confidence of the rows of the fit; labelled rows keep their labels."""
        self._set_labels(given, TopTwo.of(probabilities))

    def _set_labels(self, given: FitInput, found: TopTwo) -> None:
        known = given.known
        is_labelled = known.class_ids >= 0
        class_ids = np.where(is_labelled, known.class_ids, found.class_ids)
        self.labels_ = self.classes_[self._places(class_ids)]
        self.confidence_ = found.confidence.copy()
        self.confidence_[is_labelled] = 1.0
        if given.empty is not None:
            self.labels_ = mark_unknown(self.labels_, given.empty)
            self.confidence_[given.empty] = 0.0
        can_be_labelled = ~is_labelled
        if given.empty is not None:
            can_be_labelled &= ~given.empty
        if given.weights is not None:
            can_be_labelled &= given.weights > 0
        self._ids, self._can_be_labelled = given.views.ids, can_be_labelled
        self._runner_up = found.renumbered(self._places).other_than(self._places(class_ids))

    def _publish_held_out(self, held_out: HeldOutLabels | None) -> None:
        """Set `held_out_`, by places in `classes_`."""
        if held_out is not None:
            columns = self._by_class(held_out.probabilities)
            held_out = replace(held_out, class_ids=self._places(held_out.class_ids), probabilities=columns)
        self.held_out_ = held_out

    def _keep_verdicts(self, known: Supervision, rows: Rows, verdicts: LabelVerdicts | None, n_rows: int) -> None:
        """Set what models that have not seen the labels of these rows say of them; None if nothing."""
        self.label_quality_ = np.full(n_rows, np.nan)
        self._likely_class_ids: ClassIds = np.full(n_rows, -1, dtype=np.intp)  # the report tells what they prefer
        if verdicts is not None:
            places = np.searchsorted(np.sort(known.classes), known.classes)  # in `classes_`
            self.label_quality_[rows], self._likely_class_ids[rows] = verdicts.quality, places[verdicts.preferred]

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
        """
        check_is_fitted(self)
        if min_confidence is not None:
            Number(0, 1).check("min_confidence", min_confidence)
            probabilities = self.predict_proba(X)  # equal for all classes where a row has no view
            unsure = probabilities.max(axis=1) < min_confidence
            return mark_unknown(self.classes_[self._top_two(probabilities).class_ids], unsure)
        views = self._read_views(X, reset=False)
        class_ids, empty = np.empty(len(views), dtype=np.intp), np.zeros(len(views), dtype=bool)
        for chunk, found, is_empty in self._iter_chunks(views, self._class_ids):
            class_ids[chunk] = found
            empty[chunk] = False if is_empty is None else is_empty
        predicted: npt.NDArray[Any] = self.classes_[class_ids]
        return mark_unknown(predicted, empty) if empty.any() else predicted

    def _class_ids(self, views: Views, present: Presence, n_threads: int) -> ClassIds:
        """Return the likeliest class of rows, as a place in `classes_`."""
        return self._places(self._read_classes(views, present, n_threads).argmax(axis=1))

    def _labels_of(self, class_ids: ClassIds, empty: Mask) -> npt.NDArray[Any]:
        """Return the labels of rows, whose type does not depend on whether any of them is empty."""
        predicted: npt.NDArray[Any] = self.classes_[class_ids]
        return mark_unknown(predicted, empty) if self.on_empty == "drop" else predicted

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
        """
        check_is_fitted(self)
        parts = []
        for _, probabilities, empty in self._iter_probabilities(self._read_views(X, reset=False)):
            if empty is not None:
                probabilities[empty] = 1 / probabilities.shape[1]
            parts.append(probabilities)
        return np.concatenate(parts)

    def _restore(self, before: dict[str, Any]) -> None:
        """Put the estimator back as it was before a fit that failed or was interrupted: the old model, or none."""
        names = [name for name in self.__dict__ if name in self._kept_after_failure or "callback" in name]
        kept = {name: self.__dict__[name] for name in names}  # scikit-learn closes its callbacks after this
        self.__dict__ = before | kept  # at once: one more interrupt must find the old model or the new one

    def _iter_probabilities(self, views: Views) -> Iterator[tuple[slice, Matrix, Mask | None]]:
        """Return the probabilities of rows chunk by chunk, with the chunk and which of its rows have no view."""
        return self._iter_chunks(views, self._probabilities)

    def _iter_chunks(
        self, views: Views, work: Callable[[Views, Presence, int], Any]
    ) -> Iterator[tuple[slice, Any, Mask | None]]:
        """Work on rows chunk by chunk: rows of a store are read once, and memory does not grow with them."""
        n_threads = count_threads(self.n_jobs)
        if views.is_on_cluster:
            yield from self._iter_on_cluster(views, work.__name__)
            return
        chunks = row_blocks(len(views), CHUNK_ROWS)
        for chunk in chunks:
            part = views if len(chunks) == 1 and not views.is_stored else views[chunk]
            try:
                with one_blas_thread():  # once for all steps: each sets and restores the limit if nobody holds it
                    present, empty = self._find_present(part)
                    check_magnitude(part, present, chunk.start, unscaled=is_unscaled(self.scaling))
                    result = work(part, present, n_threads)
            except ValueError:
                if len(chunks) > 1:  # the same, by the numbers that rows have in all of them
                    check_finite(views, n_threads, self._find_present(views)[0])
                raise
            yield chunk, result, empty
        views.check_unchanged()

    def _iter_on_cluster(self, views: Views, work: str) -> Iterator[tuple[slice, Any, Mask | None]]:
        """Work on the blocks of views on Dask where they are; what is asked for comes back, the rows do not."""
        model = object.__new__(type(self))
        kept = {"_code_space"}  # what places new rows
        left_out = {*OF_FITTED_ROWS, *OF_UPDATES, *OF_LABEL_LOOP, *self._kept_after_failure} - kept
        model.__dict__ = {name: value for name, value in self.__dict__.items() if name not in left_out}
        rows = join_sources(views.names, views.arrays)
        try:
            yield from rows.map(_WorkOnBlock(model, work, views.names), (views.present,))
        except ValueError:  # the same, by the numbers that rows have in all of them
            check_finite(views, 1, self._find_present(views)[0])
            raise

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
        """
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        return np.concatenate([embedded for _, embedded, _ in self._iter_chunks(views, self._transform)])

    def _transform(self, views: Views, present: Presence, n_threads: int) -> Matrix:
        return self._map_products(views, present, n_threads, self._embed_products)

    def _embed_products(self, products: Matrix, present: Presence) -> Matrix:
        return self._embed(self._encoder.encode(products, present))

    def _map_products(
        self, views: Views, present: Presence, n_threads: int, work: Callable[[Matrix, Presence], Matrix]
    ) -> Matrix:
        """Return what `work` makes of the rows of E, block by block, and of the views that these have."""
        cross = ViewCrossProducts(views, self._scaler, self.landmarks_, present=present, for_prediction=True)

        def of_block(block: slice) -> Matrix:
            products = cross.read(block)
            if not np.isfinite(products.sum()):  # NaN and infinity pass through the product: no extra pass over X
                check_finite(views, present=present)
            return work(products, cross.present_in(block))

        return np.concatenate(map_blocks(of_block, cross.blocks, n_threads, "encoding"))

    def _embed(self, codes: sparse.csr_array) -> Matrix:
        embedding: Matrix = (codes @ self.landmark_embedding_.T).astype(self._scaler.dtype)
        return embedding

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
        views = self._read_views(X, reset=False)
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


@dataclass(frozen=True)
class _WorkOnBlock:
    """What a fitted model does with the rows of a block on a cluster."""

    model: Any  # without what belongs to the rows of its fit
    function: str  # name of its method
    names: list[str]

    def __call__(self, arrays: list[Any], block: slice, present: Presence) -> tuple[slice, Any, Mask | None]:
        views = Views(arrays, names=self.names, mask=present)
        has_view, empty = self.model._find_present(views)
        check_magnitude(views, has_view, block.start, unscaled=is_unscaled(self.model.scaling))
        return block, getattr(self.model, self.function)(views, has_view, 1), empty


def mark_unknown(labels: npt.NDArray[Any], empty: Mask) -> npt.NDArray[Any]:
    """Label rows about which nothing is known: -1, or "" among text."""
    labels = labels.copy()
    if labels.dtype.kind in "US":
        labels[empty] = ""
        return labels
    if labels.dtype.kind in "bu":
        labels = labels.astype(np.int64)
    labels[empty] = -1
    return labels


def _weigh_by_views(weights: Weights, present: Mask) -> Matrix:
    """Combine the weights given with how much of each row is there.

    A row's data term is V/|p| times that of its |p| present views (docs/method.md, "Missing views"); a weight of |p|/V
    makes it count for what it has. Without it, rows with one view of six would count as much as the others.
    """
    share: Matrix = present.mean(axis=1, dtype=np.float64)
    return share if weights is None else weights * share
