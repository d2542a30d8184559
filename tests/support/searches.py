"""The data of a small search, to look into its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorview.data.labels import split_labels
from anchorview.tuning.judging import SearchData
from anchorview.tuning.options import SearchOptions


def search_data(some: Any, **changes: Any) -> SearchData:
    """Return the data of a search on `some` rows: views, y and what is to be different."""
    rows = np.flatnonzero(some.y >= 0)
    class_ids = some.y[rows]
    values = {
        "views": some.views,
        "present": None,
        "weights": None,
        "rows": rows,
        "class_ids": class_ids,
        "n_classes": int(class_ids.max()) + 1,
        "n_landmarks": 60,
        "other_n_landmarks": [],
        "default_scaling": "minmax",
        "folds": split_labels(class_ids, 3, np.random.RandomState(0)),
        "seed": 0,
        "n_threads": 1,
        "options": SearchOptions(),
    }
    return SearchData(**values | changes)
