"""Results of a fitted model for other tools: as a DataFrame, or written into a MuData object."""

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
    """Write the results of a fit into the MuData (or AnnData) object it was made on.

    Labels go to ``obs["<key>_label"]`` as categories, confidences to ``obs["<key>_confidence"]`` and the embedding to
    ``obsm["X_<key>"]``. If anything stands in the way, nothing is written.

    Parameters
    ----------
    model : fitted estimator
        With ``labels_``, and ``confidence_`` and ``embedding_`` if it has them.
    mdata : mudata.MuData
        The object to write to; its cells are the rows of the fit, in the same order.
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
    _check_length(len(mdata.obs), len(results["label"]), "MuData")
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
    check_is_fitted(model, "labels_")
    names = ("labels_", "confidence_", "embedding_")
    pairs = zip(("label", "confidence", "embedding"), names, strict=True)
    return {short: np.array(getattr(model, name)) for short, name in pairs if hasattr(model, name)}


def _check_length(n_given: int, n_fitted: int, what: str) -> None:
    if n_given != n_fitted:
        raise ValueError(
            f"The {what} has {n_given} rows but the model was fitted on {n_fitted}; "
            "results can only go to the rows of the fit, in the same order."
        )
