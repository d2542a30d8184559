"""The results of a fit as files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..engine.blocks import row_blocks
from .columns import Columns, as_plain, check_target, write_columns

_ROWS = 2**17  # written at a time


def save_results(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write the labels, confidence and embedding of the rows of a fit to files, block by block.

    Parameters
    ----------
    model : fitted estimator
        With ``labels_``, and ``confidence_`` and ``embedding_`` if it has them.
    path : path
        A Parquet file (by its ending, ``.parquet``), with the columns ``label``, ``confidence``, ``embedding0``, …, and
        ``id`` if the rows of the fit had ids; anything else is a folder with ``label.npy``, ``confidence.npy``,
        ``embedding.npy`` and ``id.npy``. It appears when it is whole.
    overwrite : bool, default=False
        Whether what is there may be replaced.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.export import save_results
    >>> made = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)
    >>> model = FSSMSC(n_landmarks=10, random_state=0).fit(made.views, made.target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = save_results(model, f"{folder}/results")
    ...     np.load(results / "label.npy").shape, np.load(results / "embedding.npy").shape
    ((60,), (60, 2))
    """
    check_is_fitted(model, "labels_")
    target = Path(path)
    check_target(target, overwrite)
    names = {"id": "_ids", "label": "labels_", "confidence": "confidence_", "embedding": "embedding_"}
    columns = {name: getattr(model, attribute, None) for name, attribute in names.items()}
    found = {name: as_plain(values) for name, values in columns.items() if values is not None}
    n_rows = len(found["label"])

    def parts() -> Iterator[Columns]:
        for block in row_blocks(n_rows, _ROWS):
            # An embedding that stayed on a cluster is fetched.
            yield {name: np.asarray(values[block]) for name, values in found.items()}

    write_columns(target, parts(), n_rows, overwrite)
    return target
