"""How often predicted labels are right where a label is known, and how honest their confidence is.

Unlike the scores of clusterings, these go by the names of the classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from ..data.labels import encode_labels


def expected_calibration_error(correct: npt.ArrayLike, confidence: npt.ArrayLike, n_bins: int = 15) -> float:
    """Mean gap between how sure the predictions are and how often they are right.

    Samples are put into `n_bins` bins of equal width by confidence; the gaps |share right − mean confidence|
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
    right, sure = np.asarray(correct, dtype=np.float64), np.asarray(confidence, dtype=np.float64)
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
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, not {n_bins!r}.")
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
    >>> model = FSSMSC(n_landmarks=100, random_state=0)
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
    weights = np.ones(len(known)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return float(np.average(predicted[known] == classes[class_ids[known]], weights=weights[known]))


labelled_scorer = make_scorer(labelled_accuracy)
"""Scorer for ``GridSearchCV``: `labelled_accuracy` of ``predict``."""
