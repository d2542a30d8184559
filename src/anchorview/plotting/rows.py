"""Pictures of labelled rows: a map, a confusion matrix, the sizes of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..readers.plane import draw_from_classes, map_to_plane
from .classes import NO_LABEL, Classes, add_key, confidence_colours, name_axis, pyplot, read_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_POINTS = 5000  # more would hide one another
SIDE = 5.0  # inches of a panel
_PITCH = 0.13  # inches of a row of a matrix or of a bar, so that its name can be read
_TALLEST = 20.0  # inches; above, not every class is named
_SURE = 0.9  # confidence of rows drawn in full colour
_RING = {"markerfacecolor": "none", "markeredgecolor": "black", "markeredgewidth": 0.9}


def plot_embedding(
    embedding: npt.NDArray[np.floating],
    labels: npt.ArrayLike,
    *,
    confidence: npt.ArrayLike | None = None,
    marked: npt.ArrayLike | None = None,
    classes: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> Axes:
    """Draw a map of an embedding, coloured by label or by confidence: see :func:`map_to_plane`.

    Parameters
    ----------
    embedding : ndarray of shape (n_rows, n_components)
        For example ``model.embedding_``; at most 5,000 rows are drawn, some of every class.
    labels : array-like of shape (n_rows,)
        Colours; grey where there is no label (-1, None, NaN or "").
    confidence : array-like of shape (n_rows,), optional
        For example ``model.confidence_``: dots are then coloured by it instead, from orange (a half or
        less) to blue (sure).
    marked : array-like of bool of shape (n_rows,), optional
        Rows to mark with a ring, for example the labelled ones.
    classes : array-like, optional
        All classes, if not all have rows here: colours then agree with those of other pictures. Give
        ``model.classes_``.
    ax : matplotlib Axes, optional
        Where to draw; the names of the classes are to the right of it.
    random_state : int
        Of the map.
    verbose : bool, default=False
        Write lines of progress to the logger "anchorview", as a fit does.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = plot_embedding(np.random.default_rng(0).normal(size=(40, 3)), np.repeat([0, 1], 20))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1']
    """
    rows = np.asarray(embedding)
    look, (class_ids,) = read_classes(labels, classes=classes)
    check_lengths("the embedding", len(rows), labels=class_ids, marked=marked, confidence=confidence)
    chosen = draw_from_classes(class_ids, _MAX_POINTS, np.random.RandomState(random_state))
    shown = class_ids[chosen]
    places = map_to_plane(rows[chosen], shown, random_state=random_state, verbose=verbose)
    axes, (_, height) = _panel(ax, SIDE, SIDE, beside=look.key_width(SIDE))
    size = max(height / SIDE, 1.0) * (9 if len(chosen) > 500 else 18)
    extra: dict[str, dict[str, Any]] = {}
    if confidence is not None:
        sure = np.asarray(confidence, dtype=float)[chosen]
        order = np.argsort(-sure, kind="stable")  # what is in doubt is drawn last, and seen
        colours: dict[str, Any] = {"c": sure[order], "cmap": confidence_colours(), "vmin": 0.5, "vmax": 1}
        dots = axes.scatter(places[order, 0], places[order, 1], s=size, linewidths=0, **colours)
        axes.figure.colorbar(dots, ax=axes, label="confidence", shrink=0.6, aspect=30, extend="min")
    else:
        for number, colour in [(-1, NO_LABEL), *enumerate(look.colours)]:
            x, y = places[shown == number].T
            if len(x):
                axes.scatter(x, y, s=size, color=colour, marker=look.marker(max(number, 0)), linewidths=0)
        extra |= {"no label": {"color": NO_LABEL}} if (shown < 0).any() else {}
    if marked is not None:
        ring = places[np.asarray(marked, dtype=bool)[chosen]]
        axes.scatter(ring[:, 0], ring[:, 1], s=42, facecolors="none", edgecolors="black", linewidths=0.9)
        extra["labelled"] = _RING
    if confidence is None:
        add_key(axes, look, height, extra)
    axes.set(xticks=[], yticks=[])
    return axes


def plot_confusion(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, classes: npt.ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a confusion matrix, with its counts where there is room for them.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        True and predicted labels; rows without the one or the other (-1, None, NaN or "") are left out.
    classes : array-like, optional
        All classes, if not all have rows here: colours then agree with those of other pictures.
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
    look, (truth, given) = read_classes(y_true, y_pred, classes=classes)
    check_lengths("y_pred", len(given), y_true=truth)
    both = (truth >= 0) & (given >= 0)
    if not both.any():
        raise ValueError("No row has both a true and a predicted label, so there is nothing to draw.")
    counts = np.zeros((len(look), len(look)), dtype=int)
    np.add.at(counts, (truth[both], given[both]), 1)
    side = side_of(look)
    axes, (width, height) = _panel(ax, side, side, beside=look.name_width() + 0.6, below=look.name_width() + 0.9)
    picture = axes.imshow(counts, cmap="Blues", aspect="auto")
    cell = 72 * min(width / len(str(counts.max())), height / 2) / len(look)  # room of a digit, in points
    size = 0.8 * cell / 0.6
    if size >= 5:
        for (row, column), count in np.ndenumerate(counts):
            colour = "white" if count > counts.max() / 2 else "black"
            if count:
                axes.text(column, row, str(count), ha="center", va="center", fontsize=min(size, 9), color=colour)
    else:
        axes.figure.colorbar(picture, ax=axes, label="rows", shrink=0.5, aspect=30)
    _colour_classes(axes, look, width, height)
    axes.set(xlabel="given by the model", ylabel="true")
    return axes


def plot_class_sizes(
    labels: npt.ArrayLike,
    confidence: npt.ArrayLike | None = None,
    *,
    classes: npt.ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many rows each class has; pale, those of them whose label is in doubt (confidence below 0.9).

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        For example ``model.labels_``; rows without a label (-1, None, NaN or "") are left out.
    confidence : array-like of shape (n_rows,), optional
        For example ``model.confidence_``; without it, no bar is pale.
    classes : array-like, optional
        All classes, if not all have rows here: colours then agree with those of other pictures.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = plot_class_sizes(["cat", "cat", "dog"], [1.0, 0.4, 0.95])
    >>> [text.get_text() for text in ax.texts]
    ['2', '1']
    """
    from matplotlib.ticker import MaxNLocator

    look, (class_ids,) = read_classes(labels, classes=classes)
    sure = np.ones(len(class_ids)) if confidence is None else np.asarray(confidence)
    check_lengths("labels", len(class_ids), confidence=sure)
    known = class_ids >= 0
    total = np.bincount(class_ids[known], minlength=len(look))
    in_full = np.bincount(class_ids[known & (sure >= _SURE)], minlength=len(look))
    side = side_of(look)
    axes, (_, height) = _panel(ax, SIDE, side, beside=look.name_width(), below=0.7)
    places = np.arange(len(look))
    axes.barh(places, in_full, color=look.colours, height=0.8)
    pale = axes.barh(places, total - in_full, left=in_full, color=look.colours, height=0.8, alpha=0.35)
    pitch = 72 * height / max(len(look), 1)
    if pitch >= 6.5:
        axes.bar_label(pale, [f"{count:,}" for count in total], padding=3, fontsize=min(8.0, 0.85 * pitch))
    name_axis(axes.yaxis, look, height)
    axes.set(xlabel="rows" if confidence is None else f"rows; pale: confidence below {_SURE:g}", ylabel="")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(len(look) - 0.4, -0.6)
    axes.margins(x=0.1)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def side_of(look: Classes) -> float:
    """Return how many inches an axis needs so that each class can be named."""
    return min(max(SIDE, _PITCH * len(look)), _TALLEST)


def _panel(
    ax: Axes | None, width: float, height: float, beside: float = 0.0, below: float = 0.0
) -> tuple[Axes, tuple[float, float]]:
    """Return the axes to draw on, and their size in inches; new ones have room for what is written around them."""
    if ax is None:
        figure = pyplot().figure(figsize=(width + beside, height + below), layout="constrained")
        return figure.gca(), (width, height)
    whole, part = ax.figure.get_figure(root=True).get_size_inches(), ax.get_position()
    return ax, (float(part.width * whole[0]), float(part.height * whole[1]))


def _colour_classes(axes: Axes, look: Classes, width: float, height: float) -> None:
    """Name the classes at both axes of a matrix, a square in its colour beside each."""
    from matplotlib.transforms import ScaledTranslation

    places, edge = np.arange(len(look)), np.zeros(len(look))
    size = min(6.0, 0.75 * 72 * min(width, height) / len(look))
    away = ScaledTranslation(-6 / 72, 0, axes.figure.dpi_scale_trans)
    below = ScaledTranslation(0, -6 / 72, axes.figure.dpi_scale_trans)
    dots: dict[str, Any] = {"marker": "s", "s": size**2, "color": look.colours, "clip_on": False, "linewidths": 0}
    limits = axes.axis()  # dots beside the matrix must not move it
    axes.scatter(edge, places, transform=axes.get_yaxis_transform() + away, **dots)
    axes.scatter(places, edge, transform=axes.get_xaxis_transform() + below, **dots)
    axes.axis(limits)
    axes.tick_params(length=0, pad=11)
    name_axis(axes.xaxis, look, width, turned=True)
    name_axis(axes.yaxis, look, height)


def check_lengths(what: str, n_rows: int, **arrays: Any) -> None:
    """Refuse arrays that do not have an entry for each row."""
    for name, values in arrays.items():
        if values is not None and len(values) != n_rows:
            raise ValueError(f"{name} has {len(values)} entries but {what} has {n_rows} rows.")
