"""How often predicted labels are right where a label is known, and how honest their confidence is.

Unlike the scores of clusterings, these go by the names of the classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from ..core.arrays import Matrix
from ..core.checks import Number, shorten
from ..data.labels import check_weights, encode_labels


def expected_calibration_error(correct: npt.ArrayLike, confidence: npt.ArrayLike, n_bins: int = 15) -> float:
    """Mean gap between how sure the predictions are and how often they are right.

    Samples are put into `n_bins` bins of equal width by confidence; the gaps ``|share right − mean confidence|``
    of the bins are averaged with the bins' sizes as weights.

    Parameters
    ----------
    correct : array-like of shape (n_samples,)
        Whether each prediction is right (booleans, or 0 and 1).
    confidence : array-like of shape (n_samples,)
        Its stated probability of being right, from 0 to 1.
    n_bins : int, default=15
        Number of bins.

    Returns
    -------
    float
        Between 0 (calibrated) and 1.

    Examples
    --------
    >>> from anchorview.metrics import expected_calibration_error
    >>> round(expected_calibration_error([True, True, False, True], [0.9, 0.9, 0.9, 0.9]), 3)
    0.15
    """
    Number(1, 1_000_000, integer=True).check("n_bins", n_bins)
    right, sure = read_confidence(correct, confidence)
    bins = np.minimum((sure * n_bins).astype(np.intp), n_bins - 1)
    # Size times |share right − mean confidence| is the absolute sum of (right − sure) over the bin.
    return float(np.abs(np.bincount(bins, weights=right - sure)).sum() / len(right))


def labelled_accuracy(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Share of predictions that are right, over the rows that have a label.

    As `labelled_scorer` it is ready for ``GridSearchCV`` and ``cross_val_score`` on partly labelled data; a splitter
    that hides labels from the fit is :class:`anchorview.LabelHidingKFold`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels; rows with -1 (among text also None or "") have none and are left out.
    y_pred : array-like of shape (n_samples,)
        Predicted classes, by the same names: clusters are not matched to classes.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from anchorview.metrics import labelled_accuracy, labelled_scorer
    >>> labelled_accuracy([0, 1, -1, -1], [0, 0, 1, 1])
    0.5

    >>> from sklearn.model_selection import GridSearchCV
    >>> from anchorview import FSSMSC, LabelHidingKFold, datasets
    >>> digits = datasets.load_handwritten()
    >>> y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    >>> model = FSSMSC(n_landmarks=100, scaling="minmax", must_link_weight=3.0, readers="nearest", random_state=0)
    >>> folds = LabelHidingKFold(2, random_state=0)  # the unlabelled rows are in every fit
    >>> search = GridSearchCV(model, {"ridge": [0.1, 1.0]}, scoring=labelled_scorer, cv=folds).fit(digits.views, y)
    >>> bool(search.best_score_ > 0.8)
    True
    """
    predicted = np.asarray(y_pred)
    if predicted.ndim != 1:
        raise ValueError(f"y_pred has shape {predicted.shape}; it needs one label per sample (one dimension).")
    nothing_fitted = np.empty(0, dtype=int)  # so that -1 is never a class here
    classes, class_ids = encode_labels(y_true, len(predicted), fitted=nothing_fitted)
    known = class_ids >= 0
    if not known.any():
        raise ValueError("No row of y_true has a label, so there is nothing to compare with.")
    if (classes.dtype.kind in "US") != (predicted.dtype.kind in "US") and predicted.dtype.kind != "O":
        raise ValueError(
            f"y_true holds labels such as {classes[0]!r}, but y_pred such as {predicted[0]!r}; give both as one type."
        )
    weights = check_weights(sample_weight, len(known))
    if weights is not None and not weights[known].any():
        raise ValueError("sample_weight is zero for every row of y_true that has a label; at least one must count.")
    right = predicted[known] == classes[class_ids[known]]
    return float(np.average(right, weights=None if weights is None else weights[known]))


def read_confidence(correct: npt.ArrayLike, confidence: npt.ArrayLike) -> tuple[Matrix, Matrix]:
    """Return both as numbers, one of each per sample; an error where they are something else."""
    right, sure = _numbers(correct, "correct"), _numbers(confidence, "confidence")
    if right.ndim != 1 or right.shape != sure.shape:
        raise ValueError(
            f"correct has shape {right.shape} but confidence has shape {sure.shape}; both need one number per sample."
        )
    if len(right) == 0:
        raise ValueError("correct and confidence are empty; a score needs at least one sample.")
    if not np.isin(right, (0.0, 1.0)).all():
        raise ValueError("correct must hold booleans (or 0 and 1) only.")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise ValueError("confidence must lie between 0 and 1, without NaN.")
    return right, sure


def _numbers(values: npt.ArrayLike, name: str) -> Matrix:
    array = np.ma.filled(np.ma.asarray(values).astype(object), None) if np.ma.is_masked(values) else np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, one per sample; got {shorten(values)}.")
    return array.astype(np.float64)


labelled_scorer = make_scorer(labelled_accuracy)
"""Scorer for ``GridSearchCV``: `labelled_accuracy` of ``predict``."""
