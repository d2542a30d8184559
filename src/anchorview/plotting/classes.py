"""How classes look: one colour, marker and name for each, the same in every panel and picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.arrays import ClassIds
from ..core.colours import CONFIDENCE, blend, distinct_colours
from ..core.names import short_names
from ..data.labels import encode_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

NO_LABEL = "#b8b8b8"  # colour of rows without a label
LINE = 0.16  # height of a line of the key, in inches
LONGEST = 22  # characters of a name
_MOST_IN_KEY = 150  # more classes than these are left to a colour bar
_MARKERS = "osD^v"
_PER_MARKER = 20  # classes: of more, those that share a hue differ in shape
_LETTER = 0.58  # mean width of a letter, in parts of the size of its font


@dataclass(frozen=True)
class Classes:
    """The classes of a picture, in the order of their colours.

    Parameters
    ----------
    values : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def colours(self) -> list[str]:
        """One colour for each class."""
        return distinct_colours(len(self))

    def marker(self, number: int) -> str:
        """Return the shape of a class's dots."""
        return _MARKERS[number // _PER_MARKER % len(_MARKERS)]

    def names(self, limit: int = LONGEST) -> list[str]:
        """Names as they are written in a picture."""
        return short_names(self.values.tolist(), limit)

    def name_width(self, size: float = 9.0) -> float:
        """Return how long the longest name is, in inches, in letters of a size in points."""
        return size * _LETTER / 72 * max(map(len, self.names()), default=0)

    def key_columns(self, height: float, extra: int = 0) -> int:
        """Return how many columns a key as high as the picture (in inches) has; 0 if there is a colour bar instead."""
        lines = max(int(height / LINE), 1)
        return -(-(len(self) + extra) // lines) if len(self) <= _MOST_IN_KEY else 0

    def key_width(self, height: float) -> float:
        """Return how wide the key of a picture is, in inches."""
        return 0.3 + (self.key_columns(height, 2) or 2) * (0.35 + max(self.name_width(8), 0.4))


def pyplot() -> Any:
    """Load matplotlib's pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"Pictures need matplotlib: pip install 'anchorview[cli]' ({error}).") from error
    return plt


def confidence_colours() -> Any:
    """Return matplotlib's form of the colours of confidence, as the report has them."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(blend(CONFIDENCE, 64), "confidence")


def read_classes(*labels: Any, classes: npt.ArrayLike | None = None) -> tuple[Classes, list[ClassIds]]:
    """Return the classes of several label arrays together, and the class numbers of each; −1 where there is no label.

    Parameters
    ----------
    *labels : array-likes of the same length
        With −1, None, NaN or "" where there is no label.
    classes : array-like, optional
        Classes that have a colour though no row may have them; of a fitted model, so that pictures agree.
    """
    wanted = np.empty(0, dtype=int) if classes is None else np.asarray(classes)
    read = [encode_labels(each, len(each), fitted=None if classes is None else wanted) for each in labels]
    found = [part for part in (wanted, *(part for part, _ in read)) if len(part)]
    if len({part.dtype.kind in "US" for part in found}) > 1:
        examples = ", ".join(repr(part[0].item()) for part in found)
        raise ValueError(f"Labels of text and of numbers cannot be compared ({examples}); give labels of one type.")
    values = np.unique(np.concatenate(found)) if found else wanted
    numbers = [
        np.where(ids >= 0, np.searchsorted(values, part)[ids] if len(part) else -1, -1).astype(np.intp)
        for part, ids in read
    ]
    return Classes(values), numbers


def add_key(axes: Axes, classes: Classes, height: float, extra: dict[str, dict[str, Any]]) -> None:
    """Write the classes beside a picture: a list in columns, or a colour bar if they are very many.

    Parameters
    ----------
    axes : matplotlib Axes
        The picture, with a collection of dots for each class.
    classes : Classes
        What is in it.
    height : float
        Of the picture, in inches.
    extra : dict
        Other kinds of dots that are in the picture: name and properties of the marker.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.lines import Line2D

    names, columns = classes.names(), classes.key_columns(height, len(extra))
    dot: dict[str, Any] = {"linestyle": "none", "markersize": 6, "markeredgewidth": 0}
    handles = [
        Line2D([], [], **{**dot, "color": colour, "marker": classes.marker(number)})
        for number, colour in enumerate(classes.colours if columns else [])
    ]
    handles += [Line2D([], [], **{**dot, "marker": "o", **look}) for look in extra.values()]
    if not columns:
        colours = ScalarMappable(Normalize(-0.5, len(classes) - 0.5), ListedColormap(classes.colours))
        shown = np.unique(np.linspace(0, len(classes) - 1, 12).astype(int))
        bar = axes.figure.colorbar(colours, ax=axes, ticks=shown, label=f"{len(classes)} classes", fraction=0.06)
        write_ticks(bar.ax.yaxis, shown, [names[number] for number in shown], 8.0)
    if handles:
        texts = ([] if not columns else names) + list(extra)
        legend = axes.legend(
            handles,
            [" "] * len(texts),
            fontsize=8,
            ncols=max(columns, 1),
            loc="upper left" if columns else "lower left",
            bbox_to_anchor=(1.01, 1.0) if columns else (0.0, 1.0),
            frameon=False,
            labelspacing=0.25,
            handletextpad=0.2,
            columnspacing=1.0,
            borderaxespad=0.0,
        )
        for text, name in zip(legend.get_texts(), texts, strict=True):
            text.set_parse_math(False)  # a class may be named "$"
            text.set_text(name)  # a legend leaves out what begins with an underscore


def name_axis(axis: Axis, classes: Classes, inches: float, *, turned: bool = False) -> None:
    """Write the names of the classes at 0, 1, … of an axis, as large as there is room, not all if there is too little.

    Parameters
    ----------
    axis : matplotlib Axis
        Where to write.
    classes : Classes
        The names.
    inches : float
        Length of the axis.
    turned : bool
        Whether names stand upright if they are too long for their place.
    """
    pitch = 72 * inches / max(len(classes), 1)
    every = max(1, int(np.ceil(5.5 / (0.85 * pitch))))  # smaller letters could not be read
    size = min(9.0, 0.85 * pitch * every)
    names, shown = classes.names(), np.arange(0, len(classes), every)
    write_ticks(axis, shown, [names[number] for number in shown], size)
    if turned and 72 * classes.name_width(size) > 0.9 * pitch * every:
        axis.set_tick_params(rotation=90)


def write_ticks(axis: Axis, places: npt.NDArray[np.intp], names: list[str], size: float) -> None:
    """Write names at places of an axis as they are: no letter has a meaning to matplotlib."""
    axis.set_ticks(places, names, fontsize=size)
    for label in axis.get_ticklabels():
        label.set_parse_math(False)
