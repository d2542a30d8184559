"""Views from AnnData and MuData objects: features, layers and embeddings by name, rows aligned by the cells' names.

A view is spelled the same way for both: ``"X"``, ``"layer:counts"``, ``"obsm:X_pca"``; of a MuData object the modality
comes first, ``"rna:X"`` (or just ``"rna"``), ``"rna:layer:counts"``, ``"rna:obsm:X_pca"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.arrays import is_sparse
from ..engine.sources.opening import stored_form
from .matrices import as_matrix
from .reading import ColumnGroups, RawViews, name_groups
from .rows import align_rows, read_ids
from .tables import column_names, is_table


def read_annotated(data: Any, views: ColumnGroups | None = None, layer: str | None = None) -> RawViews:
    """Return views of an AnnData or MuData object, with the names of the cells as ids.

    What has all cells in the order of ``data.obs_names`` is not copied; what only a file holds is read in blocks.
    `views` says what to read, spelled as above, or maps a view's name to that; by default ``X``, of every modality.
    `layer` is read in place of every ``X``.
    """
    modalities, cells = _modalities(data), data.obs_names
    if getattr(data, "axis", 0) == 1:
        raise ValueError(
            "The modalities of this MuData share variables, not cells (axis=1); views need cells in common: "
            "build it with MuData(..., axis=0)."
        )
    paths = _paths(data, views)
    if not paths:
        raise ValueError("No view was given; the MuData needs at least one modality.")
    found = {name: _find(data, path, layer) for name, path in paths.items()}
    arrays = [as_matrix(matrix, name) for name, (_, matrix, _) in found.items()]
    features = [names for _, _, names in found.values()]
    if modalities is None:
        items = cells.tolist()
        ids = read_ids(cells, len(items), "The AnnData") if len(set(items)) == len(items) else None
        return RawViews(arrays, list(found), features, [None] * len(arrays), ids)
    ids = read_ids(cells, len(cells), "The MuData")
    known, parts = set(ids.tolist()), []
    for (name, (owner, _, _)), array in zip(found.items(), arrays, strict=True):
        part = read_ids(owner.obs_names, array.shape[0], f"View {name!r}")
        strange = [item for item in part.tolist() if item not in known]
        if strange:
            raise ValueError(
                f"View {name!r} has cells that are not in the MuData object: {strange[:5]}. Call mdata.update() after "
                "changing it."
            )
        parts.append(part)
    aligned, present = align_rows(arrays, parts, ids)
    return RawViews(aligned, list(found), features, list(present.T), ids)


def paths_in(data: Any, views: ColumnGroups) -> dict[str, Any]:
    """Return the views by name, less those that the data does not have: these are absent."""
    return {name: path for name, path in _paths(data, views).items() if path in available(data)}


def available(data: Any) -> list[str]:
    """Return all that can be a view, as it is spelled; ``rna`` besides ``rna:X``, ``layers`` besides ``layer``."""
    modalities = _modalities(data)
    if modalities is None:
        own = ["X"] if getattr(data, "X", None) is not None else []
        layers = list(getattr(data, "layers", {}))
        own += [f"{word}:{key}" for word in ("layer", "layers") for key in layers]
        return own + [f"obsm:{key}" for key in getattr(data, "obsm", {})]
    shared = [f"obsm:{key}" for key in getattr(data, "obsm", {}) if key not in modalities]
    return [*modalities, *(f"{name}:{path}" for name, part in modalities.items() for path in available(part)), *shared]


def read_column(data: Any, name: str, what: str) -> Any:
    """Return a column of ``obs``, also ``"rna:celltype"`` of a modality, with the cells' names as its index."""
    if name in data.obs.columns:
        return data.obs[name]
    modalities = _modalities(data) or {}
    for prefix, part in modalities.items():
        if name.startswith(f"{prefix}:") and name[len(prefix) + 1 :] in part.obs.columns:
            return part.obs[name[len(prefix) + 1 :]].reindex(data.obs_names)
    columns = [*data.obs.columns, *(f"{prefix}:{column}" for prefix, part in modalities.items() for column in part.obs)]
    raise ValueError(f"{what}={name!r} is no column of obs, which has {columns}; give a column's name, or the values.")


def _modalities(data: Any) -> Mapping[str, Any] | None:
    """Return the modalities of a MuData object, None of an AnnData object."""
    found = getattr(data, "mod", None)
    return found if isinstance(found, Mapping) else None


def _paths(data: Any, views: ColumnGroups | None) -> dict[str, Any]:
    """Return what is to be read, by the name of the view."""
    modalities = _modalities(data)
    if views is None:
        return {name: name for name in (["X"] if modalities is None else modalities)}
    groups = list(name_groups(views).values())
    if not all(isinstance(group, str) for group in groups):
        raise ValueError(
            f"views={views!r} does not say which views to read of a {type(data).__name__}; name some of "
            f"{_spelled(data)}."
        )
    names = list(views) if isinstance(views, Mapping) else groups
    if len(set(names)) != len(names):
        raise ValueError(f"View names must differ; got {names}.")
    return dict(zip(names, groups, strict=True))


def _find(data: Any, path: str, layer: str | None) -> tuple[Any, Any, list[Any] | None]:
    """Return the object that a path leads to, the matrix there, and the names of its columns."""
    owner, rest = data, path
    for name, part in sorted((_modalities(data) or {}).items(), key=lambda item: -len(item[0])):
        if path == name or path.startswith(f"{name}:"):
            owner, rest = part, path[len(name) + 1 :] or "X"
            break
    kind, _, key = rest.partition(":")
    kind, key = ("layer", layer) if kind == "X" and layer is not None else (kind.replace("layers", "layer"), key)
    if kind == "X" and not key and hasattr(owner, "X"):
        if owner.X is None:
            raise ValueError(
                f"View {path!r} has no X; pass layer= or views= to read something else: {_spelled(data) or 'nothing'}."
            )
        return owner, _as_given(owner.X), _gene_names(owner)
    if kind == "layer" and hasattr(owner, "layers"):
        if key not in owner.layers:
            raise ValueError(f"View {path!r} has no layer {key!r}; it has {list(owner.layers)}.")
        return owner, _as_given(owner.layers[key]), _gene_names(owner)
    if kind == "obsm" and key in owner.obsm:
        found = owner.obsm[key]
        return owner, _as_given(found), column_names(found) if is_table(found) else None
    raise ValueError(f"There is no view {path!r} in the {type(data).__name__}; it has {_spelled(data)}.")


def _spelled(data: Any) -> str:
    return ", ".join(repr(path) for path in available(data) if "layers:" not in path and not path.endswith(":X"))


def _gene_names(owner: Any) -> list[Any] | None:
    """Return the names of the variables; None where they are merely numbered, as AnnData does without names."""
    names = getattr(owner, "var_names", None)
    if names is None:
        return None
    listed: list[Any] = names.tolist()
    return None if listed == [str(number) for number in range(len(listed))] else listed


def _as_given(matrix: Any) -> Any:
    """Return a matrix that only a file holds (a backed object) as a row source; one stored by columns in memory."""
    if hasattr(matrix, "to_memory") and getattr(matrix, "format", "") != "csr":
        return matrix.to_memory()
    stored = None if is_sparse(matrix) else stored_form(matrix, "X")
    return matrix if stored is None else stored
