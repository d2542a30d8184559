"""Labelling in a notebook: the page of `anchorview label` in a cell."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..core.display import label_page


class LabelledInNotebook:
    """A model whose rows people label in a notebook."""

    def label(
        self,
        X: Any,
        *,
        contents: Any = None,
        journal: str | os.PathLike[str] | None = None,
        who: str | None = None,
        guidelines: str = "",
    ) -> Any:
        """Open a page in the notebook to label the rows of the fit; this model follows every label.

        It has the map, the queue, the keys and the figures of ``anchorview label`` (docs/labelling_page.md), and keeps
        labels in a journal of the same kind. Needs ``pip install 'anchorview[notebook]'``.

        Parameters
        ----------
        X : Views, list or dict of arrays, table, or array-like of shape (n_rows, n_features)
            The rows of the fit. The cells of a table are shown.
        contents : table of pandas, polars or pyarrow, optional
            What people see of each row: texts, cells, links, paths of pictures; by default `X`, if it is a table.
        journal : path, optional
            File in which labels are kept, each on the disk before the page goes on; by default
            ``notebook.labels.jsonl`` in the working directory. If it is there already, its labels are taken first.
        who : str, optional
            Your name, kept with every label.
        guidelines : str
            What people should know before they label.

        Returns
        -------
        anywidget.AnyWidget
            The page; ``labels`` are the labels by the ids of rows, and ``close()`` ends it.

        Examples
        --------
        >>> import tempfile
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = model.label(made.views, journal=f"{folder}/labels.jsonl")
        ...     len(page.labels)
        ...     page.close()
        18
        """
        check_is_fitted(self)
        return label_page(self, X, contents, journal, who, guidelines)
