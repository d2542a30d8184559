"""Other labels for the rows of a fit, without another look at the features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Matrix, Rows
from ..core.progress import as_interrupt
from ..data.views import Views
from ..engine.blocks import count_threads
from ..engine.sources.dask_tasks import WorkerWatch
from ..fitting.kept_fit import KeptFit, keep_fit, restore_fit, rows_without_features
from ..fitting.pipeline import Fitted, fit_labels
from ..fitting.preparing import Prepared
from ..fitting.reviewing import review_labels
from ..fitting.spec import FitParameters, FitRun
from ..model.model import OfProcess
from ..readers.label_sources import number_sources, read_label_sources
from ..readers.wrong_labels import LabelVerdicts
from ..supervision.constraints import Constraints
from .judging import LabelLoop


class UpdatedLabels(LabelLoop):
    """A single model whose labels may change."""

    chosen_: dict[str, Any]
    paper_weights_: dict[str, float]
    view_sizes_: list[int]
    _prepared = OfProcess[Prepared]()
    _kept: KeptFit

    def _publish(self, fitted: Fitted, workers: WorkerWatch | None, stacklevel: int) -> Self:
        raise NotImplementedError

    def update(
        self,
        y: Any,
        *,
        sample_weight: Any = None,
        constraints: Constraints | None = None,
        label_source: Any = None,
    ) -> Self:
        """Learn from another set of labels for the rows of the fit: more, fewer, corrected, or of new classes.

        Settings, landmarks and codes stay those of the fit, so this takes a fraction of its time; probabilities are
        those of a fit with these settings and landmarks (`chosen_`, `landmarks_`). If it fails or is interrupted, the
        model stays as it was. The rows themselves are not copied: they must be unchanged.

        Parameters
        ----------
        y : array-like of shape (n_rows,), Series or mapping
            All labels, not only the new ones; -1 (None or "" among strings) where there is none.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; by default those of the fit.
        constraints : Constraints, optional
            All pairs; those of the fit are not kept.
        label_source : mapping, Series or array-like of str, optional
            Where each label comes from; see `fit`. Labels that it does not name, and that were there before, keep
            their source.

        Returns
        -------
        self
            `changed_` is the share of rows without a label whose class has changed.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> digits = datasets.load_handwritten()
        >>> y = datasets.hide_labels(digits.target, 0.02, random_state=0)
        >>> model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y)
        >>> rows = model.suggest_labels(20)
        >>> y[rows] = digits.target[rows]  # ask someone who knows
        >>> model = model.update(y)
        >>> bool((model.labels_[rows] == digits.target[rows]).all()), model.changed_ < 0.2
        (True, True)
        """
        check_is_fitted(self)
        prepared = self._rows_of_fit()
        given, before = prepared.given, dict(self.__dict__)
        weights = given.sample_weight if sample_weight is None else sample_weight
        try:
            workers = WorkerWatch() if given.views.is_on_cluster else None
            now = self._read_labels_of(given.views, given.present, given.empty, y, weights, constraints)
            labelled = now.known.class_ids >= 0
            sources = number_sources(read_label_sources(label_source, labelled, now.views.ids, self.label_source_))
            if sample_weight is not None:  # sums over codes are of the old weights
                prepared = prepared.without_codes()
            fitted = fit_labels(prepared, now, self._make_run(), review=given.views.is_on_cluster)
            self._publish(fitted, workers, stacklevel=3)
            if fitted.review.verdicts is None:
                self._judge_labels_later(now.known, self._label_judge(fitted))
            self._finish_labels(sources)
            is_open = ~labelled & before["_rows"]["_can_be_labelled"]
            self._note_changes(before["_rows"]["labels_"], is_open)
        except BaseException as error:
            self._restore(before)
            raise as_interrupt(error)  # noqa: B904  (an error that is no interrupt is raised as it was)
        return self

    def _label_judge(self, fitted: Fitted) -> Callable[[], LabelVerdicts | None]:
        """Return what judges the labels of an update, once somebody asks for it."""
        given, source, n_threads = fitted.given, fitted.prepared.source, count_threads(self.n_jobs)
        return lambda: review_labels(given, source, n_threads).verdicts

    def _make_run(self) -> FitRun:
        return FitRun(np.random.RandomState(0), count_threads(self.n_jobs), self, bool(getattr(self, "verbose", False)))

    def _rows_of_fit(self) -> Prepared:
        """Return what a fit knows of its rows; an error if the model was loaded, or copied to another process."""
        prepared: Prepared | None = self.__dict__.get("_prepared")
        if prepared is None:
            prepared = self._prepared = self._restore_rows()
        return prepared

    def _restore_rows(self) -> Prepared:
        """Return what a file has kept of the rows of the fit."""
        kept: KeptFit | None = self.__dict__.get("_kept")
        if kept is None:
            raise ValueError(
                f"This {type(self).__name__} was loaded or copied without the rows of its fit, so its labels cannot be "
                "changed; fit again, or save the fitted model by anchorview.save(model, path, updates=True)."
            )
        views = rows_without_features(len(kept.products), list(self.view_names_), list(self.view_sizes_), self._ids)
        labels = np.full(len(views), None, dtype=object)
        rows = self._labelled_rows()
        labels[rows] = self.labels_[rows].tolist()
        given = self._read_labels_of(views, kept.present, kept.empty, labels, kept.sample_weight, None)
        return restore_fit(kept, given, FitParameters.of(self), self._model.embedder.scaler, self.landmarks_)

    def _keep_rows(self) -> None:
        """Keep what other labels need of the rows of the fit, for a file."""
        self._kept = keep_fit(self._rows_of_fit(), dict(self.chosen_), dict(self.paper_weights_))
        self._places_of_rows()

    def _views_of_fit(self) -> Views | None:
        prepared: Prepared | None = self.__dict__.get("_prepared")
        return None if prepared is None or "_kept" in self.__dict__ else prepared.given.views

    def _can_judge_audit(self) -> bool:
        return "_prepared" in self.__dict__ or "_kept" in self.__dict__ or self._audit is not None

    def _answers_without(self, rows: Rows) -> tuple[npt.NDArray[Any], Matrix, float]:
        prepared = self._rows_of_fit()
        hidden = prepared.given.hide(rows)
        if len(hidden.known.classes) < 2:  # nothing to tell apart: whatever is answered is no answer
            return np.full(len(rows), None, dtype=object), np.zeros(len(rows)), 0.0
        fitted = fit_labels(prepared, hidden, self._make_run(), review=False)
        confidence = self._corrected(fitted.top.confidence, hidden.known.class_ids, fitted.held_out)
        labels: npt.NDArray[Any] = hidden.known.classes[fitted.top.class_ids[rows]]
        others = self._can_be_labelled if self._can_be_labelled.any() else slice(None)
        return labels, confidence[rows], float(confidence[others].mean())
