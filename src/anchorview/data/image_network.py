"""Networks for photos in ONNX files, run by onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .image_files import Pixels, require_images

_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, as networks for photos expect
_BYTES = "tensor(uint8)"
_INPUTS = {"tensor(float)": np.float32, "tensor(float16)": np.float16, _BYTES: np.uint8}  # what networks take
ImageEncoder = Callable[[Sequence[Any]], Any]


def check_network_file(path: str | os.PathLike[str]) -> None:
    """Raise an error if there is no such file."""
    if not Path(path).is_file():
        raise ValueError(f"There is no file {path}; an image encoder is a callable or the path of an .onnx file.")


def load_network(path: str | os.PathLike[str]) -> tuple[int, ImageEncoder]:
    """Return the size of the photos that a network takes, and a function that runs it."""
    check_network_file(path)
    runtime = require_images("onnxruntime", "onnx")
    try:
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen kinds of errors, none of which is a class of Python's
        raise ValueError(
            f"{path} is not a network that onnxruntime can read: {' '.join(str(error).split())[:200]}"
        ) from None
    given = session.get_inputs()[0]
    if given.type not in _INPUTS:
        raise ValueError(f"{path} takes {given.type}; a network for photos takes {', '.join(_INPUTS)}.")
    shape = [one if isinstance(one, int) else None for one in given.shape]
    if len(shape) != 4:
        raise ValueError(f"{path} takes an input of shape {given.shape}; a network for photos takes four dimensions.")
    if shape[0] not in (None, 1):
        raise ValueError(f"{path} takes {shape[0]} photos at a time; export it with a free first dimension, or with 1.")
    last = shape[3] == 3
    size = (shape[1] if last else shape[2]) or 224
    mean, spread = np.array(_MEAN, dtype=np.float32), np.array(_SPREAD, dtype=np.float32)

    def run(images: Sequence[Pixels]) -> npt.NDArray[np.float32]:
        batch: npt.NDArray[Any] = np.stack(images)
        if given.type != _BYTES:  # a network that takes bytes scales them itself
            batch = ((batch.astype(np.float32) / 255 - mean) / spread).astype(_INPUTS[given.type])
        batch = batch if last else np.ascontiguousarray(batch.transpose(0, 3, 1, 2))
        parts = [batch] if shape[0] is None else [batch[row : row + 1] for row in range(len(batch))]
        found = np.concatenate([session.run(None, {given.name: part})[0] for part in parts])
        if found.ndim > 2:  # of each place in the photo: the mean
            found = found.mean(axis=tuple(range(1, found.ndim - 1)) if last or found.ndim == 3 else (2, 3))
        return np.asarray(found, dtype=np.float32)

    return size, run
