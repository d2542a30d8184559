"""How good the labels are: an audit, what accuracy to expect, rows one can rely on, and when to stop."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..core.checks import Number, check_number
from ..engine.blocks import count_threads
from ..model.model import OfAnswer
from ..readers.audit import (
    FEWEST,
    ExpectedAccuracy,
    JudgedAudit,
    accuracy_by_audit,
    accuracy_by_hidden_labels,
    audit_folds,
    audited_rows,
    next_audit_rows,
)
from ..readers.base import HeldOutLabels
from ..readers.label_sources import RANDOM, rows_from
from ..readers.learning_curve import LabelsNeeded, LearningCurve, draw_shares, fit_learning_curve
from ..readers.trusted import TrustedRows, find_trusted
from ..readers.unseen_classes import can_be_corrected, correct_confidence
from ..tuning.summary import estimate_accuracy
from .exploring import ExploredRows
from .notebook import LabelledInNotebook

_FEWEST_COUNTED = 15  # labels below which the share of classes without one is mostly chance


class LabelLoop(ExploredRows, LabelledInNotebook):
    """A classifier whose labels may change, and are judged: what both estimators do between one label and the next."""

    changed_: float
    _audit = OfAnswer[JudgedAudit | None](None)
    _curve = OfAnswer[LearningCurve | None](None)

    def _answers_without(self, rows: Rows) -> tuple[npt.NDArray[Any], Matrix, float]:
        """Return labels and confidence of labelled rows, by a model that learns from all other labels.

        And its mean confidence in the rows that have no label.
        """
        raise NotImplementedError

    def _finish_labels(self, sources: npt.NDArray[np.int8]) -> None:
        """Keep where labels come from, by number, and lower the confidence where classes seem to have no label."""
        self._label_source = sources
        self._audit = self._curve = self._novelty = None
        self.confidence_ = self._corrected(self.confidence_, self._given_class_ids(), self.held_out_)

    def _corrected(self, confidence: Matrix, class_ids: ClassIds, held_out: HeldOutLabels | None) -> Matrix:
        """Return the confidence lowered by the probability that a row's class has no label."""
        counted = None
        random = rows_from(self._label_source, RANDOM) & (class_ids >= 0)
        if np.count_nonzero(random) >= _FEWEST_COUNTED:
            counted = random
        if np.count_nonzero(class_ids >= 0) < _FEWEST_COUNTED or not can_be_corrected(class_ids, held_out, counted):
            return confidence
        n_threads, places = count_threads(self.n_jobs), self._places_of_rows()
        return correct_confidence(confidence, class_ids, places, held_out, counted=counted, n_threads=n_threads)[0]

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
        return self._named(next_audit_rows(self._audit_order(), self.label_source_, int(n), self._can_be_labelled))

    @property
    def expected_accuracy_(self) -> ExpectedAccuracy | None:
        """The accuracy to expect of `labels_` on rows without a label, with an interval and what it rests on.

        From the audit, where ten of its rows have a label: each is judged by a model that has not seen it, which is
        computed when it is first asked for and takes about ten updates. Else from the labels that were hidden in turn,
        which must then be a random sample of the rows. None if there are neither.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(200, 3, random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.15, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> accuracy = model.expected_accuracy_
        >>> accuracy.n_judged, accuracy.low <= accuracy.value <= accuracy.high
        (30, True)
        """
        check_is_fitted(self)
        if len(self._audited()[0]) >= FEWEST and self._can_judge_audit():
            audit = self._judge_audit()
            are_others_chosen = len(audit.rows) < len(self._labelled_rows())
            return accuracy_by_audit(audit.right, len(audit.skipped), gap=audit.gap if are_others_chosen else 0.0)
        return self._accuracy_by_hidden_labels()

    def _accuracy_by_hidden_labels(self) -> ExpectedAccuracy | None:
        held_out = self.held_out_
        if held_out is None or not len(held_out):
            return None
        sizes = np.bincount(self._given_class_ids()[self._labelled_rows()], minlength=len(self.classes_))
        n_alone, n_given = int((sizes == 1).sum()), int(sizes.sum())
        # Not all labels may have been judged: those that could not be count in proportion.
        share = n_alone / max(n_given - n_alone, 1)
        total = float(len(held_out) if held_out.weights is None else held_out.weights.sum())
        if total <= 0:
            return None

        estimate = estimate_accuracy(held_out.right, held_out.weights, n_alone, total * share)
        return accuracy_by_hidden_labels(estimate.score, estimate.interval, len(held_out), self.label_source_)

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
        audit = self._judge_audit()
        audited = np.concatenate([audit.sure, self.confidence_[audit.skipped]])
        right = np.concatenate([audit.right, np.zeros(len(audit.skipped), dtype=bool)])
        return find_trusted(self.confidence_, self._can_be_labelled, audited, right, accuracy, confidence)

    def _audited(self) -> tuple[Rows, Rows]:
        """Return labelled and skipped rows of the audit."""
        return audited_rows(self._audit_order(), self.label_source_)

    def _can_judge_audit(self) -> bool:
        """Return whether rows of the audit can be judged by models that have not seen them."""
        return True

    def _judge_audit(self) -> JudgedAudit:
        """Judge the rows of the audit by models without their labels.

        Each part of the audit is judged by a model that learns from all other labels, suggested ones too: a model that
        knows less would not be the one that is judged.
        """
        if self._audit is None:
            rows, skipped = self._audited()
            right, sure, elsewhere = np.zeros(len(rows), dtype=bool), np.zeros(len(rows)), np.zeros(len(rows))
            if len(rows) >= FEWEST:
                for fold in audit_folds(rows):
                    places = np.searchsorted(rows, fold)
                    labels, sure[places], elsewhere[places] = self._answers_without(fold)
                    right[places] = labels == self.labels_[fold]
            self._audit = JudgedAudit(rows, skipped, right, sure, float(elsewhere.mean()) if len(rows) else 0.0)
        return self._audit

    def _note_changes(self, before: npt.NDArray[Any], is_open: Mask) -> None:
        """Set `changed_`, the share of these rows whose label is another than before."""
        self.changed_ = float(np.mean(self.labels_[is_open] != before[is_open])) if is_open.any() else 0.0

    def learning_curve(self) -> LearningCurve | None:
        """Return how accuracy grows with the number of labels: models that see parts of them are judged on the rest.

        Takes about a dozen updates when it is first asked for.

        Returns
        -------
        LearningCurve or None
            ``accuracy(n)`` is what to expect with so many labels; None if there are too few to hide some.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.4, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> 0 <= model.learning_curve().accuracy(60) <= 1
        True
        """
        check_is_fitted(self)
        if self._curve is None:
            labelled, judging = self._labelled_rows(), self._audited()[0]
            if len(judging) < 3 * FEWEST:  # too few to tell a slope: all labels, as if they were random
                judging = labelled
            n_seen, accuracy, n_judged = [], [], []
            for hidden in draw_shares(labelled, self._given_class_ids()[labelled]):
                judged = np.isin(hidden, judging)
                if judged.any():
                    labels, sure, elsewhere = self._answers_without(hidden)
                    right = (labels == self.labels_[hidden])[judged]
                    n_seen.append(len(labelled) - len(hidden))
                    n_judged.append(len(right))
                    accuracy.append(np.clip(right.mean() + elsewhere - sure[judged].mean(), 0.0, 1.0))
            if len(set(n_seen)) < 2:
                return None
            seen = [np.array(each, dtype=np.float64) for each in (n_seen, accuracy, n_judged)]
            self._curve = fit_learning_curve(seen[0], seen[1], seen[2], len(labelled), self._accuracy_now())
        return self._curve

    def _accuracy_now(self) -> float | None:
        """Return the accuracy on rows without a label, by the audit, or else by the confidence."""
        stated = self.expected_accuracy_
        if stated is not None and stated.rests_on == "audit":
            return stated.value
        return float(self.confidence_[self._can_be_labelled].mean()) if self._can_be_labelled.any() else None

    def labels_needed(self, target: float) -> LabelsNeeded:
        """Return how many more labels are needed to reach an accuracy, with an interval, if this can be estimated.

        Parameters
        ----------
        target : float
            The accuracy, below 1.

        Returns
        -------
        LabelsNeeded
            ``more``, ``low`` and ``high``; None where it cannot be estimated. Printed, a sentence: ``describe()``.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> digits = datasets.load_handwritten()
        >>> y = datasets.hide_labels(digits.target, 0.05, random_state=0)
        >>> model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y)
        >>> model.labels_needed(0.8).more
        0
        """
        Number(0, 1, strict=True).check("target", target)
        curve = self.learning_curve()
        return LabelsNeeded(float(target), None, None, None) if curve is None else curve.labels_needed(target)
