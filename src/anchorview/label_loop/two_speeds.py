"""Other labels for a tuned model, at two speeds: a plain model with its settings at once, a new search when it is done.

A search takes minutes, and somebody who labels does not wait. `update` answers with a plain model of the best settings;
`refit` searches anew, in the background if asked, and its model takes over when it is put in place. Every answer is a
version that one can go back to.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Matrix, Rows
from ..core.progress import as_interrupt
from ..data.views import Views
from ..model.model import OfAnswer, OfProcess, names_declared
from ..readers.audit import ExpectedAccuracy, JudgedAudit, accuracy_by_hidden_labels
from ..readers.label_sources import read_label_sources
from ..supervision.constraints import Constraints, RowConstraints
from ..supervision.given import FitInput
from .judging import LabelLoop
from .updating import UpdatedLabels

_MOST_VERSIONS = 10  # each holds what it says of the rows, and its embedding
_GROWTH = 1.2  # times the labels of the last search, from which a new one is worth its time


@dataclass(frozen=True)
class ModelVersion:
    """One answer of a model whose labels change.

    Attributes
    ----------
    number : int
        For `use_version`.
    kind : {"tuned", "plain"}
        Searched for these labels, or a plain model with settings of an earlier search.
    n_labels : int
        Labels that it learned from.
    """

    number: int
    kind: str
    n_labels: int


class Refit:
    """A search that runs in the background.

    Examples
    --------
    >>> from anchorview import AnchorViewClassifier, datasets
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
    >>> model = AnchorViewClassifier(n_landmarks=20, n_averaged=1, random_state=0).fit(made.views, y)
    >>> running = model.refit(background=True)
    >>> model = running.put_in_place()  # waits until it is done
    >>> [version.kind for version in model.versions_]
    ['tuned', 'tuned']
    """

    def __init__(self, model: TwoSpeeds, fitted: TwoSpeeds, given: dict[str, Any]) -> None:
        self._model, self._fitted = model, fitted
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(given,), name="anchorview-refit", daemon=True)
        self._thread.start()

    def _run(self, given: dict[str, Any]) -> None:
        try:
            self._fitted.fit(**given)
        except BaseException as error:
            self._error = error

    def done(self) -> bool:
        """Return whether the search has ended."""
        return not self._thread.is_alive()

    def put_in_place(self) -> Any:
        """Wait for the search, let its model answer from now on, and return it; an error of the search is raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._model._take_over(self._fitted)


class TwoSpeeds(LabelLoop):
    """A tuned model whose labels may change."""

    _fitted_input = OfProcess[FitInput]()  # rows and labels of the last answer
    _plain = OfProcess[UpdatedLabels | None](None)
    _kept_plain: UpdatedLabels  # from a file
    _is_plain: bool = False  # whether a plain model answers
    _versions = OfProcess[tuple[tuple[ModelVersion, dict[str, Any]], ...]](())

    def _make_plain(self) -> UpdatedLabels:
        """Return an unfitted plain model with the best settings of the search."""
        raise NotImplementedError

    def _input_of_fit(self) -> FitInput:
        given: FitInput | None = self.__dict__.get("_fitted_input")
        if given is None and "_kept_plain" in self.__dict__:
            self._plain = self._kept_plain
            given = self._fitted_input = self._plain._rows_of_fit().given
        if given is None:
            raise ValueError(
                f"This {type(self).__name__} was loaded or copied without the rows of its fit, so its labels cannot be "
                "changed; fit again, or save the fitted model by anchorview.save(model, path, updates=True)."
            )
        return given

    def update(
        self,
        y: Any,
        *,
        sample_weight: Any = None,
        constraints: Constraints | None = None,
        label_source: Any = None,
    ) -> Self:
        """Learn from another set of labels for the rows of the fit, at once: by a plain model of the best settings.

        That is `FSSMSC` with `best_params_`. The first update fits it; later ones take a fraction of that. Its accuracy
        is somewhat below that of a search with the same labels: `refit` when there are a fifth more of them
        (`refit_is_due_`). If an update fails or is interrupted, the model stays as it was.

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
        >>> from anchorview import AnchorViewClassifier, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = AnchorViewClassifier(n_landmarks=20, n_averaged=1, random_state=0).fit(made.views, y)
        >>> rows = model.suggest_labels(4)
        >>> y[rows] = made.target[rows]
        >>> model = model.update(y)
        >>> [(version.kind, version.n_labels) for version in model.versions_]
        [('tuned', 18), ('plain', 22)]
        >>> model = model.use_version(0)
        """
        check_is_fitted(self)
        given, before = self._input_of_fit(), dict(self.__dict__)
        weights = given.sample_weight if sample_weight is None else sample_weight
        try:
            now = self._read_labels_of(given.views, given.present, given.empty, y, weights, constraints)
            labelled = now.known.class_ids >= 0
            sources = read_label_sources(label_source, labelled, now.views.ids, self.label_source_)
            named: Any = {name: source for name, source in zip(_names_of(now), sources.tolist(), strict=True) if source}
            how = {"sample_weight": weights, "constraints": constraints, "label_source": named}
            plain = self._plain
            if plain is None or sample_weight is not None:
                plain = self._make_plain().fit(given.views, y, **how)
            else:
                plain = plain.update(y, constraints=constraints, label_source=named)
            self._plain, self._fitted_input = plain, now
            self._answer_by(plain)
            is_open = ~labelled & before["_rows"]["_can_be_labelled"]
            self._note_changes(before["_rows"]["labels_"], is_open)
            self._add_version("plain")
        except BaseException as error:
            self._restore(before)
            raise as_interrupt(error)  # noqa: B904  (an error that is no interrupt is raised as it was)
        return self

    def _answer_by(self, plain: UpdatedLabels) -> None:
        """Take what the plain model says of rows and predicts."""
        self._forget_places()
        self._publish_model(plain._model)
        self._rows, self.constraint_violations_ = plain._rows, plain.constraint_violations_
        self.status_, self.stage_seconds_ = plain.status_, plain.stage_seconds_
        for name in vars(plain).keys() & set(names_declared(type(plain), OfAnswer)):
            setattr(self, name, getattr(plain, name))
        self._is_plain = True

    def refit(self, *, background: bool = False) -> Any:
        """Search anew with the labels, weights and pairs of the last update.

        Parameters
        ----------
        background : bool, default=False
            Search in a thread, and go on meanwhile.

        Returns
        -------
        self, or Refit
            In the background a `Refit`: ``done()`` tells whether it has ended, ``put_in_place()`` lets its model answer
            (and waits for it, if need be).

        Examples
        --------
        >>> from anchorview import AnchorViewClassifier, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = AnchorViewClassifier(n_landmarks=20, n_averaged=2, random_state=0).fit(made.views, y)
        >>> more = datasets.hide_labels(made.target, 0.4, random_state=0)
        >>> model = model.update(more).refit()
        >>> [version.kind for version in model.versions_]
        ['tuned', 'plain', 'tuned']
        """
        check_is_fitted(self)
        given = self._input_of_fit()
        if "_kept_plain" in self.__dict__ and self._plain is self._kept_plain:
            raise ValueError("A search needs the features, and this model was loaded without them; fit again.")
        running = Refit(self, clone(self), {"X": given.views, "y": _labels_of(given), **self._beside_labels(given)})
        return running if background else running.put_in_place()

    def _take_over(self, fitted: TwoSpeeds) -> Self:
        """Let a model that was fitted elsewhere answer."""
        versions = self._versions
        before = self.labels_, self._can_be_labelled
        parameters = set(self.get_params(deep=False))
        kept = {name: value for name, value in self.__dict__.items() if name in parameters}
        self.__dict__ = {**fitted.__dict__, **kept, "_versions": versions}
        is_open = self._can_be_labelled & before[1]
        self._note_changes(before[0], is_open)
        self._add_version("tuned")
        return self

    @property
    def refit_is_due_(self) -> bool:
        """Whether there are a fifth more labels than the last search has seen.

        Examples
        --------
        >>> from anchorview import AnchorViewClassifier, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = AnchorViewClassifier(n_landmarks=20, n_averaged=2, random_state=0).fit(made.views, y)
        >>> model.refit_is_due_, model.update(datasets.hide_labels(made.target, 0.4, random_state=0)).refit_is_due_
        (False, True)
        """
        check_is_fitted(self)
        searched = [version.n_labels for version, _ in self._versions if version.kind == "tuned"]
        return self._is_plain and (not searched or len(self._labelled_rows()) >= _GROWTH * searched[-1])

    @property
    def versions_(self) -> list[ModelVersion]:
        """The model versions so far, at most the last ten; `use_version` returns to one of them.

        Examples
        --------
        >>> from anchorview import AnchorViewClassifier, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = AnchorViewClassifier(n_landmarks=20, n_averaged=2, random_state=0).fit(made.views, y)
        >>> model.update(datasets.hide_labels(made.target, 0.4, random_state=0)).versions_
        [ModelVersion(number=0, kind='tuned', n_labels=18), ModelVersion(number=1, kind='plain', n_labels=36)]
        """
        check_is_fitted(self)
        return [version for version, _ in self._versions]

    def use_version(self, number: int) -> Self:
        """Let an earlier version answer again.

        Parameters
        ----------
        number : int
            From `versions_`.

        Returns
        -------
        self

        Examples
        --------
        >>> from anchorview import AnchorViewClassifier, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = AnchorViewClassifier(n_landmarks=20, n_averaged=2, random_state=0).fit(made.views, y)
        >>> more = datasets.hide_labels(made.target, 0.4, random_state=0)
        >>> model = model.update(more)
        >>> model.versions_[-1].n_labels, model.use_version(0).label_source_.tolist().count("unknown")
        (36, 18)
        """
        check_is_fitted(self)
        states = {version.number: state for version, state in self._versions}
        if number not in states:
            raise ValueError(f"There is no version {number!r}; versions_ has {', '.join(map(str, states)) or 'none'}.")
        self.__dict__ = {**states[number], "_versions": self._versions, "_plain": self._plain}
        return self

    def _add_version(self, kind: str) -> None:
        number = self._versions[-1][0].number + 1 if self._versions else 0
        version = ModelVersion(number, kind, len(self._labelled_rows()))
        state = {name: value for name, value in self.__dict__.items() if name not in ("_versions", "_plain")}
        kept = (*self._versions, (version, state))
        tuned = [place for place, (each, _) in enumerate(kept) if each.kind == "tuned"]
        if len(kept) > _MOST_VERSIONS:  # the oldest goes, but the last search stays
            drop = 0 if tuned[-1:] != [0] else 1
            kept = (*kept[:drop], *kept[drop + 1 :])
        self._versions = kept

    def _views_of_fit(self) -> Views | None:
        given: FitInput | None = self.__dict__.get("_fitted_input")
        return None if given is None or "_kept_plain" in self.__dict__ else given.views

    # What is judged

    def _can_judge_audit(self) -> bool:
        return self.held_out_ is not None or self._is_plain

    def _judge_audit(self) -> JudgedAudit:
        if self._is_plain:
            return super()._judge_audit()
        if self._audit is None:
            # A search for each part of the audit would take too long. Labels were hidden in turn from all of it, its
            # settings chosen without them; those that could not be hidden are the only ones of their class: wrong.
            rows, skipped = self._audited()
            right, sure = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
            held_out = self.held_out_
            if held_out is not None:
                both, places, judged = np.intersect1d(rows, held_out.rows, return_indices=True)
                del both
                right[places], sure[places] = held_out.right[judged], held_out.confidence[judged]
            elsewhere = float(self.confidence_[self._can_be_labelled].mean()) if self._can_be_labelled.any() else 0.0
            self._audit = JudgedAudit(rows, skipped, right, sure, elsewhere)
        return self._audit

    def _accuracy_by_hidden_labels(self) -> ExpectedAccuracy | None:
        if self._is_plain:
            return super()._accuracy_by_hidden_labels()
        held_out = self.held_out_
        n_judged = 0 if held_out is None else len(held_out)
        score, interval = self.__dict__["best_score_"], self.__dict__["best_score_interval_"]
        return accuracy_by_hidden_labels(score, interval, n_judged, self.label_source_) if n_judged else None

    def _answers_without(self, rows: Rows) -> tuple[npt.NDArray[Any], Matrix, float]:
        """Answer by the plain model: a search for each would take too long."""
        return self._plain_of_rows()._answers_without(rows)

    def _plain_of_rows(self) -> UpdatedLabels:
        """Return the plain model with the labels of the last answer."""
        given = self._input_of_fit()
        if self._plain is None:
            self._plain = self._make_plain().fit(given.views, _labels_of(given), **self._beside_labels(given))
        return self._plain

    def _beside_labels(self, given: FitInput) -> dict[str, Any]:
        """Return what a fit was given beside rows and labels: weights, pairs, and where the labels come from."""
        pairs, sources = given.known.pairs, zip(_names_of(given), self.label_source_.tolist(), strict=True)
        return {
            "sample_weight": given.sample_weight,
            "constraints": None if pairs is None else RowConstraints(pairs),
            "label_source": {name: source for name, source in sources if source},
        }

    def _keep_rows(self) -> None:
        """Keep what other labels need of the rows of the fit, for a file: the plain model."""
        self._kept_plain = self._plain_of_rows()
        self._kept_plain._keep_rows()


def _labels_of(given: FitInput) -> npt.NDArray[Any]:
    labels = np.full(len(given.views), None, dtype=object)
    rows = given.known.labelled
    labels[rows] = given.known.classes[given.known.class_ids[rows]].tolist()
    return labels


def _names_of(given: FitInput) -> list[Any]:
    """Return ids of rows, or their numbers."""
    ids = given.views.ids
    names: list[Any] = list(range(len(given.views))) if ids is None else ids.tolist()
    return names
