"""Arrays for the browser: a length, a header in JSON, then the arrays, each at a multiple of four bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.arrays import Matrix
from .state import Figures, State


def pack(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> bytes:
    """Return one block of bytes; the header says of each array its type, start (after the header) and length.

    Examples
    --------
    >>> data = pack({"version": 1}, {"label": np.array([0, 2], dtype=np.uint16)})
    >>> int.from_bytes(data[:4], "little") % 4, len(data) % 4
    (0, 0)
    """
    listed, parts, start = [], [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        data += b"\0" * (-len(data) % 4)
        listed.append({"name": name, "type": str(array.dtype), "start": start, "length": array.size})
        parts.append(data)
        start += len(data)
    text = json.dumps({**header, "arrays": listed}).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + b"".join(parts)


def pack_map(places: Matrix) -> bytes:
    """Return the places of all rows."""
    return pack({"rows": len(places)}, {"places": places.astype("<f4").ravel()})


def pack_state(state: State, figures: Figures, labelled: Iterable[int]) -> bytes:
    """Return label (0 for none, else place among the classes and 1), confidence and novelty of all rows.

    Only rows that people have labelled have a confidence of 255.
    """
    label = (state.class_ids + 1).astype("<u2")
    if not len(label) or label.max() < 256:
        label = label.astype(np.uint8)
    shares = {"confidence": state.confidence, "novelty": figures.novelty}
    arrays = {name: np.round(254 * np.clip(share, 0, 1)).astype(np.uint8) for name, share in shares.items()}
    arrays["confidence"][list(labelled)] = 255
    return pack({"version": state.version, "rows": len(label)}, {"label": label, **arrays})
