"""Pictures of labelled rows: every class can be seen, named and found again in the other panel."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError

from anchorview import FSSMSC, AnchorViewClassifier, datasets, plotting
from anchorview.core.colours import distinct_colours
from anchorview.plotting.classes import NO_LABEL
from support.processes import run
from support.settled import CHOSEN


@pytest.fixture(autouse=True)
def close_figures() -> Any:
    yield
    plt.close("all")


def long_names(count: int) -> np.ndarray:
    return np.array([f"question about the payment number {n:03} that a customer has made abroad" for n in range(count)])


def labelled(names: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return an embedding with six rows of each class, and the labels."""
    rng = np.random.default_rng(0)
    class_ids = np.repeat(np.arange(len(names)), 6)
    return rng.normal(size=(len(names), 8))[class_ids] + 0.1 * rng.normal(size=(len(class_ids), 8)), names[class_ids]


def dot_colours(axes: Any) -> list[str]:
    return [to_hex(part.get_facecolor()[0]) for part in axes.collections if len(part.get_facecolor())]


def check_texts(figure: Any, texts: list[Any]) -> None:
    """Check that texts do not overlap one another, and are not cut at the edge of the figure."""
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts]
    page = figure.bbox
    assert all(box.x0 >= page.x0 and box.x1 <= page.x1 and box.y0 >= page.y0 and box.y1 <= page.y1 for box in boxes)
    for one, other in pairwise(boxes):
        apart = one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
        assert apart, (one, other)


@pytest.mark.parametrize("count", [2, 15, 40, 100])
def test_map_has_a_colour_and_a_name_for_every_class(count: int) -> None:
    """Up to now the 15th class was white on white, and from 21 classes on there were no names."""
    rows, labels = labelled(long_names(count))
    axes = plotting.plot_embedding(rows, labels)
    assert dot_colours(axes) == distinct_colours(count)
    texts = axes.get_legend().get_texts()
    assert len({text.get_text() for text in texts}) == count
    check_texts(axes.figure, texts)
    assert [to_hex(handle.get_color()) for handle in axes.get_legend().legend_handles] == distinct_colours(count)


@pytest.mark.parametrize("count", [2, 15, 100])
def test_names_at_a_matrix_do_not_overlap(count: int) -> None:
    _, labels = labelled(long_names(count))
    axes = plotting.plot_confusion(labels, labels)
    for axis in (axes.xaxis, axes.yaxis):
        texts = axis.get_ticklabels()
        assert len({text.get_text() for text in texts}) == count
        check_texts(axes.figure, texts)
    check_texts(axes.figure, [axes.xaxis.label, axes.xaxis.get_ticklabels()[count // 2]])
    assert [to_hex(colour) for colour in axes.collections[0].get_facecolor()] == distinct_colours(count)


def test_names_on_small_axes_are_left_out_rather_than_piled_up() -> None:
    figure, axes = plt.subplots(figsize=(4, 4))
    plotting.plot_class_sizes(np.arange(200), ax=axes)
    texts = [text for text in axes.get_yticklabels() if text.get_text()]
    assert 10 < len(texts) < 100
    check_texts(figure, texts)


def test_bars_have_the_colours_of_the_map_and_count_the_sure_rows() -> None:
    axes = plotting.plot_class_sizes(
        ["a", "b", "b", "d", None], [0.95, 0.5, 1.0, 0.2, 0.0], classes=["a", "b", "c", "d"]
    )
    full, pale = axes.containers[:2]
    assert [to_hex(bar.get_facecolor()) for bar in full] == distinct_colours(4)
    assert [bar.get_width() for bar in full] == [1, 1, 0, 0]
    assert [bar.get_width() for bar in pale] == [0, 1, 0, 1]


def test_very_many_classes_have_a_colour_bar() -> None:
    rows, labels = labelled(np.arange(160))
    axes = plotting.plot_embedding(rows, labels, marked=labels < 5)
    bar = axes.figure.axes[1]
    assert bar.get_ylabel() == "160 classes"
    assert [text.get_text() for text in bar.get_yticklabels()][::11] == ["0", "159"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["labelled"]


def test_odd_names_are_drawn_as_they_are() -> None:
    """To matplotlib, `$` begins a formula and an underscore hides a name."""
    names = np.array(["$\\frac{$", "_hidden", "a\nb", "<b>", "x_1$^2$"])
    rows, labels = labelled(names)
    axes = plotting.plot_embedding(rows, labels)
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {
        "$\\frac{$",
        "_hidden",
        "a b",
        "<b>",
        "x_1$^2$",
    }
    axes.figure.canvas.draw()
    plotting.plot_confusion(labels, labels).figure.canvas.draw()
    plotting.plot_class_sizes(labels).figure.canvas.draw()


def test_rows_without_a_label_are_grey_and_not_in_the_matrix() -> None:
    rows, labels = labelled(np.array([3, 7]))
    some = np.where(np.arange(12) % 3 == 0, -1, labels)
    axes = plotting.plot_embedding(rows, some)
    assert dot_colours(axes) == [NO_LABEL, *distinct_colours(2)]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["3", "7", "no label"]
    matrix = plotting.plot_confusion(labels, some).images[0].get_array()
    assert matrix.tolist() == [[4, 0], [0, 4]]


def test_what_does_not_fit_together_is_refused() -> None:
    rows, labels = labelled(np.array([0, 1]))
    with pytest.raises(ValueError, match="labels has 11 entries but the embedding has 12 rows"):
        plotting.plot_embedding(rows, labels[1:])
    with pytest.raises(ValueError, match="marked has 1 entries but the embedding has 12 rows"):
        plotting.plot_embedding(rows, labels, marked=[True])
    with pytest.raises(ValueError, match="text and of numbers cannot be compared"):
        plotting.plot_confusion(labels, labels.astype(str))
    with pytest.raises(ValueError, match="No row has both"):
        plotting.plot_confusion([-1, 3], [2, -1])
    with pytest.raises(NotFittedError):
        plotting.plot_summary(FSSMSC())


def diagonal(axes: Any) -> str:
    counts = axes.images[0].get_array()
    return f"{100 * np.trace(counts) / counts.sum():.1f} %"


def test_summary_of_the_digits(digits_model: FSSMSC, digits: Any, digits_y: np.ndarray) -> None:
    figure = plotting.plot_summary(digits_model, digits.target)
    left, right = figure.axes
    assert figure.get_suptitle() == f"FSSMSC, 100 labels of 2,000 rows: {diagonal(right)} of the others right"
    assert right.images[0].get_array().sum() == (digits_y == -1).sum()
    assert dot_colours(left)[:10] == [to_hex(c) for c in right.collections[0].get_facecolor()] == distinct_colours(10)
    rings = left.collections[-1]
    assert len(rings.get_offsets()) == 100


def test_summary_reads_true_labels_by_their_ids(some_digits: Any) -> None:
    pandas = pytest.importorskip("pandas")
    ids = np.array([f"row {n}" for n in range(len(some_digits.y))])
    views = {f"v{n}": pandas.DataFrame(view, index=ids) for n, (_, view) in enumerate(some_digits.views.items())}
    model = FSSMSC(**CHOSEN, n_landmarks=50, random_state=0).fit(views, some_digits.y)
    straight = plotting.plot_summary(model, some_digits.target).get_suptitle()
    shuffled = pandas.Series(some_digits.target, index=ids).sample(frac=1.0, random_state=0)
    assert plotting.plot_summary(model, shuffled).get_suptitle() == straight


def test_summary_without_truth_shows_the_classes(some_digits: Any) -> None:
    model = FSSMSC(**CHOSEN, n_landmarks=50, random_state=0).fit(some_digits.views, some_digits.y)
    figure = plotting.plot_summary(model)
    assert figure.get_suptitle() == f"FSSMSC, {(some_digits.y >= 0).sum()} labels of {len(some_digits.y)} rows"
    widths = [sum(bar.get_width() for bar in bars) for bars in zip(*figure.axes[1].containers[:2], strict=True)]
    assert widths == np.bincount(model.labels_).tolist()
    assert plotting.plot_summary(model, title="mine").get_suptitle() == "mine"


def test_summary_of_a_search() -> None:
    made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, 0.3, random_state=0)
    model = AnchorViewClassifier(n_landmarks=30, scaling="l2", n_repeats=1, random_state=0).fit(made.views, y)
    figure = plotting.plot_summary(model, made.target)
    assert figure.get_suptitle().startswith(f"AnchorViewClassifier, {(y >= 0).sum()} labels of 90 rows: ")
    assert diagonal(figure.axes[1]) in figure.get_suptitle()
    assert len(plotting.plot_summary(model).axes[1].containers) >= 2


def test_plotting_is_there_without_matplotlib_and_names_the_remedy() -> None:
    code = (
        "import sys, anchorview\nanchorview.plotting.plot_summary\nprint('matplotlib' in sys.modules)\n"
        "sys.modules['matplotlib'] = None\n"
        "try: anchorview.plotting.plot_confusion([0, 1], [0, 1])\nexcept ImportError as error: print(error)"
    )
    done = run([sys.executable, "-c", code])
    assert done.stdout.startswith("False\nPictures need matplotlib: pip install 'anchorview[cli]'")
