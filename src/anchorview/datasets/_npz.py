"""Read a multi-view data set from npz files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from ._bunch import make_bunch


def load_npz(path: str | os.PathLike[str]) -> Bunch:
    """Load a multi-view data set from an npz file.

    Parameters
    ----------
    path : path-like
        A file that holds ``y`` (one class per row), ``view_names`` and the views ``v0``, ``v1``, …, one for
        each name. Sparse views lie beside it instead: for ``news.npz`` they are ``news_v0.npz``,
        ``news_v1.npz``, …, written by `scipy.sparse.save_npz`. Names of the classes may be given as
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
        If the file is no npz file, lacks an entry, or its row counts differ.

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
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    with np.load(_require_zip(path), allow_pickle=False) as stored:
        entries = {key: stored[key] for key in stored.files}
    missing = [key for key in ("y", "view_names") if key not in entries]
    if missing:
        raise ValueError(f"{path} has no entry {' and no entry '.join(map(repr, missing))}.")

    target = entries["y"]
    view_names = [str(name) for name in entries["view_names"]]
    data = [_load_view(path, entries, number) for number in range(len(view_names))]
    for name, view in zip(view_names, data, strict=True):
        if view.shape[0] != len(target):
            raise ValueError(
                f"View {name!r} of {path} has {view.shape[0]} rows but y has {len(target)}; "
                "every view needs one row per sample."
            )
    target_names = [str(name) for name in entries.get("classes", np.unique(target))]
    return make_bunch(data, target, view_names, target_names, f"Multi-view data read from {path}.")


def _require_zip(path: Path) -> Path:
    if not is_zipfile(path):
        raise ValueError(f"{path} is not an npz file.")
    return path


def _load_view(path: Path, entries: dict[str, Any], number: int) -> Any:
    """Take a view from the file itself or, if it is sparse, from the file beside it."""
    key = f"v{number}"
    if key in entries:
        return entries[key]
    beside = path.with_name(f"{path.stem}_{key}.npz")
    if any(f"v{other}" in entries for other in range(len(entries["view_names"]))):
        raise ValueError(f"{path} names {len(entries['view_names'])} views but has no entry {key!r}.")
    if not beside.is_file():
        raise FileNotFoundError(f"{path} has no entry {key!r}, and there is no file {beside} beside it.")
    return sparse.csr_matrix(sparse.load_npz(_require_zip(beside)))
