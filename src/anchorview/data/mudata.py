"""Views from a MuData object: one view per modality, rows aligned by the names of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .reading import as_matrix
from .rows import align_rows, read_ids
from .views import Views


def views_from_mudata(mdata: Any, *, modalities: Sequence[str] | None = None, layer: str | None = None) -> Views:
    """Read the modalities of a MuData object as views.

    The rows are ``mdata.obs_names``, in that order, and are the ids of the result; a modality is missing in the cells
    that it does not have. A modality that has all cells in this order is not copied.

    Parameters
    ----------
    mdata : mudata.MuData
        The data; modalities may be dense or sparse. Nothing of it is changed.
    modalities : sequence of str, optional
        Modalities to use, in this order; by default all.
    layer : str, optional
        Layer to read in each modality, in place of ``X``.

    Returns
    -------
    Views
        With `ids`, and `present` where some cells lack a modality.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from anchorview.data.mudata import views_from_mudata
    >>> rna = SimpleNamespace(X=np.ones((2, 5)), obs_names=["cell1", "cell2"])
    >>> protein = SimpleNamespace(X=np.ones((2, 3)), obs_names=["cell2", "cell3"])
    >>> mdata = SimpleNamespace(mod={"rna": rna, "protein": protein}, obs_names=["cell1", "cell2", "cell3"])
    >>> views_from_mudata(mdata)  # what is read of a MuData object
    Views(3 rows; rna: 5 (missing in 1), protein: 3 (missing in 1))
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
    return Views(aligned, names=names, mask=present, ids=ids)


def _matrix(modality: Any, name: str, layer: str | None) -> Any:
    """Return the features of a modality, read into memory where only a file holds them as a sparse matrix."""
    if layer is not None and layer not in modality.layers:
        raise ValueError(f"View {name!r} has no layer {layer!r}; it has {list(modality.layers)}.")
    matrix = modality.X if layer is None else modality.layers[layer]
    if matrix is None:
        raise ValueError(f"View {name!r} has no X; pass layer= to read a layer, or leave it out with modalities=.")
    return matrix.to_memory() if hasattr(matrix, "to_memory") else matrix
