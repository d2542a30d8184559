"""Four descriptions of a small picture: edges (HOG), texture (LBP), layout (a small gist) and colour."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .image_files import Pixels, require_images

SIZE = 64
DESCRIPTOR_SIZES = {"hog": 576, "lbp": 236, "gist": 320, "colour": 256}
DESCRIPTOR_WORDS = {"hog": "edges", "lbp": "texture", "gist": "layout", "colour": "colour"}  # what people see
_CELL = 12  # pixels of a cell of HOG: 5 × 5 cells, 4 × 4 blocks of 2 × 2, nine directions
_SCALES = ((8, 0.25), (8, 0.12), (4, 0.06))  # directions, and waves a pixel, of the filters of gist
Descriptors = dict[str, npt.NDArray[np.float32]]


def describe_image(pixels: Pixels) -> Descriptors:
    """Return the four descriptions of a picture of 64 × 64 pixels; each is non-negative.

    Examples
    --------
    >>> made = describe_image(np.zeros((64, 64, 3), np.uint8))
    >>> {name: len(values) for name, values in made.items()}
    {'hog': 576, 'lbp': 236, 'gist': 320, 'colour': 256}
    """
    feature = require_images("skimage.feature")
    grey = pixels @ np.array([0.299, 0.587, 0.114])
    edges = feature.hog(grey, 9, (_CELL, _CELL), (2, 2), "L2-Hys", transform_sqrt=True)
    patterns = feature.local_binary_pattern(np.round(grey).astype(np.uint8), 8, 1, "nri_uniform").astype(np.intp)
    texture = [np.bincount(part.ravel(), minlength=59)[:59] for part in _quarters(patterns)]
    bins = (pixels >> 6).astype(np.intp) @ np.array([16, 4, 1])
    colour = [np.bincount(part.ravel(), minlength=64) for part in _quarters(bins)]
    return {
        "hog": edges.astype(np.float32),
        "lbp": _rooted(texture),
        "gist": _gist(grey),
        "colour": _rooted(colour),
    }


def _rooted(counts: list[npt.NDArray[np.intp]]) -> npt.NDArray[np.float32]:
    """Return square roots of shares: their products compare histograms as Hellinger's distance does."""
    joined = np.concatenate(counts)
    roots: npt.NDArray[np.float32] = np.sqrt(joined / joined.sum()).astype(np.float32)
    return roots


def _quarters(values: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    half = len(values) // 2
    return [values[top : top + half, left : left + half] for top in (0, half) for left in (0, half)]


def _gist(grey: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return the energy of waves of several lengths and directions in each of 4 × 4 parts."""
    contrast = (grey - grey.mean()) / (grey.std() + 10.0)  # light and weak contrast count little
    energies = np.abs(np.fft.ifft2(np.fft.fft2(contrast)[None] * _filters()))
    part = SIZE // 4
    means: npt.NDArray[np.float32] = (
        energies.reshape(len(energies), 4, part, 4, part).mean(axis=(2, 4)).ravel().astype(np.float32)
    )
    return means


@lru_cache(maxsize=1)
def _filters() -> npt.NDArray[np.float64]:
    vertical, horizontal = np.meshgrid(np.fft.fftfreq(SIZE), np.fft.fftfreq(SIZE), indexing="ij")
    made = []
    for n_directions, waves in _SCALES:
        for number in range(n_directions):
            angle = np.pi * number / n_directions
            away = (vertical - waves * np.sin(angle)) ** 2 + (horizontal - waves * np.cos(angle)) ** 2
            made.append(np.exp(-away / (2 * (waves / 2.5) ** 2)))
    return np.array(made)
