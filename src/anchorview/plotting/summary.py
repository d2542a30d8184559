"""A summary of a fitted model in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..data.labels import encode_labels
from .classes import pyplot, read_classes
from .rows import SIDE, check_lengths, plot_class_sizes, plot_confusion, plot_embedding, side_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_summary(
    model: Any,
    y_true: npt.ArrayLike | None = None,
    is_labelled: npt.ArrayLike | None = None,
    title: str | None = None,
    *,
    random_state: int = 0,
    verbose: bool = False,
) -> Figure:
    """Draw a map of a fitted model's rows beside its mistakes or, where the truth is not known, its classes' sizes.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        After a fit.
    y_true : array-like of shape (n_rows,), optional
        True labels of the rows of the fit, as `fit` takes them, -1 where they are not known: the rows that were not
        labelled are compared with them in a confusion matrix. Without it, a bar for each class shows how many rows got
        its label.
    is_labelled : array-like of bool of shape (n_rows,), optional
        Rows that had a label in the fit; by default those that had one.
    title : str, optional
        Heading; by default the number of labels and, with `y_true`, the accuracy: the share of rows on the diagonal.
    random_state : int
        Of the map.
    verbose : bool, default=False
        Write lines of progress to the logger "anchorview", as a fit does.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
    >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
    >>> figure = plot_summary(model, made.target)
    >>> figure.get_suptitle()
    'FSSMSC, 18 labels of 90 rows: 100.0 % of the others right'
    """
    check_is_fitted(model, "classes_")
    labels, n_rows = model.labels_, len(model.labels_)
    marked = _labelled_rows(model) if is_labelled is None else np.asarray(is_labelled, dtype=bool)
    check_lengths("the fit", n_rows, is_labelled=marked)
    classes, class_ids = encode_labels(
        y_true, n_rows, fitted=model.classes_, unlabelled=model.unlabelled, ids=model._ids
    )
    compared = np.flatnonzero((class_ids >= 0) & ~marked & np.isin(labels, model.classes_))
    truth = classes[class_ids[compared]]
    look, (true_ids, given_ids) = read_classes(truth, labels[compared], classes=model.classes_)
    heading = f"{type(model).__name__}, {marked.sum():,} labels of {n_rows:,} rows"
    if len(compared) and marked.any():  # without labels, clusters have no names that could be right
        heading += f": {100 * np.mean(true_ids == given_ids):.1f} % of the others right"
    side = max(side_of(look), SIDE)
    size = (2 * side + look.key_width(side) + look.name_width() + 1.2, side + look.name_width() + 1.4)
    figure: Figure
    figure, (left, right) = pyplot().subplots(1, 2, figsize=size, layout="constrained")
    plot_embedding(
        model.embedding_,
        labels,
        marked=marked,
        classes=look.values,
        ax=left,
        random_state=random_state,
        verbose=verbose,
    )
    left.set_title("Rows (t-SNE), coloured by label")
    if len(compared):
        plot_confusion(truth, labels[compared], classes=look.values, ax=right)
        right.set_title("Unlabelled rows: true and given labels")
    else:
        plot_class_sizes(labels, model.confidence_, classes=look.values, ax=right)
        right.set_title("Rows of each class")
    figure.suptitle(heading if title is None else title, fontsize=13)
    return figure


def _labelled_rows(model: Any) -> npt.NDArray[np.bool_]:
    """Return the rows that had a label in the fit: they cannot be labelled any more, and are sure."""
    labelled: npt.NDArray[np.bool_] = ~model._can_be_labelled & (model.confidence_ == 1)
    return labelled
