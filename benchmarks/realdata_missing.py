"""Missing views: rows that lack some, told by a mask or filled in with means; a part of benchmarks/realdata.py."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from anchorview import FSSMSC, ActiveSet, Views, datasets
from anchorview.bench.scripts import Result, Runs
from anchorview.report.tables import markdown_table
from both_fits import remove_cells
from realdata_scores import fit_and_score, mean_of, table_row

_DEFAULT_DATA = ("hw", "scene15", "caltech101_7_re", "mnist4", "hdigit")


def impute_means(arrays: list[Any], present: Any) -> list[Any]:
    """Fill the rows that lack a view with the mean of those that have it."""
    return [
        np.where(has_view[:, None], array, array[has_view].mean(axis=0)).astype(array.dtype)
        for array, has_view in zip(arrays, present.T, strict=True)
    ]


def run_missing(data: Any, seed: int, share: float, how: str, inference: str) -> Result:
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    present = remove_cells(len(y), len(data.data), share, seed)
    views = Views(impute_means(data.data, present)) if how == "mean imputation" else Views(data.data, mask=present)
    return fit_and_score(FSSMSC(readers=inference, random_state=seed), views, y, data.target)


def run_default(data: Any, seed: int, share: float, method: str) -> Result:
    """Fit with everything left to the fit, or as before labels were read from products (units of the paper)."""
    y = datasets.hide_labels(data.target, 0.05, random_state=seed)
    present = remove_cells(len(y), len(data.data), share, seed)
    views = Views(data.data, mask=present) if share else Views(data.data)
    former = {"solver": ActiveSet(units="paper"), "scaling": "minmax", "readers": "nearest"}
    return fit_and_score(FSSMSC(random_state=seed, **({} if method == "default" else former)), views, y, data.target)


def defaults(runs: Runs) -> list[str]:
    """Return the table of the plain default, whose readings compare rows by products over the views that they have."""
    rows = []
    for name, method, share in product(_DEFAULT_DATA, ("default", "units of the paper, nearest"), (0.0, 0.3, 0.5)):
        key = {"what": "missing_default", "data": name, "share": share, "method": method}
        rows += table_row([name, method, f"{share:.0%}"], mean_of(runs, key, run_default, 5))
    return [markdown_table(["data", "settings", "missing", "draws", "ACC", "NMI", "ARI"], rows)]


def missing(runs: Runs) -> list[str]:
    rows = []
    for name, n_draws in (("hw", 20), ("caltech101_7_re", 5)):
        for share, inference in product((0.0, 0.3, 0.5), ("nearest", "knn")):
            for how in ("mask", "mean imputation") if share else ("complete",):
                key = {"what": "missing", "data": name, "share": share, "how": how, "inference": inference}
                mean = mean_of(runs, key, run_missing, n_draws)
                rows += table_row([name, f"{share:.0%}", how, inference], mean)
    note = "5 % labels; the removed cells are drawn anew each time."
    header = ["data", "missing", "how", "readers", "draws", "ACC", "NMI", "ARI"]
    return ["## Missing views", note, markdown_table(header, rows), *defaults(runs)]
