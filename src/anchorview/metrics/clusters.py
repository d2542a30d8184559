"""How well a clustering agrees with known classes.

Every score takes the true classes first, does not care how clusters are named or numbered, and accepts
different numbers of classes and clusters. In semi-supervised experiments pass the unlabelled rows only.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from ..core.arrays import ClassIds
from ..core.checks import POSITIVE, check_choice, is_missing


def _encode(labels: npt.ArrayLike, name: str) -> ClassIds:
    """Replace labels by numbers from 0."""
    try:
        array = np.asarray(labels)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} holds sequences; it needs one label per sample (one dimension).") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; it needs one label per sample (one dimension).")
    nothing = np.ma.getmaskarray(labels) if np.ma.isMaskedArray(labels) else array != array
    if array.dtype == object:  # mixed types have no order, so np.unique cannot take them
        nothing = np.array([is_missing(label) for label in array], dtype=bool)
    if np.any(nothing):
        row = int(np.flatnonzero(nothing)[0])
        raise ValueError(f"{name} has no label in row {row}; leave out rows without a label before scoring.")
    if array.dtype == object:
        numbers: dict[object, int] = {}
        try:
            return np.array([numbers.setdefault(label, len(numbers)) for label in array], dtype=np.intp)
        except TypeError:
            raise ValueError(f"{name} holds labels that are collections; labels are numbers or text.") from None
    return np.unique(array, return_inverse=True)[1].astype(np.intp)


def _encode_both(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> tuple[ClassIds, ClassIds]:
    """Check the pair of labellings and number the labels of each from 0."""
    true, pred = _encode(y_true, "y_true"), _encode(y_pred, "y_pred")
    if len(true) != len(pred):
        raise ValueError(f"y_true has {len(true)} labels but y_pred has {len(pred)}; both need one label per sample.")
    if len(true) == 0:
        raise ValueError("y_true and y_pred are empty; a score needs at least one sample.")
    return true, pred


def _contingency(true: ClassIds, pred: ClassIds) -> sparse.csr_matrix:
    """Count the samples of each class (row) in each cluster (column)."""
    return contingency_matrix(true, pred, sparse=True)


def clustering_accuracy(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> float:
    """Share of samples that are right under the best one-to-one matching of clusters to classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.

    Returns
    -------
    float
        Between 0 and 1. Clusters (or classes) left without a partner count as wrong.

    Examples
    --------
    >>> from anchorview.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    true, pred = _encode_both(y_true, y_pred)
    counts = _contingency(true, pred).toarray()
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    return float(counts[classes, clusters].sum() / len(true))


def normalized_mutual_info(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    average: Literal["geometric", "arithmetic", "max"] = "geometric",
) -> float:
    """Mutual information of classes and clusters over a mean of their entropies.

    Published results differ in the mean, so compare like with like: geometric ≥ arithmetic ≥ max.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.
    average : {"geometric", "arithmetic", "max"}, default="geometric"
        The mean of the two entropies. "geometric" is what the FSSMSC tables use.

    Returns
    -------
    float
        Between 0 and 1. It is 1 if both labellings have a single label, 0 if only one of them has.

    Examples
    --------
    >>> from anchorview.metrics import normalized_mutual_info
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 1, 2, 2]), 3)
    0.816
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 1, 2, 2], average="max"), 3)
    0.667
    """
    check_choice("average", average, ("geometric", "arithmetic", "max"))
    true, pred = _encode_both(y_true, y_pred)
    score = float(normalized_mutual_info_score(true, pred, average_method=average))
    return min(max(score, 0.0), 1.0)  # rounding can step outside by an ulp


def adjusted_rand(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> float:
    """Rand index corrected for chance (Hubert and Arabie).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.

    Returns
    -------
    float
        1 for a perfect match, about 0 for a random clustering, at least -0.5.

    Examples
    --------
    >>> from anchorview.metrics import adjusted_rand
    >>> round(adjusted_rand([0, 0, 1, 1], [0, 1, 2, 2]), 3)
    0.571
    """
    return float(adjusted_rand_score(*_encode_both(y_true, y_pred)))


def purity(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> float:
    """Share of samples that are in the commonest class of their cluster.

    Purity grows with the number of clusters: it is 1 if every sample is its own cluster.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.

    Returns
    -------
    float
        Above 0 and at most 1, never below `clustering_accuracy`.

    Examples
    --------
    >>> from anchorview.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    true, pred = _encode_both(y_true, y_pred)
    return float(_contingency(true, pred).max(axis=0).sum() / len(true))


def _pair_counts(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> tuple[float, float, float]:
    """Count ordered pairs: together in both, together in y_pred only, together in y_true only."""
    counts = pair_confusion_matrix(*_encode_both(y_true, y_pred))
    return float(counts[1, 1]), float(counts[0, 1]), float(counts[1, 0])


def pairwise_precision_recall(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> tuple[float, float]:
    """Precision and recall of "these two samples belong together" over all pairs of samples.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.

    Returns
    -------
    precision : float
        Share of the pairs in one cluster that are of one class; 1 if no cluster has two samples.
    recall : float
        Share of the pairs of one class that are in one cluster; 1 if no class has two samples.

    Examples
    --------
    >>> from anchorview.metrics import pairwise_precision_recall
    >>> pairwise_precision_recall([0, 0, 1, 1], [0, 1, 2, 2])
    (1.0, 0.5)
    """
    both, pred_only, true_only = _pair_counts(y_true, y_pred)
    precision = both / (both + pred_only) if both + pred_only else 1.0
    recall = both / (both + true_only) if both + true_only else 1.0
    return precision, recall


def pairwise_f(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, beta: float = 1.0) -> float:
    """F-measure of "these two samples belong together" over all pairs of samples.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.
    beta : float, default=1.0
        How many times as much recall matters as precision; positive.

    Returns
    -------
    float
        Between 0 and 1; 1 if no two samples are together in either labelling.

    Examples
    --------
    >>> from anchorview.metrics import pairwise_f
    >>> round(pairwise_f([0, 0, 1, 1], [0, 1, 2, 2]), 3)
    0.667
    """
    POSITIVE.check("beta", beta)
    both, pred_only, true_only = _pair_counts(y_true, y_pred)
    if both + pred_only + true_only == 0:
        return 1.0
    weight = beta**2
    return float((1 + weight) * both / ((1 + weight) * both + weight * true_only + pred_only))


def clustering_report(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> dict[str, float]:
    """All the scores of a clustering at once.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Known classes and clusters, of any type.

    Returns
    -------
    dict of str to float
        "acc", "nmi" (geometric), "ari", "purity" and "f" (pairwise).

    Examples
    --------
    >>> from anchorview.metrics import clustering_report
    >>> clustering_report(["a", "a", "b", "b"], [1, 1, 0, 0])
    {'acc': 1.0, 'nmi': 1.0, 'ari': 1.0, 'purity': 1.0, 'f': 1.0}
    """
    true, pred = _encode_both(y_true, y_pred)
    return {
        "acc": clustering_accuracy(true, pred),
        "nmi": normalized_mutual_info(true, pred),
        "ari": adjusted_rand(true, pred),
        "purity": purity(true, pred),
        "f": pairwise_f(true, pred),
    }
