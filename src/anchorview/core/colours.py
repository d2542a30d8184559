"""Colours that can be told apart, as many as are needed, the same in every picture.

The first twenty were chosen together, so that the least difference between any two of them is as large as it gets, by
CIEDE2000 and by OKLab (Ottosson, "A perceptual color space for image processing", 2020); they come farthest first.
Those that follow are chosen one by one in OKLab: each is the one farthest from white, from black and from all colours
before it. So the first few differ most, and a colour does not depend on how many follow.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .arrays import Matrix, Rows

Bytes = npt.NDArray[np.integer]  # sRGB colours: rows of three numbers from 0 to 255

DARK = "#191f26"  # the ground of dark pages
_LEAST_CONTRAST = 3.0  # against the ground, as WCAG 2.1 (1.4.11) asks of graphics
_LIGHTNESS, _LIGHTNESS_ON_DARK, _CHROMA = (0.34, 0.68), (0.54, 0.9), (0.04, 0.21)  # neither like the ground nor glaring
CONFIDENCE = ("#d94801", "#9aa0a6", "#1f77b4")  # from in doubt to sure
CONFIDENCE_ON_DARK = ("#ff936b", "#c9d0d7", "#6abbfd")
_TWENTY = str.split(
    "#1e78b4 #780000 #a59600 #e15ab4 #4b0087 #004b00 #00a596 #b45a00 #00a50f #003c78 "
    "#694b00 #a578ff #00695a #a51e96 #d27878 #c3003c #5a3c5a #694bd2 #5a7800 #876996"
)
_TWENTY_ON_DARK = str.split(
    "#69b4ff #d21e4b #c3f03c #5a785a #ffb4a5 #e187ff #4bf0ff #964ba5 #a5961e #0078b4 "
    "#ff781e #a5c396 #a55a00 #d27896 #0f9600 #00a5b4 #d2d2ff #7878ff #ffb400 #00ffb4"
)
_TO_LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
_TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def distinct_colours(count: int, avoid: Sequence[str] = (), *, on_dark: bool = False) -> list[str]:
    """Return colours, as ``#rrggbb``, that differ from one another, from white and black, and from those to `avoid`.

    A longer list begins with the shorter one; from some thousands on, colours come again. With `on_dark` they are for a
    dark ground instead of white.

    Examples
    --------
    >>> distinct_colours(2) == distinct_colours(100)[:2]
    True
    >>> len(set(distinct_colours(100)))
    100
    """
    candidates, order = _farthest_first(2 ** max(int(count - 1).bit_length(), 5), tuple(avoid), on_dark)
    chosen = candidates[order[np.arange(count) % len(order)]]
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in chosen.tolist()]


@functools.cache
def _farthest_first(count: int, avoid: tuple[str, ...], on_dark: bool) -> tuple[Bytes, Rows]:
    candidates = _candidates(on_dark)
    places = oklab(candidates)
    taken = oklab(np.array([[0, 0, 0], [255, 255, 255], *map(_from_hex, avoid)]))
    distance = ((places[:, None] - taken) ** 2).sum(axis=2).min(axis=1)
    first = [] if avoid else [_from_hex(colour) for colour in (_TWENTY_ON_DARK if on_dark else _TWENTY)]
    order = np.empty(min(count, len(candidates)), dtype=np.intp)
    for number in range(len(order)):
        if number < len(first):
            order[number] = np.flatnonzero((candidates == first[number]).all(axis=1))[0]
        else:
            order[number] = distance.argmax()
        distance = np.minimum(distance, ((places - places[order[number]]) ** 2).sum(axis=1))
    return candidates, order


@functools.cache
def _candidates(on_dark: bool) -> Bytes:
    """Return the colours to choose from: a grid of the sRGB cube, without what is grey or near the ground."""
    low, high = _LIGHTNESS_ON_DARK if on_dark else _LIGHTNESS
    steps = np.arange(0, 256, 15)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    lightness, chroma = oklab(grid)[:, 0], np.hypot(*oklab(grid)[:, 1:].T)
    good = (lightness > low) & (lightness < high) & (chroma > _CHROMA[0]) & (chroma < _CHROMA[1])
    contrast = contrast_with_white(grid)
    if on_dark:
        contrast = contrast_with_white(np.array([_from_hex(DARK)])) / contrast
    chosen: Bytes = grid[good & (contrast >= _LEAST_CONTRAST)]
    return chosen


def oklab(colours: Bytes) -> Matrix:
    """Return the places of sRGB colours (rows of three numbers from 0 to 255) in OKLab."""
    place: Matrix = np.cbrt(_linear(colours) @ _TO_LMS.T) @ _TO_LAB.T
    return place


def contrast_with_white(colours: Bytes) -> Matrix:
    """Return the contrast of sRGB colours with white, from 1 (white) to 21 (black), as WCAG defines it."""
    contrast: Matrix = 1.05 / (_linear(colours) @ np.array([0.2126, 0.7152, 0.0722]) + 0.05)
    return contrast


def blend(stops: Sequence[str], count: int) -> list[str]:
    """Return colours that lead from one stop to the next in steps that look equal.

    Examples
    --------
    >>> blend(["#000000", "#ffffff"], 3)
    ['#000000', '#636363', '#ffffff']
    """
    places = oklab(np.array([_from_hex(colour) for colour in stops]))
    along = np.linspace(0, len(stops) - 1, count)
    between = np.column_stack([np.interp(along, np.arange(len(stops)), column) for column in places.T])
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in _from_oklab(between).tolist()]


def _from_oklab(places: Matrix) -> Bytes:
    """Return sRGB colours; those that no screen can show lose some of their chroma."""
    result = np.zeros((len(places), 3))
    waiting = np.ones(len(places), dtype=bool)
    for chroma in np.linspace(1, 0, 21):
        light = ((places * [1, chroma, chroma]) @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
        fits = waiting & (light > -1e-3).all(axis=1) & (light < 1 + 1e-3).all(axis=1)
        result[fits] = light[fits]
        waiting &= ~fits
    result = np.clip(result, 0, 1)
    part = np.where(result <= 0.0031308, 12.92 * result, 1.055 * result ** (1 / 2.4) - 0.055)
    colours: Bytes = np.rint(255 * part).astype(int)
    return colours


def _linear(colours: Bytes) -> Matrix:
    part = np.asarray(colours, dtype=float) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def _from_hex(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
