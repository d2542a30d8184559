"""Pictures of confidence: what is drawn, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from anchorview import FSSMSC
from anchorview.core.colours import distinct_colours
from anchorview.plotting import plot_confidence, plot_confusion, plot_embedding, plot_reliability


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_a_histogram_counts_every_row() -> None:
    axes = plot_confidence([0.0, 0.51, 0.52, 1.0])
    heights = [bar.get_height() for bar in axes.patches]
    assert len(heights) == 20 and (heights[0], heights[10], heights[19]) == (1, 2, 1)


def test_a_box_for_each_class_that_has_rows() -> None:
    labels = np.array(["a", "b", "b", None], dtype=object)
    axes = plot_confidence([0.5, 0.8, 0.9, 0.1], labels, classes=["a", "b", "c"])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    colours = [plt.matplotlib.colors.to_hex(box.get_facecolor()) for box in axes.patches]
    assert colours == distinct_colours(3)[:2]
    medians = [segment[0, 0] for segment in axes.collections[1].get_segments()]
    assert medians == pytest.approx([0.5, 0.85])
    axes.figure.canvas.draw()


def test_many_classes_and_names_with_dollars() -> None:
    labels = [f"$class_{number}$" for number in range(150)] * 2
    plot_confidence(np.linspace(0.2, 1, 300), labels).figure.canvas.draw()


def test_reliability_has_a_dot_for_each_group(digits_model: FSSMSC) -> None:
    held_out = digits_model.held_out_
    assert held_out is not None
    axes = plot_reliability(held_out.right, held_out.confidence, n_bins=4)
    (dots,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(dots.get_xdata()) == 4
    assert np.mean(dots.get_ydata()) == pytest.approx(held_out.right.mean(), abs=0.02)
    axes.figure.canvas.draw()
    classes = digits_model.classes_
    matrix = plot_confusion(classes[held_out.class_ids], classes[held_out.guessed], classes=classes)
    assert matrix.images[0].get_array().sum() == len(held_out)


def test_a_map_by_confidence(digits_model: FSSMSC) -> None:
    rows = slice(0, 2000, 20)
    sure = digits_model.confidence_[rows]
    axes = plot_embedding(digits_model.embedding_[rows], digits_model.labels_[rows], confidence=sure, marked=sure == 1)
    np.testing.assert_array_equal(axes.collections[0].get_array(), np.sort(sure)[::-1])  # doubt is drawn last
    assert axes.get_legend() is None and len(axes.figure.axes) == 2
    axes.figure.canvas.draw()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_confidence([]), "at least one row"),
        (lambda: plot_confidence([[0.5]]), r"shape \(1, 1\)"),
        (lambda: plot_confidence([0.5], ["a", "b"]), "labels has 2 entries"),
        (lambda: plot_reliability([True], [1.5]), "between 0 and 1"),
        (lambda: plot_embedding(np.eye(3), [0, 1, 2], confidence=[0.5]), "confidence has 1 entries"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
