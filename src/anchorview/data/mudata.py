"""Views from a MuData object: one view per modality, rows aligned by the names of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from ..core.arrays import Presence
from .reading import as_matrix
from .rows import align_rows, read_ids


def read_mudata(
    mdata: Any, modalities: Sequence[str] | None = None, layer: str | None = None
) -> tuple[list[Any], list[str], Presence, npt.NDArray[Any]]:
    """Return the modalities of a MuData object as arrays, their names, which cells have which, and the cells' names.

    A modality that has all cells in the order of ``mdata.obs_names`` is not copied.

    Parameters
    ----------
    mdata : mudata.MuData
        The data; modalities may be dense or sparse. Nothing of it is changed.
    modalities : sequence of str, optional
        Modalities to use, in this order; by default all.
    layer : str, optional
        Layer to read in each modality, in place of ``X``.
    """
    if getattr(mdata, "axis", 0) == 1:
        raise ValueError(
            "The modalities of this MuData share variables, not cells (axis=1); views need cells in common: "
            "build it with MuData(..., axis=0)."
        )
    names = list(mdata.mod) if modalities is None else list(modalities)
    unknown = [name for name in names if name not in mdata.mod]
    if unknown:
        raise ValueError(f"There are no modalities {unknown}; the data has {list(mdata.mod)}.")
    if not names:
        raise ValueError("No view was given; the MuData needs at least one modality.")
    ids = read_ids(mdata.obs_names, len(mdata.obs_names), "The MuData")
    cells = set(ids.tolist())
    arrays, parts = [], []
    for name in names:
        modality = mdata.mod[name]
        array = as_matrix(_matrix(modality, name, layer), name)
        part = read_ids(modality.obs_names, array.shape[0], f"View {name!r}")
        strange = [item for item in part.tolist() if item not in cells]
        if strange:
            raise ValueError(
                f"View {name!r} has cells that the MuData lacks: {strange[:5]}; call mdata.update() after changing it."
            )
        arrays.append(array)
        parts.append(part)
    aligned, present = align_rows(arrays, parts, ids)
    return aligned, names, present, ids


def _matrix(modality: Any, name: str, layer: str | None) -> Any:
    """Return the features of a modality, read into memory where only a file holds them as a sparse matrix."""
    if layer is not None and layer not in modality.layers:
        raise ValueError(f"View {name!r} has no layer {layer!r}; it has {list(modality.layers)}.")
    matrix = modality.X if layer is None else modality.layers[layer]
    if matrix is None:
        raise ValueError(f"View {name!r} has no X; pass layer= to read a layer, or leave it out with modalities=.")
    return matrix.to_memory() if hasattr(matrix, "to_memory") else matrix
