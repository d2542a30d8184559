"""Labelled rows dealt out to folds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorview.data.labels import split_labels


@settings(deadline=None)
@given(st.lists(st.integers(-1, 5), max_size=60), st.integers(2, 7), st.integers(0, 1000))
def test_folds_hold_each_row_once_and_never_a_whole_class(labels: list[int], n_folds: int, seed: int) -> None:
    class_ids = np.array(labels, dtype=np.intp)
    folds = split_labels(class_ids, n_folds, np.random.RandomState(seed))
    rows = np.concatenate([*folds, np.empty(0, dtype=int)])
    counts = np.bincount(class_ids[class_ids >= 0], minlength=6)
    assert sorted(rows.tolist()) == np.flatnonzero((class_ids >= 0) & (counts[class_ids] > 1)).tolist()
    assert len(folds) <= n_folds and all(len(fold) for fold in folds)
    for fold in folds:
        assert (np.bincount(class_ids[fold], minlength=6) < counts)[counts > 0].all()
        assert (np.diff(fold) > 0).all()
    if folds:
        sizes = [len(fold) for fold in folds]
        assert len(folds) < n_folds or max(sizes) - min(sizes) <= 1
        for number, count in enumerate(counts):
            in_folds = [int((class_ids[fold] == number).sum()) for fold in folds]
            assert count < 2 or max(in_folds) <= -(-count // n_folds)


def test_the_seed_decides() -> None:
    class_ids = np.repeat(np.arange(3), 20)
    first, again, other = (split_labels(class_ids, 4, np.random.RandomState(seed)) for seed in (0, 0, 1))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert any((a != b).any() for a, b in zip(first, other, strict=True))
