"""What there is to say about a fit, as plain arrays and text: the page and the notebook are made from it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import ClassIds, Mask, Matrix, Rows
from ..core.versions import package_versions, python_version
from ..data.labels import encode_labels
from ..data.tables import is_table
from ..data.views import Views
from ..label_loop.judging import LabelLoop
from ..metrics import ReliabilityCurve
from ..readers.plane import map_to_plane
from .class_photos import Photo, PhotoFiles, class_photos
from .markup import one_line
from .rival import Comparison, compare_with_logistic
from .row_details import RowDetails, describe_rows
from .run_evidence import (
    Accuracy,
    SuspectLabels,
    ViewsReport,
    describe_views,
    expected_accuracy,
    find_suspects,
    held_out_confusion,
    held_out_reliability,
)
from .run_facts import chosen_settings, class_names, file_names, id_texts, value_text
from .telling import class_features

N_SUGGESTED = 20  # rows to label next


@dataclass(eq=False)
class RunSummary:
    """What there is to say about a fit.

    Attributes
    ----------
    title : str
        Heading of the page.
    method : str
        Name of the estimator.
    classes : list of str
        Names of the classes.
    class_ids : ndarray of int of shape (n_rows,)
        Class of each row; -1 where there is none, because a row has no view.
    given : ndarray of int of shape (n_rows,)
        Labels that were given, -1 where there was none.
    confidence : ndarray of shape (n_rows,)
        Probability of each row's class; 1 where the label was given.
    ids : list of str, or None
        Ids of the rows; None if rows have only their numbers.
    xy : ndarray of shape (n_rows, 2), or None
        Places of the rows on the map.
    accuracy : Accuracy or None
        What to expect of rows without a label; None if no label could be hidden to judge by.
    confusion : ndarray of int of shape (n_classes, n_classes), or None
        Hidden labels: given (rows) and found (columns); None too above 2,000 classes.
    reliability : ReliabilityCurve or None
        Hidden labels: how sure, and how often right.
    suspects : SuspectLabels
        Given labels that the model disputes, the worst first.
    suggested : ndarray of int
        Rows to label next, the most useful first.
    views : ViewsReport
        The views, and what each contributes if that was measured.
    details : dict of int to RowDetails
        What there is to say about the rows that are listed: contents, place in the file, guesses.
    telling : list of str
        What tells each class from the others, in a few words; empty if nothing is known.
    photos : dict of int to list of Photo
        Photos that show what each class is; of large classes only, and only where rows have photos.
    comparison : Comparison or None
        Plain logistic regression on the same hidden labels; None if there is nothing to compare.
    status : str
        What the fit says of itself.
    parameters, chosen, versions : dict of str to str
        How it was made: what was asked for, what that became, and with which packages.
    seconds : dict of str to float
        Time of each stage.
    files : dict of str to str
        What was read, by its role.
    command : str
        What repeats it; empty if there is no such command.
    made : str
        Date and time.

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.report import summarise_run
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
    >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
    >>> summary = summarise_run(model, y, title="Synthetic rows")
    >>> summary.title, summary.method, len(summary.class_ids)
    ('Synthetic rows', 'FSSMSC', 90)
    """

    title: str
    method: str
    classes: list[str]
    class_ids: ClassIds
    given: ClassIds
    confidence: Matrix
    ids: list[str] | None
    xy: Matrix | None
    accuracy: Accuracy | None
    confusion: npt.NDArray[np.intp] | None
    reliability: ReliabilityCurve | None
    suspects: SuspectLabels
    suggested: Rows
    views: ViewsReport
    audited: list[int] = field(default_factory=list)
    history: list[dict[str, str]] = field(default_factory=list)
    details: dict[int, RowDetails] = field(default_factory=dict)
    telling: list[str] = field(default_factory=list)
    photos: dict[int, list[Photo]] = field(default_factory=dict)
    comparison: Comparison | None = None
    status: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    command: str = ""
    made: str = ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.class_ids)

    @property
    def by_model(self) -> Mask:
        """Rows that the model has labelled."""
        labelled: Mask = (self.given < 0) & (self.class_ids >= 0)
        return labelled

    @property
    def has_labels(self) -> bool:
        """Whether any label was given; without, classes are clusters."""
        return bool((self.given >= 0).any())

    def id_of(self, row: int) -> str:
        """Return a row's id, or its number if rows have no ids."""
        return str(int(row)) if self.ids is None else self.ids[row]

    def about(self, row: int) -> RowDetails:
        """Return what there is to say about a row."""
        return self.details.get(int(row)) or RowDetails()


def summarise_run(
    model: LabelLoop,
    y: Any = None,
    *,
    X: Any = None,
    rows: Any = None,
    where: Callable[[Sequence[int]], Sequence[str]] | None = None,
    photos: PhotoFiles | None = None,
    ids: Sequence[Any] | npt.NDArray[Any] | None = None,
    xy: npt.ArrayLike | None = None,
    names: Sequence[Any] | None = None,
    title: str = "",
    command: str = "",
    files: Mapping[str, Any] | Iterable[Any] | None = None,
    n_suggested: int = N_SUGGESTED,
    history: Sequence[Mapping[str, str]] = (),
) -> RunSummary:
    """Summarise a fitted model.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    y : array-like of shape (n_rows,), optional
        The labels that the fit was given; by default those that the model remembers.
    X : Views or what else `fit` takes, optional
        The rows of the fit. They tell what each view contributes, which words or features tell the classes apart, and
        how plain logistic regression does.
    rows : table of pandas, polars or pyarrow, or sequence of str, optional
        The rows as a person reads them, in the order of the fit: texts, or columns of texts, numbers and categories.
        Of rows that the page lists it shows the texts and the cells that differ most between the classes. By default
        `X`, if that is a table.
    where : callable, optional
        Takes numbers of rows and returns where each is found, such as "reviews.csv, line 17".
    photos : callable, optional
        Takes numbers of rows and returns the file of each one's photo, None where there is none.
    ids : sequence, optional
        Ids of the rows; by default those of the views, or numbers.
    xy : array-like of shape (n_rows, 2), optional
        Places of the rows on the map, NaN for rows without one; by default they are computed, which takes some seconds
        for 100,000 rows (see :func:`anchorview.plotting.map_to_plane`).
    names : sequence, optional
        Names of the classes, in the order of ``model.classes_``.
    title : str
        Heading of the page.
    command : str
        The command that repeats the fit.
    files : mapping or iterable, optional
        What was read: names of files, by their role or in a row.
    n_suggested : int
        Rows to suggest for labelling.
    history : sequence of mapping
        Rounds of labelling so far, with the columns of history.csv of a run.

    Returns
    -------
    RunSummary

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.3, random_state=0)
    >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
    >>> summary = summarise_run(model, y, ids=[f"row {number}" for number in range(90)])
    >>> summary.n_rows, summary.classes, int(summary.by_model.sum())
    (90, ['0', '1', '2'], 63)
    """
    check_is_fitted(model)
    if not hasattr(model, "labels_") or not hasattr(model, "embedding_"):
        raise ValueError(
            "The model holds no rows (it was saved without them), so there is nothing to summarise; fit again, or save "
            "it with its rows."
        )
    n_rows = len(model.labels_)
    given = _given_labels(model, y)
    class_ids = _places(model.labels_, model.classes_)
    own_ids = model._ids if ids is None else np.asarray(ids)
    _check_length("ids", own_ids, n_rows)
    _check_length("rows", rows, n_rows)
    places = map_rows(model) if xy is None else np.asarray(xy, dtype=np.float64)
    if places.shape != (n_rows, 2):
        raise ValueError(f"xy has shape {places.shape}; it needs one place, two numbers, for each of {n_rows} rows.")
    _check_length("names", names, len(model.classes_), "classes")
    classes = class_names(model, names, bool((given >= 0).any()))
    suspects, (suggested, audited) = find_suspects(model, given), _suggest(model, n_suggested)
    views = _as_views(X, n_rows)
    return RunSummary(
        title=one_line(str(title)) or "Labels for every row",
        method=type(model).__name__,
        classes=classes,
        class_ids=class_ids,
        given=given,
        confidence=np.asarray(model.confidence_, dtype=np.float64),
        ids=id_texts(own_ids),
        xy=places.astype(np.float32),
        accuracy=expected_accuracy(model, given),
        confusion=held_out_confusion(model.held_out_, len(classes)),
        reliability=held_out_reliability(model.held_out_),
        suspects=suspects,
        suggested=suggested,
        audited=audited,
        history=[dict(line) for line in history],
        views=describe_views(model, given, X),
        details=describe_rows(
            model,
            suspects.rows,
            suggested,
            class_ids,
            contents=X if rows is None and is_table(X) else rows,
            X=views,
            where=where,
            photos=photos,
        ),
        telling=[str(one) for one in class_features(views, class_ids, len(classes))],
        photos=class_photos(model.embedding_, class_ids, len(classes), photos),
        comparison=compare_with_logistic(model, views, given),
        status=model.status_,
        parameters={name: value_text(value) for name, value in model.get_params(deep=False).items()},
        chosen={name: value_text(value) for name, value in chosen_settings(model).items()},
        versions={"Python": python_version(), **package_versions()},
        seconds={name: float(value) for name, value in model.stage_seconds_.items()},
        files=file_names(files),
        command=str(command),
        made=datetime.datetime.now().astimezone().isoformat(" ", "minutes"),
    )


def map_rows(model: LabelLoop) -> Matrix:
    """Return places for the rows of a fit; NaN for rows without any view, about which nothing is known."""
    known = _places(model.labels_, model.classes_) >= 0
    places = np.full((len(known), 2), np.nan)
    if known.any():
        places[known] = map_to_plane(model.embedding_[known], model.labels_[known], n_jobs=model.n_jobs)
    return places


def _given_labels(model: LabelLoop, y: Any) -> ClassIds:
    """Return the labels that were given, as places in the classes of the model."""
    if y is None:
        labelled = ~model._can_be_labelled & (np.asarray(model.confidence_) == 1)
        return np.where(labelled, _places(model.labels_, model.classes_), -1)
    classes, class_ids = encode_labels(
        y, len(model.labels_), fitted=model.classes_, unlabelled=model.unlabelled, ids=model._ids
    )
    unknown = np.setdiff1d(classes, model.classes_) if len(classes) else classes
    if len(unknown):
        raise ValueError(f"y holds {unknown.tolist()[0]!r}, which is no class of the fit; give the labels of the fit.")
    places = np.searchsorted(model.classes_, classes) if len(classes) else np.zeros(1, dtype=np.intp)
    result: ClassIds = np.where(class_ids >= 0, places[class_ids], -1).astype(np.intp)
    return result


def _places(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> ClassIds:
    """Return the place of each label among the classes, −1 if it is none of them."""
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    found: ClassIds = np.where(classes[places] == labels, places, -1).astype(np.intp)
    return found


def _suggest(model: LabelLoop, n: int) -> tuple[Rows, list[int]]:
    """Return the rows to label next, and which are of the audit; fewer than asked for, if there are not so many."""
    skipped = int(np.count_nonzero(model.label_source_ == "skipped"))
    n = min(int(n), int(np.count_nonzero(model._can_be_labelled)) - skipped)
    if n < 1:
        return np.empty(0, dtype=np.intp), []
    found = model.suggest_labels(n, explain=True)
    row_of = None if model._ids is None else {name: row for row, name in enumerate(model._ids.tolist())}
    rows = [each.row if row_of is None else row_of[each.row] for each in found]
    audited = [row for row, each in zip(rows, found, strict=True) if each.source == "random"]
    return np.array(rows, dtype=np.intp), audited


def _as_views(X: Any, n_rows: int) -> Views | None:
    """Return the rows of the fit as views; None if they are not there, or are not those of the fit."""
    if X is None or isinstance(X, Views):
        return X
    try:
        views = Views(X)
    except (TypeError, ValueError):  # one array that the estimator cuts by its own `views`
        return None
    return views if len(views) == n_rows else None


def _check_length(name: str, values: Any, wanted: int, what: str = "rows") -> None:
    if values is not None and len(values) != wanted:
        raise ValueError(f"{name} has {len(values)} entries, but the fit has {wanted} {what}.")
