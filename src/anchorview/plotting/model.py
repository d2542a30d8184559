"""Pictures of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import unit_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..view_importance import ViewImportance

_MAX_POINTS = 5000  # more would hide one another, and make t-SNE slow


def plot_embedding(
    embedding: npt.NDArray[np.floating],
    labels: npt.ArrayLike,
    *,
    marked: npt.NDArray[np.bool_] | None = None,
    ax: Axes | None = None,
    random_state: int = 0,
) -> Axes:
    """Draw a 2-D view (t-SNE) of an embedding, coloured by label.

    Parameters
    ----------
    embedding : ndarray of shape (n_rows, n_components)
        For example ``model.embedding_``; at most 5,000 rows are drawn.
    labels : array-like of shape (n_rows,)
        Colours.
    marked : ndarray of bool, optional
        Rows to mark with a ring, for example the labelled ones.
    ax : matplotlib Axes, optional
        Where to draw.
    random_state : int
        Of the 2-D view.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = plot_embedding(np.random.default_rng(0).normal(size=(40, 3)), np.repeat([0, 1], 20))
    >>> ax.get_legend() is not None
    True
    """
    import matplotlib.pyplot as plt
    from sklearn.manifold import TSNE

    axes = plt.figure(figsize=(6, 6)).gca() if ax is None else ax
    values = np.asarray(labels)
    chosen = np.arange(len(values))
    if len(chosen) > _MAX_POINTS:
        chosen = np.sort(np.random.RandomState(random_state).choice(len(values), _MAX_POINTS, replace=False))
    rows = unit_rows(np.asarray(embedding)[chosen])
    flat = TSNE(init="random", perplexity=min(30, (len(chosen) - 1) / 3), random_state=random_state).fit_transform(rows)
    classes, numbers = np.unique(values[chosen], return_inverse=True)
    colours = plt.get_cmap("tab10" if len(classes) <= 10 else "gist_ncar", max(len(classes), 10))
    for number, name in enumerate(classes):
        of_class = numbers == number
        axes.scatter(flat[of_class, 0], flat[of_class, 1], s=9, color=colours(number), label=str(name), linewidths=0)
    if marked is not None:
        ring = np.asarray(marked)[chosen]
        axes.scatter(
            flat[ring, 0], flat[ring, 1], s=42, facecolors="none", edgecolors="black", linewidths=0.9, label="labelled"
        )
    if len(classes) <= 20:
        axes.legend(fontsize=8, markerscale=1.4, ncols=2, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    axes.set(xticks=[], yticks=[])
    return axes


def plot_confusion(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix with its counts.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        True and predicted labels.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> plot_confusion([0, 0, 1], [0, 1, 1]).get_xlabel()
    'given by the model'
    """
    import matplotlib.pyplot as plt
    from sklearn.metrics import ConfusionMatrixDisplay

    axes = plt.figure(figsize=(6, 6)).gca() if ax is None else ax
    many = len(np.unique(np.asarray(y_true))) > 20
    ConfusionMatrixDisplay.from_predictions(
        y_true, y_pred, ax=axes, cmap="Blues", colorbar=False, include_values=not many, text_kw={"fontsize": 8}
    )
    axes.set(xlabel="given by the model", ylabel="true")
    return axes


def plot_view_importance(importance: ViewImportance, *, ax: Axes | None = None) -> Axes:
    """Draw what each view did for a model: a bar per view and measure, the view that mattered most on top.

    Parameters
    ----------
    importance : ViewImportance
        From :func:`anchorview.view_importance.measure_views`, or ``model.view_importance_``. Measures that are NaN for
        every view are left out.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    >>> model = FSSMSC(n_landmarks=30, measure_views=True, random_state=0).fit(made.views, made.target)
    >>> [text.get_text() for text in plot_view_importance(model.view_importance_).get_legend().get_texts()]
    ['part of what is rebuilt', 'labels that change without it']
    """
    import matplotlib.pyplot as plt

    measures = {
        "part of what is rebuilt": (importance.share, "tab:gray"),
        "labels that change without it": (importance.changed, "tab:blue"),
        "accuracy lost without it": (importance.accuracy_drop, "tab:orange"),
    }
    shown = {name: entry for name, entry in measures.items() if not np.isnan(entry[0]).all()}
    order = np.argsort(np.nan_to_num(importance.changed), kind="stable")  # bars are drawn from the bottom up
    names = [importance.names[number] for number in order]
    axes = plt.figure(figsize=(7, 1.2 + 0.6 * len(names)), layout="constrained").gca() if ax is None else ax
    height = 0.8 / len(shown)
    for place, (name, (values, colour)) in enumerate(shown.items()):
        offset = 0.4 - (place + 0.5) * height
        bars = axes.barh(np.arange(len(names)) + offset, 100 * values[order], height=0.92 * height, color=colour)
        bars.set_label(name)
        axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=8)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_xlabel("percent")
    axes.margins(x=0.1, y=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, ncols=len(shown), loc="lower left", bbox_to_anchor=(0.0, 1.0), borderpad=0)
    return axes


def plot_summary(model: Any, y_true: npt.ArrayLike, is_labelled: npt.NDArray[np.bool_], title: str) -> Figure:
    """Draw the embedding of a fitted model beside the confusion matrix of its unlabelled rows."""
    import matplotlib.pyplot as plt

    truth = np.asarray(y_true)
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6), layout="constrained")
    plot_embedding(model.embedding_, model.labels_, marked=is_labelled, ax=left)
    left.set_title("Embedding of all rows (t-SNE), coloured by label")
    plot_confusion(truth[~is_labelled], model.labels_[~is_labelled], ax=right)
    right.set_title("Unlabelled rows: true and given labels")
    figure.suptitle(title, fontsize=13)
    return figure
