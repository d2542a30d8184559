"""Drawings of a report as inline SVG, in the page's own colours; each says in words what it shows."""

from __future__ import annotations

from html import escape

import numpy as np
import numpy.typing as npt

from ..core.arrays import Matrix
from ..metrics import ReliabilityCurve
from .run_words import percent

_WIDTH, _HEIGHT = 380, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 28, 12, 46  # room for what is written around a drawing
N_BINS = 20  # of confidence


def draw_confidence(confidence: Matrix) -> str:
    """Draw how many rows are how sure."""
    edges = np.linspace(0, 1, N_BINS + 1)
    counts, _ = np.histogram(np.clip(confidence, 0, 1), edges)
    top = max(int(counts.max()), 1)
    bars = "".join(
        f'<rect class="bars" x="{_x(left) + 1:.1f}" y="{_y(number / top):.1f}" '
        f'width="{_x(edges[1]) - _x(0) - 2:.1f}" height="{_y(0) - _y(number / top):.1f}" rx="2"/>'
        for left, number in zip(edges, counts, strict=False)
        if number
    )
    quarters = np.quantile(confidence, [0.25, 0.5, 0.75]) if len(confidence) else np.zeros(3)
    words = (
        f"Histogram of the confidence of {len(confidence):,} rows. Half of them lie between {percent(quarters[0])} and "
        f"{percent(quarters[2])}; the middle is {percent(quarters[1])}."
    )
    ticks = [(0.0, "0"), (1.0, f"{top:,}")] if top > 1 else [(0.0, "0"), (1.0, "1")]
    return _svg(words, _frame("confidence", "rows", _percent_ticks(0, 1), ticks) + bars)


def draw_reliability(curve: ReliabilityCurve) -> str:
    """Draw how often predictions are right that are equally sure."""
    low = float(np.floor(10 * min(curve.confidence.min(), curve.low.min())) / 10)
    low = min(low, 0.9)

    def x(value: float) -> float:
        return _x((value - low) / (1 - low))

    def y(value: float) -> float:
        return _y((value - low) / (1 - low))

    guide = f'<line class="guide" x1="{x(low):.1f}" y1="{y(low):.1f}" x2="{x(1):.1f}" y2="{y(1):.1f}"/>'
    groups = list(zip(curve.confidence, curve.accuracy, curve.low, curve.high, strict=True))
    marks = "".join(
        f'<line class="reach" x1="{x(sure):.1f}" y1="{y(least):.1f}" x2="{x(sure):.1f}" y2="{y(most):.1f}"/>'
        f'<circle class="mark" cx="{x(sure):.1f}" cy="{y(right):.1f}" r="5"/>'
        for sure, right, least, most in groups
    )
    said = "; ".join(f"{percent(right)} where it says {percent(sure)}" for sure, right, _, _ in groups)
    ticks = _percent_ticks(low, 1)
    frame = _frame("confidence", "right", ticks, ticks)
    return _svg(f"Reliability curve. Hidden labels were found right: {said}.", frame + guide + marks)


def draw_confusion(counts: npt.NDArray[np.intp], words: str) -> str:
    """Draw a confusion matrix of many classes, a square for each pair that occurs."""
    size = 360 / len(counts)
    rows, columns = np.nonzero(counts)
    shares = counts[rows, columns] / counts.sum(axis=1)[rows]
    cells = "".join(
        f'<rect class="{"hit" if row == column else "miss"}" x="{10 + column * size:.2f}" y="{10 + row * size:.2f}" '
        f'width="{max(size, 2):.2f}" height="{max(size, 2):.2f}" opacity="{0.35 + 0.65 * share:.2f}"/>'
        for row, column, share in zip(rows, columns, shares, strict=True)
    )
    frame = '<rect class="axis" x="10" y="10" width="360" height="360" fill="none"/>'
    return _svg(words, frame + cells, 380).replace("<svg ", '<svg class="matrix" ', 1)


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _percent_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return places along an axis from 0 to 1, and what to write there."""
    step = 0.25 if high - low > 0.6 else 0.1 if high - low > 0.25 else 0.05
    values = np.arange(np.ceil(round(low / step, 6)), np.floor(round(high / step, 6)) + 1) * step
    return [((value - low) / (high - low), f"{100 * value:.0f} %") for value in values]


def _frame(xlabel: str, ylabel: str, xticks: list[tuple[float, str]], yticks: list[tuple[float, str]]) -> str:
    bottom, left = _y(0), _x(0)
    parts = [f'<line class="axis" x1="{left}" y1="{bottom}" x2="{_x(1)}" y2="{bottom}"/>']
    for place, text in xticks:
        parts.append(f'<text x="{_x(place):.1f}" y="{bottom + 18}" text-anchor="middle">{escape(text)}</text>')
    for place, text in yticks:
        parts.append(f'<line class="axis" x1="{left}" y1="{_y(place):.1f}" x2="{_x(1)}" y2="{_y(place):.1f}"/>')
        parts.append(f'<text x="{left - 7}" y="{_y(place) + 4:.1f}" text-anchor="end">{escape(text)}</text>')
    middle = _x(0.5)
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(xlabel)}</text>')
    side = f'<text transform="translate(12 {_y(0.5):.1f}) rotate(-90)" text-anchor="middle">{escape(ylabel)}</text>'
    return "".join([*parts, side])


def _svg(words: str, content: str, height: int = _HEIGHT) -> str:
    """Return a drawing that says in words what it shows."""
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(words)}">{content}</svg>'
