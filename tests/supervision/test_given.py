"""What a fit is given: labels that are hidden to judge a model."""

from __future__ import annotations

import numpy as np

from anchorview import Constraints, Views
from anchorview.supervision.given import read_known


def test_hidden_labels_are_not_told_by_pairs_and_a_class_without_labels_is_gone() -> None:
    views = Views([np.arange(10.0).reshape(5, 2)])
    pairs = Constraints.from_pairs(must=[(0, 3), (1, 2)], cannot=[(0, 1)], n_rows=5)
    pairs = pairs + Constraints.from_groups(must=[0, 0, 1, 1, -1])
    given = read_known(views, None, None, ["a", "b", "b", "", "c"], None, pairs, None)
    hidden = given.hide(np.array([0, 1]))
    assert hidden.known.classes[hidden.known.class_ids[[2, 4]]].tolist() == ["b", "c"]
    assert hidden.known.class_ids.tolist().count(-1) == 3 and len(hidden.known.classes) == 2
    assert hidden.known.pairs is not None and given.known.pairs is not None
    np.testing.assert_array_equal(np.flatnonzero(hidden.known.pairs.touched()), [2, 3])
    assert given.known.pairs.touched()[:4].all()  # what was given stays
