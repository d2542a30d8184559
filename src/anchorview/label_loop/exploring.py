"""Rows of a fit by their codes: which to label next, which belong to no labelled class, and groups of these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..base import MultiViewClassifier
from ..core.arrays import ClassIds, Matrix, Rows
from ..core.checks import Number
from ..data.views import Views
from ..engine.blocks import count_threads
from ..model.model import OfAnswer, OfRows
from ..readers.audit import AUDITED, audit_order, next_audit_rows
from ..readers.code_space import CodeSpace, fit_code_space
from ..readers.group_tree import GroupTree, make_group_tree
from ..readers.label_sources import IMPORT, RANDOM, SKIPPED, SUGGESTED, UNKNOWN, name_sources, rows_from
from ..readers.novel_features import distinguishing_features, draw_some
from ..readers.novel_groups import NEW, NovelGroup, group_novel_rows
from ..readers.novelty import NoveltyModel, fit_novelty
from ..readers.suggest import LabelQueue, Suggestion, check_request, make_queue, restrict
from ..readers.unlikeness import Unlikeness, drawn_rows, fit_unlikeness

_UNSURE = 0.8  # a label with a smaller probability is in doubt for itself, not only as one of many


class ExploredRows(MultiViewClassifier):
    """A classifier that knows its rows by their codes.

    Places and groups depend on the features alone: they are computed when they are first asked for, and stay when
    labels change.
    """

    _label_source = OfRows["npt.NDArray[np.int8]"]()
    _coordinates = OfAnswer[Matrix | None](None)  # of the rows of the fit, in `_code_space`
    _code_space = OfAnswer[CodeSpace | None](None)
    _row_groups = OfAnswer[GroupTree | None](None)
    _unlikeness = OfAnswer[Unlikeness | None](None)
    _novelty = OfAnswer[tuple[NoveltyModel | None, Matrix | None] | None](None)  # of these labels

    @property
    def label_source_(self) -> npt.NDArray[np.str_]:
        """Where the label of each row comes from: "random", "suggested", "import" …, "" for rows without one.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(200, 3, random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.15, random_state=0)
        >>> source = dict.fromkeys([row for row in range(200) if y[row] >= 0], "random")
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y, label_source=source)
        >>> model.label_source_.tolist().count("random")
        30
        """
        check_is_fitted(self)
        if "_label_source" not in (self.__dict__.get("_rows") or {"_label_source"}):  # of an older file
            is_labelled = ~self._can_be_labelled & np.isin(self.labels_, self.classes_) & (self.confidence_ == 1)
            return np.where(is_labelled, UNKNOWN, "")
        return name_sources(self._label_source)

    def _forget_places(self) -> None:
        """Forget what is known of rows that are no longer those of the fit."""
        del self._coordinates, self._code_space, self._row_groups, self._unlikeness

    def _keep_rows(self) -> None:
        """Keep what other labels need of the rows of the fit, for a file."""
        raise NotImplementedError

    def _drop_kept_rows(self) -> None:
        """Forget what was kept for a file, if it is here in another form."""
        if "_prepared" in self.__dict__:
            self.__dict__.pop("_kept", None)
        plain = self.__dict__.get("_kept_plain")
        if plain is not None and "_fitted_input" in self.__dict__:
            plain._drop_kept_rows()
            self.__dict__.pop("_kept_plain")

    def _places_of_rows(self) -> Matrix:
        """Return coordinates of the rows of the fit, alike where rows use the same landmarks."""
        if self._coordinates is None or self._code_space is None:
            # Copies of the model have these codes only: they are to answer as it does.
            self._code_space = fit_code_space(self.codes_)
            self._coordinates = self._code_space.coordinates(self.codes_).astype(np.float32)
        return self._coordinates

    def _unlikeness_of_rows(self) -> Unlikeness | None:
        """Return how unlike all others rows are; None if their features are not here, or on a cluster."""
        views = self._views_of_fit()
        if self._unlikeness is None and views is not None and not views.is_on_cluster:
            usable = self._can_be_labelled | (self.label_source_ != "")
            rows = drawn_rows(usable)
            drawn = np.concatenate([each for _, each, _ in self._iter_rows(views[rows], "products")])
            products = (each for _, each, _ in self._iter_rows(views, "products"))
            self._unlikeness = fit_unlikeness(drawn, rows, products, usable)
        return self._unlikeness

    def _groups_of_rows(self) -> GroupTree:
        if self._row_groups is None:
            self._row_groups = make_group_tree(self._places_of_rows())
        return self._row_groups

    def _given_class_ids(self) -> ClassIds:
        """Return the label given of each row, as a place in `classes_`, and −1 without one."""
        class_ids = np.full(len(self.labels_), -1, dtype=np.intp)
        rows = self._labelled_rows()
        class_ids[rows] = np.searchsorted(self.classes_, self.labels_[rows])
        return class_ids

    def _labelled_rows(self) -> Rows:
        if "_label_source" not in (self.__dict__.get("_rows") or ()):  # of an older file
            return np.flatnonzero(~np.isin(self.label_source_, ("", SKIPPED)))
        return np.flatnonzero(~rows_from(self._label_source, "", SKIPPED))

    def _audit_order(self) -> Rows:
        usable = self._can_be_labelled | (self.label_source_ != "")
        return audit_order(len(self.label_source_), usable=usable)

    def _named(self, rows: Rows) -> npt.NDArray[Any]:
        """Return ids of rows, or their numbers if they have no ids."""
        return rows if self._ids is None else self._ids[rows]

    # Which rows to label next

    @overload
    def suggest_labels(
        self, n: int, *, among: Any = ..., audit: float = ..., explain: Literal[False] = ...
    ) -> npt.NDArray[Any]: ...

    @overload
    def suggest_labels(
        self, n: int, *, among: Any = ..., audit: float = ..., explain: Literal[True]
    ) -> list[Suggestion]: ...

    def suggest_labels(
        self, n: int, *, among: Any = None, audit: float = AUDITED, explain: bool = False
    ) -> npt.NDArray[Any] | list[Suggestion]:
        """Suggest rows of the fit to label next: where most mistakes are expected, spread over the data.

        Label them, then call `update` or fit again. Work in rounds of about twenty labels. Large groups without a label
        come first, because they may be classes without labels. The result is deterministic.

        Parameters
        ----------
        n : int
            Number of rows.
        among : array-like, optional
            Choose among these rows only: row numbers (ids, if the views have ids). No audit rows are included.
        audit : float, default=0.2
            Share of audit rows: by default every fifth row is the next of `audit_rows`. They give an unbiased estimate
            of the accuracy.
        explain : bool, default=False
            Also return reasons.

        Returns
        -------
        ndarray of shape (n,), or list of Suggestion
            Numbers of rows (ids, if the views have ids) that have no label, the most useful first. With `explain`
            each as a `Suggestion`: ``row``, ``source`` (what to give as `label_source`), ``reason`` and ``size``.

        Examples
        --------
        >>> import numpy as np
        >>> from anchorview import FSSMSC, datasets
        >>> digits = datasets.load_handwritten()
        >>> start = FSSMSC(10, n_landmarks=100, random_state=0).fit(digits.views)  # no label yet: one of each group
        >>> rows = start.suggest_labels(40)
        >>> y = np.full(2000, -1)
        >>> y[rows] = digits.target[rows]  # ask someone who knows
        >>> model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y)
        >>> len(model.classes_), bool((model.labels_ == digits.target).mean() > 0.9)
        (10, True)
        >>> bool(y[model.suggest_labels(20)].max() == -1)
        True
        >>> [each.source for each in model.suggest_labels(5, explain=True)]
        ['suggested', 'suggested', 'suggested', 'suggested', 'random']
        """
        check_is_fitted(self)
        Number(0, 1).check("audit", audit)
        candidates = restrict(self._can_be_labelled & (self.label_source_ != SKIPPED), among, self._ids)
        check_request(n, candidates)
        n, share = int(n), 0.0 if among is not None else float(audit)
        drawn = next_audit_rows(self._audit_order(), self.label_source_, n, candidates) if share else np.arange(0)
        queue = make_queue(
            self._groups_of_rows(),
            self._places_of_rows(),
            np.where(self._can_be_labelled, 1 - self.confidence_, 0.0),
            candidates,
            n,
            drawn,
            share=share,
            labelled=self._labelled_rows(),
            n_classes=len(self.classes_),
        )
        names = self._named(queue.rows)
        if not explain:
            return names
        sources = np.where(queue.is_audit, RANDOM, SUGGESTED).tolist()
        told = zip(names.tolist(), sources, self._reasons(queue), queue.sizes.tolist(), strict=True)
        return [Suggestion(*each) for each in told]

    def _reasons(self, queue: LabelQueue) -> list[str]:
        seconds, _ = self._runner_up
        has_labels, reasons = len(self._labelled_rows()) > 0, []
        listed = queue.rows.tolist(), queue.sizes.tolist(), queue.in_new_groups, queue.is_audit
        for row, size, is_new, drawn in zip(*listed, strict=True):
            many = "a row" if size == 1 else f"a group of {size:,} rows"
            if drawn:
                reasons.append("drawn at random, to tell how accurate the labels are")
            elif is_new:
                reasons.append(f"{many} without a label")
            elif not has_labels:
                reasons.append(f"the middle of {many}")
            elif self.confidence_[row] < _UNSURE and seconds[row] >= 0:
                reasons.append(f"unsure: {self.labels_[row]} or {self.classes_[seconds[row]]}")
            else:
                reasons.append(f"{many} among which mistakes are likely")
        return reasons

    # Rows of no labelled class

    @property
    def novelty_(self) -> Matrix | None:
        """Score from 0 to 1 of how likely each row belongs to a class without labels; 0 for labelled rows.

        At 0.5 a row resembles unlabelled classes as much as labelled ones. The score is not an estimate of how many
        rows belong to unlabelled classes, and it does not change `labels_`. It is computed on first access. None if
        fewer than two classes have labels.

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(200, 3, random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.15, random_state=0)
        >>> y[made.target == 2] = -1  # nobody has labelled this class
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> bool(model.novelty_[made.target == 2].mean() > model.novelty_[made.target != 2].mean())
        True
        """
        check_is_fitted(self)
        return self._novelty_of_rows()[1]

    def _novelty_of_rows(self) -> tuple[NoveltyModel | None, Matrix | None]:
        if self._novelty is None:
            class_ids, places = self._given_class_ids(), self._places_of_rows()
            n_threads = count_threads(self.n_jobs)
            drawn = np.isin(self.label_source_, [RANDOM, UNKNOWN, IMPORT])
            unlike = self._unlikeness_of_rows()
            of_rows = None if unlike is None else unlike.of_rows
            model = fit_novelty(
                places,
                class_ids,
                self.confidence_,
                self.held_out_,
                n_threads,
                drawn_at_random=drawn,
                unlikeness=of_rows,
            )
            novelty = None
            if model is not None:
                novelty = model.novelty(places, self.confidence_, of_rows, n_threads)
                novelty[~self._can_be_labelled] = 0.0
            self._novelty = model, novelty
        return self._novelty

    def novelty(self, X: Any) -> Matrix:
        """Return a score from 0 to 1 of how likely new rows belong to a class without labels; see `novelty_`.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> digits = datasets.load_handwritten()
        >>> y = datasets.hide_labels(digits.target, 0.05, random_state=0)
        >>> y[digits.target >= 8] = -1  # nobody has named eight and nine
        >>> model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y)
        >>> new = model.novelty(digits.views)
        >>> bool(new[digits.target >= 8].mean() > 3 * new[digits.target < 8].mean())
        True
        """
        views = self._read_new(X)
        judged = [shares.max(axis=1) for _, shares, _ in self._iter_rows(views, "probabilities")]
        return self._novelty_of_new(views, np.concatenate(judged))

    def _novelty_of_new(self, X: Any, confidence: Matrix) -> Matrix:
        """Return the novelty of new rows whose labels have been predicted with this confidence."""
        model = self._novelty_of_rows()[0]
        if model is None:
            raise ValueError("Novelty needs labels of at least two classes, and rows without a label.")
        space = self._code_space
        assert space is not None  # set with the coordinates of the rows
        views = self._read_new(X)
        placed = np.concatenate([space.coordinates(codes) for _, codes, _ in self._iter_rows(views, "codes")])
        unlike, how_unlike = self._unlikeness_of_rows(), None
        if unlike is not None:
            how_unlike = np.concatenate([unlike.of(each) for _, each, _ in self._iter_rows(views, "products")])
        return model.novelty(placed.astype(np.float32), confidence, how_unlike, count_threads(self.n_jobs))

    @property
    def novel_groups_(self) -> list[NovelGroup]:
        """Groups of rows that seem to belong to classes without labels, largest first; see `novelty_`.

        Each has ``rows``, ``size``, ``central`` (the rows to look at first), ``novelty`` (the mean), and ``features``
        (what sets it apart, for views in memory: view, feature, how many standard deviations above the mean).

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(200, 3, random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.15, random_state=0)
        >>> y[made.target == 2] = -1  # nobody has labelled this class
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> group = model.novel_groups_[0]
        >>> bool((made.target[group.rows] == 2).mean() > 0.9)
        True
        """
        check_is_fitted(self)
        novelty = self._novelty_of_rows()[1]
        if novelty is None:
            return []
        sizes = np.unique(self.labels_[novelty <= NEW], return_counts=True)[1]  # of classes with a label
        found = np.searchsorted(self.classes_, self.labels_)
        found = np.where(np.isin(self.labels_, self.classes_), found, -1)  # a row without any view has no class
        about = novelty, self._can_be_labelled, float(np.median(sizes))
        groups = group_novel_rows(self._places_of_rows(), *about, class_ids=found)
        return [self._describe_group(group) for group in groups]

    def _describe_group(self, group: NovelGroup) -> NovelGroup:
        """Return a group with what sets it apart, if the features are here."""
        views = self._views_of_fit()
        if views is None or views.is_on_cluster or views.is_stored:
            return group
        rng = np.random.RandomState(0)
        inside, every = (draw_some(rows, rng) for rows in (group.rows, np.arange(len(views))))
        return replace(group, features=distinguishing_features(views.names, views[inside].arrays, views[every].arrays))

    def _views_of_fit(self) -> Views | None:
        """Return the features of the fit; None if they are not here."""
        return None
