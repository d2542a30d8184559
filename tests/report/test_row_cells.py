"""What a reader sees of a row: text and telling cells, and no vectors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anchorview.report.row_cells import row_cells, telling_columns


def test_vectors_are_not_shown_however_they_are_written() -> None:
    table = pd.DataFrame(
        {
            "note": ["a fast red car", "an old blue car"] * 4,
            "written": ["[0.25, -1e-3, 4]", "[0.5, 2, 1.25]"] * 4,
            "listed": [[0.25, 1.0], [0.5, 2.0]] * 4,
            "tags": ['["red", "fast"]', '["blue"]'] * 4,
        }
    )
    class_ids = np.array([0, 1] * 4)
    assert telling_columns(table, class_ids) == ["note", "tags"]
    assert [name for name, _ in row_cells(table, None, [0], class_ids)[0]] == ["note", "tags"]
