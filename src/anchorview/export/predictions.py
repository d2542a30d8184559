"""`predict_to`: labels of any number of rows, written part by part; what was done before a crash is not done again."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base import MultiViewClassifier
from ..core.checks import check_number
from ..core.digest import content_key
from ..core.partial_results import PartialResults
from ..data.views import Views
from ..engine.blocks import row_blocks
from ..engine.sources.base import StoredRows
from .columns import Columns, as_plain, check_target, write_columns

_SAMPLE = 1000  # rows of an array in memory that tell it from another


def predict_to(
    model: MultiViewClassifier,
    X: Any,
    path: str | os.PathLike[str],
    *,
    block_rows: int = 2**18,
    probabilities: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Predict rows from any source block by block, and write what comes out.

    Each block is kept as a part in a folder beside `path` (``<path>.parts``). If the process ends before all are done,
    however it ends, the same call goes on with the blocks that are not there. At the end the parts become one result,
    and are removed. While one process works on a path, another is refused.

    Parameters
    ----------
    model : FSSMSC or AnchorViewClassifier
        A fitted model.
    X : Views, list or dict of arrays or sources, or array-like of shape (n_rows, n_features)
        Rows with the views of the fit; those of stores (see :func:`anchorview.open_rows`) are read once.
    path : path
        A Parquet file (by its ending, ``.parquet``), with the columns ``label`` and ``confidence``, ``id`` if the views
        have ids, and ``probability0``, …; anything else is a folder with ``label.npy``, ``confidence.npy`` and so on.
    block_rows : int, default=262144
        Rows of a part: what is held in memory, and what is lost when a process ends.
    probabilities : bool, default=False
        Write the probabilities of all classes, in the order of ``model.classes_``, too.
    resume : bool, default=True
        Go on with parts that are there. They are refused if they come from another model, or from rows that have
        changed; with False they are removed.
    overwrite : bool, default=False
        Whether a result that is there may be replaced.
    progress : callable, optional
        Called with the number of rows done, and of all rows, after each part.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from anchorview import FSSMSC, Views, datasets, open_rows
    >>> from anchorview.export import predict_to
    >>> made = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)
    >>> model = FSSMSC(n_landmarks=10, random_state=0).fit(made.views, made.target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, array in made.views.items():
    ...         np.save(f"{folder}/{name}.npy", array)
    ...     stored = Views([open_rows(f"{folder}/{name}.npy") for name in made.views.names])
    ...     result = predict_to(model, stored, f"{folder}/labels", block_rows=25)
    ...     bool((np.load(result / "label.npy") == model.predict(made.views)).all())
    True
    """
    check_is_fitted(model)
    check_number("block_rows", block_rows, low=1, integer=True)
    target = Path(path)
    folder = target.with_name(f"{target.name}.parts")
    check_target(target, overwrite or folder.exists())
    views = model._read_new(X)
    work = {
        "rows": len(views),
        "model": content_key(model._model),
        "source": _key_of_rows(views),
        "block_rows": int(block_rows),
        "probabilities": bool(probabilities),
    }
    blocks = row_blocks(len(views), int(block_rows))
    with PartialResults(folder, target, work, ".npz") as parts:
        if not resume:
            parts.clear()
        elif parts.differs:
            raise ValueError(
                f"{folder} holds parts of another work, with another {' and '.join(parts.differs)}: they cannot be put "
                "together with new ones. Pass resume=False to start anew, or write to another path."
            )
        if not parts.are_put_together(len(blocks)):
            check_target(target, overwrite)
            predict = partial(_predict_block, model, views, probabilities)
            for block, _ in parts.fill(blocks, predict, lambda columns, stream: np.savez(stream, **columns)):
                if progress is not None:
                    progress(block.stop, len(views))
            kept = (_read_part(parts.path(number)) for number in range(len(blocks)))
            write_columns(target, kept, len(views), overwrite)
        parts.clear()
    return target


def _read_part(path: Path) -> Columns:
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def _predict_block(model: MultiViewClassifier, views: Views, probabilities: bool, block: slice) -> dict[str, Any]:
    """Return the columns of one block of rows."""
    rows = views[block]
    try:
        chunks = list(model._iter_rows(rows, "probabilities"))
    except ValueError as error:
        where = f"In rows {block.start} to {block.stop - 1}, which are numbered from 0 here: "
        raise ValueError(where + str(error)) from error
    found = np.concatenate([chunk for _, chunk, _ in chunks])
    empty = np.concatenate([np.zeros(len(part), bool) if none is None else none for _, part, none in chunks])
    found[empty] = 1 / found.shape[1]
    columns = {} if rows.ids is None else {"id": as_plain(rows.ids)}
    likeliest = model._model.top_two(found)
    columns["label"] = as_plain(model._model.labels(likeliest.class_ids, empty if model.on_empty == "drop" else None))
    columns["confidence"] = np.where(empty, 0.0, likeliest.confidence).astype(found.dtype)
    if probabilities:
        columns["probability"] = found
    views.check_unchanged()
    return columns


def _key_of_rows(views: Views) -> str:
    """Name rows by their stores as they are now, and arrays in memory by some of their rows."""
    step = max(1, len(views) // _SAMPLE)
    known: list[Any] = [views.names, views.present, views.ids]
    for array in views.arrays:
        stamp = array.stamp() if isinstance(array, StoredRows) else None
        known += [array.shape, str(array.dtype), array[::step] if stamp is None else repr(stamp)]
    return content_key(known)
