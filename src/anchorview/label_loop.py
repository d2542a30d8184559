"""Labels that keep coming: other labels for the rows of a fit, an audit of them, and rows one can rely on."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .base import MultiViewClassifier
from .core.arrays import Mask, Matrix, Rows
from .core.checks import Number, check_number
from .core.progress import as_interrupt
from .engine.blocks import count_threads
from .engine.sources.dask_tasks import WorkerWatch
from .fitting.pipeline import FitRun, Fitted, fit_labels
from .fitting.preparing import Prepared
from .readers.audit import (
    FEWEST,
    ExpectedAccuracy,
    accuracy_by_audit,
    accuracy_by_hidden_labels,
    audit_folds,
    audit_order,
    audited_rows,
    next_audit_rows,
)
from .readers.label_sources import name_sources, number_sources, read_label_sources
from .readers.trusted import TrustedRows, find_trusted
from .supervision.constraints import Constraints


class LabelLoop(MultiViewClassifier):
    """A classifier whose labels may change: what `FSSMSC` does between one label and the next."""

    changed_: float
    _prepared: Prepared
    _label_source: npt.NDArray[np.int8]
    _audit: tuple[Rows, Rows, Mask, Matrix] | None = None  # judged when it is first asked for

    def _publish(self, fitted: Fitted, workers: WorkerWatch, stacklevel: int) -> Self:
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
            Where each label comes from; see `fit`.

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
            workers = WorkerWatch()
            now = self._read_labels_of(given.views, given.present, given.empty, y, weights, constraints)
            sources = read_label_sources(label_source, now.known.class_ids >= 0, now.views.ids)
            if sample_weight is not None:  # sums over codes are of the old weights
                prepared = prepared.with_codes(None)
            self._publish(fit_labels(prepared, now, self._make_run()), workers, stacklevel=3)
            self._keep_sources(sources)
            is_open = (now.known.class_ids < 0) & before["_can_be_labelled"]
            self.changed_ = (
                float(np.mean(self.labels_[is_open] != before["labels_"][is_open])) if is_open.any() else 0.0
            )
        except BaseException as error:
            self._restore(before)
            raise as_interrupt(error)  # noqa: B904  (an error that is no interrupt is raised as it was)
        return self

    def _make_run(self) -> FitRun:
        return FitRun(np.random.RandomState(0), count_threads(self.n_jobs), self, bool(getattr(self, "verbose", False)))

    def _rows_of_fit(self) -> Prepared:
        """Return what a fit knows of its rows; an error if the model was loaded, or copied to another process."""
        prepared: Prepared | None = self.__dict__.get("_prepared")
        if prepared is None:
            raise ValueError(
                f"This {type(self).__name__} was loaded or copied without the rows of its fit, so its labels cannot be "
                "changed; fit again."
            )
        return prepared

    def _keep_sources(self, sources: npt.NDArray[np.str_]) -> None:
        self._label_source, self._audit = number_sources(sources), None

    @property
    def label_source_(self) -> npt.NDArray[np.str_]:
        """Where the label of each row comes from: "random", "suggested", "import" …, "" for rows without one."""
        return name_sources(self._label_source)

    def audit_rows(self, n: int) -> npt.NDArray[Any]:
        """Return the next rows of the audit, to be labelled without looking at the model's guess.

        One random order of all rows is fixed once; its beginning is the audit. Label some of these rows, say every
        fifth that you label, with the source "random", and `expected_accuracy_` is an honest estimate whatever the
        other labels are. Rows of the audit that were labelled for another reason count too.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        ndarray
            Numbers of rows (ids, if the views have ids) that have no label; fewer than `n` if no more are left.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> rows = model.audit_rows(12)
        >>> y[rows] = made.target[rows]
        >>> model = model.update(y, label_source={int(row): "random" for row in rows})
        >>> model.expected_accuracy_.rests_on, model.expected_accuracy_.n_judged >= 12
        ('audit', True)
        """
        check_is_fitted(self)
        check_number("n", n, 1, integer=True)
        rows = next_audit_rows(self._audit_order(), self.label_source_, int(n), self._can_be_labelled)
        found: npt.NDArray[Any] = rows if self._ids is None else self._ids[rows]
        return found

    def _audit_order(self) -> Rows:
        usable = self._can_be_labelled | (self.label_source_ != "")
        return audit_order(len(self.label_source_), usable=usable)

    @property
    def expected_accuracy_(self) -> ExpectedAccuracy | None:
        """The accuracy to expect of `labels_` on rows without a label, with an interval and what it rests on.

        From the audit, where ten of its rows have a label: each is judged by a model that has not seen it, which is
        computed when it is first asked for and takes about ten updates. Else from the labels that were hidden in turn,
        which must then be a random sample of the rows. None if there are neither.
        """
        check_is_fitted(self)
        _, skipped, correct, _ = self._judge_audit()
        if len(correct) >= FEWEST:
            return accuracy_by_audit(correct, len(skipped))
        if self.held_out_ is None:
            return None
        return accuracy_by_hidden_labels(self.held_out_.right, self.label_source_)

    def trusted_rows(self, accuracy: float = 0.95, confidence: float = 0.95) -> TrustedRows:
        """Return the largest set of rows of whose labels an audit shows that enough are right.

        Parameters
        ----------
        accuracy : float, default=0.95
            Share of the labels that must be right.
        confidence : float, default=0.95
            How often such a promise is kept.

        Returns
        -------
        TrustedRows
            ``rows``, none if too few labels of the audit are there; ``n_more`` is how many more would do if they were
            right. Printed, a sentence: ``describe()``.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> digits = datasets.load_handwritten()
        >>> y = datasets.hide_labels(digits.target, 0.05, random_state=0)
        >>> source = {int(row): "random" for row in (y >= 0).nonzero()[0]}  # they were drawn at random
        >>> model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y, label_source=source)
        >>> trusted = model.trusted_rows(0.9)
        >>> len(trusted) > 1000, trusted.bound >= 0.9
        (True, True)
        """
        check_is_fitted(self)
        for name, value in {"accuracy": accuracy, "confidence": confidence}.items():
            Number(0, 1, strict=True).check(name, value)
        _, skipped, correct, sure = self._judge_audit()
        audited = np.concatenate([sure, self.confidence_[skipped]])
        right = np.concatenate([correct, np.zeros(len(skipped), dtype=bool)])
        return find_trusted(self.confidence_, self._can_be_labelled, audited, right, accuracy, confidence)

    def _judge_audit(self) -> tuple[Rows, Rows, Mask, Matrix]:
        """Return labelled and skipped rows of the audit, whether models without their labels are right, and how sure.

        Each part of the audit is judged by a model that learns from all other labels, suggested ones too: a model that
        knows less would not be the one that is judged.
        """
        if self._audit is None:
            rows, skipped = audited_rows(self._audit_order(), self.label_source_)
            right, sure = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
            if len(rows) >= FEWEST:
                prepared, given = self._rows_of_fit(), self._rows_of_fit().given
                for fold in audit_folds(rows):
                    hidden = given.hide(fold)
                    if len(hidden.known.classes) < 2:
                        continue
                    places = np.searchsorted(rows, fold)
                    top = fit_labels(prepared, hidden, self._make_run()).top
                    found = hidden.known.classes[top.class_ids[fold]]
                    right[places] = found == given.known.classes[given.known.class_ids[fold]]
                    sure[places] = top.confidence[fold]
            self._audit = rows, skipped, right, sure
        return self._audit
