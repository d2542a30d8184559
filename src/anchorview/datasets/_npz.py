"""Read a multi-view data set from npz files."""

from __future__ import annotations

import os
import zlib
from itertools import count, takewhile
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from ..data.matrices import checked_csr
from ._bunch import check_finite_labels, existing_file, make_bunch
from ._zip import check_sizes


def load_npz(path: str | os.PathLike[str]) -> Bunch:
    """Load a multi-view data set from an npz file.

    Parameters
    ----------
    path : path-like
        A file that holds ``y`` (one class per row) and the views ``v0``, ``v1``, …. Sparse views lie beside it
        instead: for ``news.npz`` they are ``news_v0.npz``, ``news_v1.npz``, …, written by
        `scipy.sparse.save_npz`. Names of the views may be given as ``view_names``, those of the classes as
        ``classes``.

    Returns
    -------
    sklearn.utils.Bunch
        data : list of ndarrays or CSR matrices of shape (n_samples, n_features)
            The views, in the type they were stored in.
        views : Views
            The same views as one object that can be sliced by rows.
        target : ndarray of shape (n_samples,)
            The classes.
        view_names : list of str
            Names of the views.
        target_names : list of str
            Names of the classes.
        DESCR : str
            Where the data came from.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or a sparse view is missing.
    ValueError
        If the file is not an npz file, an entry is missing, or row counts differ.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from anchorview.datasets import load_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/tiny.npz"
    ...     np.savez(path, v0=np.ones((3, 2)), v1=np.ones((3, 4)), y=[0, 1, 1], view_names=["image", "text"])
    ...     tiny = load_npz(path)
    >>> tiny.view_names, [view.shape for view in tiny.data]
    (['image', 'text'], [(3, 2), (3, 4)])
    """
    path = existing_file(path)
    with np.load(_require_zip(path), allow_pickle=False) as stored:
        wanted = [key for key in stored.files if _is_ours(key)]
        check_sizes(path, wanted)
        entries = {key: _read_entry(stored, key, path) for key in wanted}  # what else there is stays packed
    if "y" not in entries:
        raise ValueError(f"{path} has no entry 'y', the classes; it has {', '.join(map(repr, entries)) or 'none'}.")
    for key, value in entries.items():
        n_dims = 1 if key in ("y", "view_names", "classes") else 2
        if value.ndim != n_dims:
            raise ValueError(
                f"{key} of {path} has shape {value.shape}; it needs {n_dims} dimension{'s'[: n_dims - 1]}."
            )
    target, view_names = entries["y"], _view_names(path, entries)
    if not len(target):
        raise ValueError(f"{path} has no rows: its entry 'y' is empty.")
    check_finite_labels(target, f"y of {path}")
    _check_views(path, entries, view_names)
    data = [_load_view(path, entries, number, len(view_names)) for number in range(len(view_names))]
    for name, view in zip(view_names, data, strict=True):
        if view.shape[0] != len(target):
            raise ValueError(
                f"View {name!r} of {path} has {view.shape[0]} rows but y has {len(target)}; "
                "every view needs one row per sample."
            )
    target_names = [str(name) for name in entries.get("classes", np.unique(target))]
    return make_bunch(data, target, view_names, target_names, f"Multi-view data read from {path}.")


def _read_entry(stored: Any, key: str, path: Path) -> Any:
    """Return one array; what is damaged or holds Python objects is refused by name."""
    try:
        return stored[key]
    except (ValueError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise ValueError(f"The entry {key!r} of {path} cannot be read: {error}") from None


def _is_ours(key: str) -> bool:
    return key in ("y", "view_names", "classes") or (key[:1] == "v" and key[1:].isdigit())


def _require_zip(path: Path) -> Path:
    if not is_zipfile(path):
        raise ValueError(f"{path} is not an npz file.")
    return path


def _view_names(path: Path, entries: dict[str, Any]) -> list[str]:
    """Return the names in the file, or v0, v1, … as far as there are views."""
    if "view_names" in entries:
        return [str(name) for name in entries["view_names"]]
    names = list(takewhile(entries.__contains__, map("v{}".format, count())))
    names = names or list(takewhile(lambda name: _beside(path, name).is_file(), map("v{}".format, count())))
    if not names:
        raise ValueError(
            f"{path} has no entry 'v0', the first view, and there is no file {_beside(path, 'v0')} beside it."
        )
    return names


def _check_views(path: Path, entries: dict[str, Any], names: list[str]) -> None:
    """Raise an error if a view would be dropped, or two had one name."""
    if len(set(names)) != len(names):
        raise ValueError(f"{path} names two views alike: {names}; view_names must differ.")
    stored = sorted(int(key[1:]) for key in entries if key[:1] == "v" and key[1:].isdigit())
    beyond = [number for number in stored if number >= len(names)]
    if beyond:
        reason = "view_names has too few names" if "view_names" in entries else f"there is no 'v{len(names)}'"
        raise ValueError(
            f"{path} holds the view 'v{beyond[0]}', which would be left out: {reason}. Number the views v0, v1, … "
            "without a gap, and name all or none."
        )


def _beside(path: Path, key: str) -> Path:
    return path.with_name(f"{path.stem}_{key}.npz")


def _load_view(path: Path, entries: dict[str, Any], number: int, n_views: int) -> Any:
    """Take a view from the file itself or, if it is sparse, from the file beside it."""
    key = f"v{number}"
    if key in entries:
        return entries[key]
    if any(f"v{other}" in entries for other in range(n_views)):
        raise ValueError(f"{path} names {n_views} views but has no entry {key!r}.")
    if not _beside(path, key).is_file():
        raise FileNotFoundError(f"{path} has no entry {key!r}, and there is no file {_beside(path, key)} beside it.")
    check_sizes(_require_zip(_beside(path, key)))
    try:
        stored = sparse.load_npz(_beside(path, key))
        return sparse.csr_matrix(checked_csr(stored, key))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise ValueError(f"{_beside(path, key)} cannot be read as a sparse matrix: {error}") from None
