"""Rows that are typical of a class, and their photos, small enough for a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.arrays import ClassIds
from ..data.image_files import UnreadableImage, read_thumbnail, require_images

PhotoFiles = Callable[[Sequence[int]], Sequence[Path | None]]
N_PHOTOS = 4  # of a class
_MOST_CLASSES = 30  # the largest: a page stays below a megabyte
_SIDE = 72  # pixels
_MOST_ROWS = 20_000  # of a class, that are looked at


class Photo(NamedTuple):
    """A small photo as a page holds it."""

    name: str
    uri: str
    width: int
    height: int


def typical_rows(embedding: Any, class_ids: ClassIds, n_classes: int, n: int) -> list[list[int]]:
    """Return for each class the rows that show best what it is: near its own mean, and far from those of the others.

    Parameters
    ----------
    embedding : array of shape (n_rows, n_components)
        Places of the rows, compared by angle.
    class_ids : ndarray of int of shape (n_rows,)
        The class of each row, -1 for none.
    n_classes : int
        Number of classes.
    n : int
        Rows of a class.

    Examples
    --------
    >>> places = np.array([[1.0, 0.0], [1.0, 0.9], [0.0, 1.0], [0.8, 1.0]])
    >>> typical_rows(places, np.array([0, 0, 1, 1]), 2, 1)
    [[0], [2]]
    """
    members = [np.flatnonzero(class_ids == number)[:_MOST_ROWS] for number in range(n_classes)]
    means = np.zeros((n_classes, embedding.shape[1]))
    for number, rows in enumerate(members):
        if len(rows):
            means[number] = _unit(embedding[rows]).mean(axis=0)
    means = _unit(means)
    chosen = []
    for number, rows in enumerate(members):
        likeness = _unit(embedding[rows]) @ means.T
        own = likeness[:, number].copy()
        likeness[:, number] = -1.0
        order = np.argsort(-(own - likeness.max(axis=1)), kind="stable") if n_classes > 1 else np.argsort(-own)
        chosen.append(rows[order[:n]].tolist())
    return chosen


def class_photos(
    embedding: Any, class_ids: ClassIds, n_classes: int, photos: PhotoFiles | None
) -> dict[int, list[Photo]]:
    """Return photos of rows that are typical of the largest classes; none if rows have no photos."""
    if photos is None:
        return {}
    sizes = np.bincount(class_ids[class_ids >= 0], minlength=n_classes)
    largest = np.argsort(-sizes, kind="stable")[:_MOST_CLASSES]
    rows = typical_rows(embedding, class_ids, n_classes, 2 * N_PHOTOS)  # some may be unreadable by now
    return {int(number): load_photos(photos(rows[number]))[:N_PHOTOS] for number in largest}


def load_photos(files: Sequence[Path | None]) -> list[Photo]:
    """Return small copies of photos; those that cannot be read are left out."""
    image_module = require_images("PIL.Image")
    made = []
    for file in files:
        if file is None:
            continue
        try:
            pixels = read_thumbnail(file, _SIDE)
        except UnreadableImage:
            continue
        stream = io.BytesIO()
        image_module.fromarray(pixels).save(stream, "JPEG", quality=80)
        uri = f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
        made.append(Photo(file.name, uri, pixels.shape[1], pixels.shape[0]))
    return made


def _unit(rows: Any) -> Any:
    values = np.nan_to_num(np.asarray(rows, dtype=np.float64))
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-300)
