"""Results of a fitted model for other tools: as a DataFrame, or written into an AnnData or MuData object."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted


def results_frame(model: Any, index: Any = None) -> Any:
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


def write_results(model: Any, mdata: Any, *, key: str = "anchorview", overwrite: bool = False) -> None:
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


def _results(model: Any) -> dict[str, npt.NDArray[Any]]:
    """Return copies of the results that a model has for each row."""
    check_is_fitted(model)
    _ = model.labels_  # an error says why, where a fitted model has none
    names = ("labels_", "confidence_", "embedding_")
    pairs = zip(("label", "confidence", "embedding"), names, strict=True)
    return {short: np.array(getattr(model, name)) for short, name in pairs if hasattr(model, name)}


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
