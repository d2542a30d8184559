"""Results of a fit for other tools: a DataFrame, columns of an AnnData or MuData object, files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..engine.blocks import row_blocks
from .columns import Columns, as_plain, check_target, write_columns

_ROWS = 2**17  # written at a time
_ATTRIBUTES = {"label": "labels_", "confidence": "confidence_", "embedding": "embedding_"}


class HasLabels(Protocol):
    """A fitted estimator: one of this package, or of its baselines, which have fewer results."""

    @property
    def labels_(self) -> npt.NDArray[Any]:
        """Class of each row of the fit."""


def results_frame(model: HasLabels, index: Any = None) -> Any:
    """Return the results of a fit as a DataFrame.

    Parameters
    ----------
    model : fitted estimator
        With ``labels_``, and ``confidence_`` and ``embedding_`` if it has them.
    index : sequence, optional
        Index of the rows, such as the index of the DataFrame that was fitted, or ``views.ids``.

    Returns
    -------
    pandas.DataFrame
        One row for each row of the fit, with the columns ``label``, ``confidence``, ``embedding0``, ``embedding1``, …

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.export import results_frame
    >>> made = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)
    >>> model = FSSMSC(n_landmarks=10, random_state=0).fit(made.views, made.target)
    >>> list(results_frame(model).columns)
    ['label', 'confidence', 'embedding0', 'embedding1']
    """
    import pandas as pd

    results = _results(model)
    if index is not None:
        _check_length(len(index), len(results["label"]), "index")
    columns: dict[str, npt.NDArray[Any]] = {name: results[name] for name in ("label", "confidence") if name in results}
    for number, column in enumerate(results.get("embedding", np.empty((0, 0))).T):
        columns[f"embedding{number}"] = column
    return pd.DataFrame(columns, index=index)


def write_results(model: HasLabels, mdata: Any, *, key: str = "anchorview", overwrite: bool = False) -> None:
    """Write the results of a fit into the AnnData or MuData object it was made on.

    Labels go to ``obs["<key>_label"]`` as categories, confidences to ``obs["<key>_confidence"]`` and the embedding to
    ``obsm["X_<key>"]``, to the cells by their names. If anything stands in the way, nothing is written.

    Parameters
    ----------
    model : fitted estimator
        With ``labels_``, and ``confidence_`` and ``embedding_`` if it has them.
    mdata : anndata.AnnData or mudata.MuData
        The object to write to; its cells are the rows of the fit. They may be in another order if the fit knows their
        names (it was made on such an object, or on views with ids).
    key : str, default="anchorview"
        Part of the names to write to.
    overwrite : bool, default=False
        Whether results that are there already may be replaced.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from anchorview import FSSMSC, datasets
    >>> from anchorview.export import write_results
    >>> made = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)
    >>> model = FSSMSC(n_landmarks=10, random_state=0).fit(made.views, made.target)
    >>> mdata = SimpleNamespace(obs=pd.DataFrame(index=range(60)), obsm={})  # what is used of a MuData object
    >>> write_results(model, mdata)
    >>> list(mdata.obs.columns), list(mdata.obsm)
    (['anchorview_label', 'anchorview_confidence'], ['X_anchorview'])
    """
    import pandas as pd

    results = _results(model)
    _check_length(len(mdata.obs), len(results["label"]), type(mdata).__name__)
    order = _order_of(mdata.obs.index.tolist(), getattr(model, "_ids", None))
    results = results if order is None else {name: values[order] for name, values in results.items()}
    columns = {f"{key}_{name}": results[name] for name in ("label", "confidence") if name in results}
    place = f"X_{key}"
    taken = [f"obs[{name!r}]" for name in columns if name in mdata.obs]
    taken += [f"obsm[{place!r}]"] if "embedding" in results and place in mdata.obsm else []
    if taken and not overwrite:
        raise ValueError(f"{', '.join(taken)} would be replaced; pass overwrite=True, or another key=.")
    for name, column in columns.items():
        mdata.obs[name] = pd.Categorical(column) if name == f"{key}_label" else column
    if "embedding" in results:
        mdata.obsm[place] = results["embedding"]


def save_results(model: HasLabels, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
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
    found = {name: as_plain(values) for name, values in _result_columns(model).items()}
    target, ids = Path(path), getattr(model, "_ids", None)
    check_target(target, overwrite)
    if ids is not None:
        found = {"id": as_plain(ids), **found}
    n_rows = len(found["label"])

    def parts() -> Iterator[Columns]:
        for block in row_blocks(n_rows, _ROWS):
            # An embedding that stayed on a cluster is fetched.
            yield {name: np.asarray(values[block]) for name, values in found.items()}

    write_columns(target, parts(), n_rows, overwrite)
    return target


def _results(model: HasLabels) -> dict[str, npt.NDArray[Any]]:
    """Return copies of the results that a model has for each row."""
    return {name: np.array(values) for name, values in _result_columns(model).items()}


def _result_columns(model: HasLabels) -> dict[str, Any]:
    """Return the results that a model has for each row; an embedding that stayed on a cluster is there still."""
    check_is_fitted(model)
    _ = model.labels_  # an error says why, where a fitted model has none
    return {name: getattr(model, attribute) for name, attribute in _ATTRIBUTES.items() if hasattr(model, attribute)}


def _order_of(cells: list[Any], ids: npt.NDArray[Any] | None) -> npt.NDArray[np.intp] | None:
    """Return the rows of the fit in the order of the cells; None if it is the same, or the fit has no names of rows."""
    if ids is None or cells == list(range(len(cells))) or cells == ids.tolist():
        return None
    place = {item: row for row, item in enumerate(ids.tolist())}
    strange = [cell for cell in cells if cell not in place]
    if strange or len(set(cells)) != len(cells):
        raise ValueError(
            f"The model was not fitted on these cells: {', '.join(map(repr, strange[:5])) or 'names repeat'}; results "
            "can only go to the rows of the fit."
        )
    return np.array([place[cell] for cell in cells], dtype=np.intp)


def _check_length(n_given: int, n_fitted: int, what: str) -> None:
    if n_given != n_fitted:
        raise ValueError(
            f"The {what} has {n_given} rows but the model was fitted on {n_fitted}; "
            "results can only go to the rows of the fit, in the same order."
        )
