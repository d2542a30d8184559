"""The model that follows the labels, as files to take away."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ...core.arrays import Matrix
from ...data.table_views import TableViews
from ...data.views import Views
from ...fssmsc import FSSMSC


@dataclass(frozen=True, eq=False)
class AboutRows:
    """What files tell of the rows.

    Parameters
    ----------
    table : TableViews or None
        What turns a raw table into the views: part of the model's file.
    id_column : str or None
        The column of ids, by which `predict` names rows.
    ids : ndarray or None
        Ids of the rows.
    contents : table or None
        The rows as a person reads them.
    places : ndarray of shape (n_rows, 2), or None
        Where they are on the map.
    title : str
        Title of the report.
    """

    table: TableViews | None = None
    id_column: str | None = None
    ids: npt.NDArray[Any] | None = None
    contents: Any = None
    places: Matrix | None = None
    title: str = "Labels"


def model_bytes(model: FSSMSC, about: AboutRows) -> bytes:
    """Return the file of a model, with what reads its table."""
    from sklearn.pipeline import Pipeline

    from ..model_file import save

    named: Any = model if about.table is None else about.table
    named._id_column = about.id_column
    saved = model if about.table is None else Pipeline([("table", about.table), ("model", model)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.anchorview")
        save(saved, path, rows=True)  # so that it can tell rows of no known class
        return path.read_bytes()


def report_bytes(model: FSSMSC, y: npt.NDArray[Any], views: Views | None, about: AboutRows) -> bytes:
    """Return the report on a model."""
    from ...report.run_page import write_run_page
    from ...report.run_summary import summarise_run

    summary = summarise_run(
        model, y, X=views, rows=about.contents, ids=about.ids, xy=about.places, title=about.title, command="", files={}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        write_run_page(summary, path)
        return path.read_bytes()
