"""Which view mattered: how well the codes rebuild each view, and what happens to the labels without it.

A view is left out as if the rows lacked it: their codes come from the other views, through the Gram
matrix of that pattern. So nothing is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .base import MultiViewClassifier
from .core.arrays import Mask, Matrix, Presence, Rows, column_slices
from .core.checks import check_number, make_random_state
from .core.progress import Ticker
from .data.labels import encode_labels
from .data.validation import column_of
from .data.views import Views
from .engine.blocks import count_threads, map_blocks, one_blas_thread
from .features.products import ViewCrossProducts
from .features.scaling import check_finite
from .model.predicting import predict_rows
from .solver.codes import code_gram, stack_codes
from .solver.registry import SOLVERS
from .solvers import resolve_solver

__all__ = ["ViewImportance", "measure_unlabelled", "measure_views"]

MAX_ROWS = 2000  # shares are then within two points


@dataclass(frozen=True, eq=False)
class ViewImportance:
    """The importance of each view for a model, one number per view.

    Attributes
    ----------
    names : list of str
        The views.
    reconstruction : ndarray of shape (n_views,)
        1 − ‖X_v − Z U_v‖² / ‖X_v‖² over the rows that have the view: 1 if the codes rebuild it exactly, 0 if they say
        nothing about it (or the view is constant, and there is nothing to rebuild).
    share : ndarray of shape (n_views,)
        The view's part in ‖X‖² − ‖X − Z U‖² of all views together; adds up to 1.
    changed : ndarray of shape (n_views,)
        Share of the rows whose label changes when they lose the view; over the rows that have it and another one,
        NaN if there are none.
    accuracy_drop : ndarray of shape (n_views,)
        By how much the accuracy of these rows falls, over those whose label is known; NaN without any.
    n_rows : int
        Rows that were looked at.
    weights : ndarray of shape (n_views,)
        How much each view counts in the model, of mean 1.

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.view_importance import measure_views
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
    >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
    >>> measure_views(model, made.views).names
    ['view0', 'view1']
    """

    names: list[str]
    reconstruction: Matrix
    share: Matrix
    changed: Matrix
    accuracy_drop: Matrix
    n_rows: int
    weights: Matrix | None = None  # None in files of older models

    def __str__(self) -> str:
        width = max(len("view"), *map(len, self.names))
        lines = [f"{'view':<{width}}  weight  reconstruction  share  changed  accuracy drop"]
        weights = np.ones(len(self.names)) if self.weights is None else self.weights
        measures = weights, self.reconstruction, self.share, self.changed, self.accuracy_drop
        for name, weight, rebuilt, share, changed, drop in zip(self.names, *measures, strict=True):
            lines.append(f"{name:<{width}}  {weight:6.3f}  {rebuilt:14.3f}  {share:5.3f}  {changed:7.3f}  {drop:13.3f}")
        return "\n".join(lines)


@one_blas_thread()  # the same whatever the number of threads, and twice as fast for a few hundred rows
def measure_views(
    model: MultiViewClassifier, X: Any, y: Any = None, *, max_rows: int = MAX_ROWS, random_state: Any = 0
) -> ViewImportance:
    """Measure the importance of each view for a fitted model.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        A fitted model, by the solver "active_set". Of several averaged settings, what is rebuilt is rebuilt from the
        codes of the best one that has codes (``codes_``), and labels are those of the average.
    X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
        Rows with the views of the fit. Views may be missing or sparse.
    y : array-like of shape (n_rows,), optional
        True labels, -1 where there is none, for `accuracy_drop`. Rows whose labels the fit has seen would look better
        than they are: each is its own nearest labelled row.
    max_rows : int, default=2000
        Rows to look at, drawn at random if there are more; as many again with labels, if `y` is given.
    random_state : int, RandomState or None, default=0
        Which rows are drawn.

    Returns
    -------
    ViewImportance
        ``print`` shows it as a table, :func:`anchorview.plotting.plot_view_importance` as a picture.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.view_importance import measure_views
    >>> made = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)
    >>> data = {"image": made.data[0], "text": made.data[1], "noise": np.random.default_rng(0).normal(size=(300, 9))}
    >>> y = datasets.hide_labels(made.target, 0.1, stratified=True, random_state=0)
    >>> importance = measure_views(FSSMSC(n_landmarks=50, random_state=0).fit(data, y), data, made.target)
    >>> bool(importance.accuracy_drop[0] > importance.accuracy_drop[2])
    True
    """
    check_is_fitted(model)
    check_number("max_rows", max_rows, 1, integer=True)
    _check_can_leave_out(model)
    views, present, empty = model._read_rows(X)
    known: dict[str, Any] = {"fitted": model.classes_, "unlabelled": model.unlabelled, "ids": views.ids}
    classes, class_ids = encode_labels(column_of(X, y, "y"), len(views), **known)
    usable = np.ones(len(views), dtype=bool) if empty is None else ~empty
    rng = make_random_state(random_state)
    if not usable.any():
        raise ValueError("No row of X has a view, so there is nothing to measure.")
    drawn = _draw_rows(np.flatnonzero(usable), max_rows, rng)
    labelled = _draw_rows(np.flatnonzero(usable & (class_ids >= 0)), max_rows, rng)
    rows = np.union1d(drawn, labelled)
    views = views[rows]
    present = np.ones((len(rows), len(views.names)), dtype=bool) if present is None else present[rows]
    check_finite(views, present=present)
    is_drawn, is_labelled = np.isin(rows, drawn), np.isin(rows, labelled)
    truth = classes[class_ids[rows[is_labelled]]]

    n_threads = count_threads(model.n_jobs)
    whole = _encode(model, views, present, n_threads)
    labels = _label(model, views, present, n_threads)
    changed, drop = np.full((2, len(views.names)), np.nan)
    squares, left_over = np.zeros((2, len(views.names)))
    ticker = Ticker("measuring", len(views.names), "views")
    for number in range(len(views.names)):
        ticker.tick()
        with_view = np.flatnonzero(present[:, number])
        squares[number], left_over[number] = _rebuild(model, views[with_view], number, whole[with_view])
        can_lose = present[:, number] & (present.sum(axis=1) > 1)
        ticker.n_done = number + 1
        if not can_lose.any():
            continue
        without = labels.copy()
        fewer = present[can_lose].copy()
        fewer[:, number] = False
        without[can_lose] = _label(model, views[can_lose], fewer, n_threads)
        changed[number] = _mean((without != labels)[is_drawn & can_lose])
        judged = can_lose[is_labelled]
        before, after = (given[is_labelled][judged] == truth[judged] for given in (labels, without))
        drop[number] = _mean(before) - _mean(after)
    rebuilt = np.where(squares > 0, squares - left_over, 0.0)
    total, weights = float(np.maximum(rebuilt, 0).sum()), model._model.embedder.scaler.view_weights
    return ViewImportance(
        names=list(model.view_names_),
        reconstruction=rebuilt / np.where(squares > 0, squares, 1.0),
        share=np.maximum(rebuilt, 0) / (total if total > 0 else 1.0),
        changed=changed,
        accuracy_drop=drop,
        n_rows=len(drawn),
        weights=np.ones(len(views.names)) if weights is None else np.array(weights),
    )


def measure_unlabelled(
    model: MultiViewClassifier, X: Any, labelled: Mask, *, max_rows: int = MAX_ROWS
) -> ViewImportance:
    """Measure the importance of each view for the unlabelled rows of a fit, or for all if every row has a label.

    A labelled row is its own nearest one, whatever view it loses.

    Parameters
    ----------
    X : Views or what else `fit` takes
        The rows of the fit.
    labelled : ndarray of bool of shape (n_rows,)
        Rows whose label was given.

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.view_importance import measure_unlabelled
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
    >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
    >>> measure_unlabelled(model, made.views, y >= 0).n_rows
    72
    """
    views, _, empty = model._read_rows(X)
    if len(labelled) != len(views):
        raise ValueError(f"X has {len(views)} rows, and the fit has {len(labelled)}.")
    usable = np.ones(len(views), dtype=bool) if empty is None else ~empty
    hidden = usable & ~labelled
    rows = np.flatnonzero(hidden if hidden.any() else usable)
    return measure_views(model, views[_draw_rows(rows, max_rows, np.random.RandomState(0))])


def _check_can_leave_out(model: MultiViewClassifier) -> None:
    """Raise an error if the model's solver cannot encode rows that lack a view."""
    name = resolve_solver(getattr(model, "solver", "active_set")).name
    if not SOLVERS[name].takes_missing_views:
        raise ValueError(
            f"solver={name!r} does not support rows that lack views, so no view can be left out to measure it; "
            "use solver='active_set'."
        )


def _draw_rows(rows: Rows, n_rows: int, rng: np.random.RandomState) -> Rows:
    """Return the rows, or a sample of them, in order."""
    return rows if len(rows) <= n_rows else np.sort(rng.choice(rows, n_rows, replace=False))


def _mean(values: Mask) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _encode(model: MultiViewClassifier, views: Views, present: Presence, n_threads: int) -> sparse.csr_array:
    """Codes of rows that have these views."""
    fitted = model._model.embedder
    cross = ViewCrossProducts(views, fitted.scaler, fitted.landmarks, cache_bytes=0, present=present)

    def encode(block: slice) -> sparse.csr_array:
        return fitted.encoder.encode(cross.read(block), cross.present_in(block))

    return stack_codes(map_blocks(encode, cross.blocks, n_threads), len(fitted.landmarks))


def _label(model: MultiViewClassifier, views: Views, present: Presence, n_threads: int) -> npt.NDArray[Any]:
    """Labels of rows that have these views."""
    labels: npt.NDArray[Any] = model.classes_[predict_rows(model._model, views, present, "class_ids", n_threads)]
    return labels


def _rebuild(model: MultiViewClassifier, views: Views, number: int, codes: sparse.csr_array) -> tuple[float, float]:
    """Return ‖X_v‖² and ‖X_v − Z U_v‖² = ‖X_v‖² − 2⟨X_v U_vᵀ, Z⟩ + ⟨ZᵀZ, U_v U_vᵀ⟩, so that a sparse view stays so."""
    fitted = model._model.embedder
    landmarks = fitted.landmarks[:, column_slices(fitted.scaler.sizes)[number]]
    alone = fitted.scaler.of_view(number)
    cross = ViewCrossProducts(views.select([views.names[number]]), alone, landmarks, cache_bytes=0)
    inner = sum(float(codes[block].multiply(cross.read(block)).sum()) for block in cross.blocks)
    wide = landmarks.astype(np.float64)
    quadratic = float(np.vdot(code_gram(codes), wide @ wide.T))
    total = cross.squared_norm()
    return total, max(total - 2 * inner + quadratic, 0.0)
