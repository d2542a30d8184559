"""Nothing silently wrong: columns, indexes and labels as people really have them, and refits that fail."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from anchorview import FSSMSC, AnchorViewClassifier, Views, datasets
from support.settled import SETTLED


@pytest.fixture(scope="module")
def made():
    return datasets.make_multiview_subspaces(240, 3, (8, 6), random_state=0)


@pytest.fixture(scope="module")
def y(made):
    return datasets.hide_labels(made.target, 0.2, random_state=0)


def frames(made, index=None):
    names = [[f"{letter}{i}" for i in range(part.shape[1])] for letter, part in zip("ab", made.data, strict=True)]
    return {
        view: pd.DataFrame(part, columns=columns, index=index)
        for view, part, columns in zip(("first", "second"), made.data, names, strict=True)
    }


def build(**parameters):
    return FSSMSC(**{**SETTLED, "n_landmarks": 40, "random_state": 0, **parameters})


def shuffled_columns(frame, seed=0):
    return frame[np.random.default_rng(seed).permutation(frame.columns)]


@pytest.mark.parametrize("form", [dict, Views, lambda parts: pd.concat(parts, axis=1)])
def test_columns_in_another_order_are_put_right(made, y, form):
    parts = frames(made)
    model = build().fit(form(parts), y)
    moved = {name: shuffled_columns(frame) for name, frame in parts.items()}
    np.testing.assert_array_equal(model.predict(form(moved)), model.predict(form(parts)))


def test_columns_of_other_names_are_refused_by_name(made, y):
    parts = frames(made)
    model = build().fit(parts, y)
    with pytest.raises(ValueError, match=r"columns of view 'second' are not those of the fit: it lacks \['b0'\]"):
        model.predict({**parts, "second": parts["second"].rename(columns={"b0": "c0"})})


def test_views_whose_rows_are_in_another_order_are_aligned_by_their_index(made, y):
    ids = [f"row{i}" for i in range(240)]
    parts = frames(made, ids)
    expected = build().fit(parts, y).labels_
    moved = {**parts, "second": parts["second"].sample(frac=1, random_state=0)}
    model = build().fit(moved, y)
    np.testing.assert_array_equal(model.labels_, expected)
    assert Views(parts).ids.tolist() == ids
    assert np.shares_memory(Views(parts).arrays[0], parts["first"].to_numpy())  # the same order costs nothing


def test_indexes_that_cannot_be_aligned_are_refused_with_the_first_ids(made):
    parts = frames(made, [f"row{i}" for i in range(240)])
    parts["second"].index = [f"row{i}" for i in range(1, 241)]
    with pytest.raises(ValueError, match="'first' and view 'second' differ: the ids 'row0' are in one only"):
        Views(parts)


@pytest.mark.parametrize("as_mapping", [False, True])
def test_labels_are_aligned_by_their_index(made, y, as_mapping):
    ids = np.array([f"row{i}" for i in range(240)])
    parts = frames(made, ids)
    series = pd.Series(y, index=ids).sample(frac=1, random_state=1)
    given = {key: label for key, label in series.items() if label != -1} if as_mapping else series
    np.testing.assert_array_equal(build().fit(parts, given).labels_, build().fit(parts, y).labels_)
    with pytest.raises(ValueError, match="labels for ids that no row has: 'nobody'"):
        build().fit(parts, {**dict.fromkeys(ids[:9], 0), "nobody": 1})


def test_columns_that_no_view_takes_are_ignored(made, y):
    parts = frames(made)
    table = pd.concat(list(parts.values()), axis=1).assign(label=y)
    groups = {name: frame.columns.tolist() for name, frame in parts.items()}
    model = build(views=groups).fit(table, y)
    assert model.n_features_in_ == 14
    assert "label" not in model.feature_names_in_
    np.testing.assert_array_equal(model.predict(table), model.predict(table.drop(columns="label")))
    assert np.isfinite(cross_val_score(build(views=groups), table, made.target, cv=2)).all()


@pytest.mark.parametrize("mark", ["nan", "None", "unknown", "-1"])
def test_text_that_looks_like_a_missing_label_is_refused_or_named(made, y, mark):
    text = np.where(y == -1, mark, np.array(["x", "y", "z"])[y])
    with pytest.raises(ValueError, match="looks like a missing label"):
        build().fit(made.views, text)
    assert build(unlabelled=mark).fit(made.views, text).classes_.tolist() == ["x", "y", "z"]


def test_a_rare_class_named_like_a_missing_value_is_a_class(made):
    text = np.array(["x", "y", "unknown"])[made.target]
    assert "unknown" in build().fit(made.views, text).classes_


def test_nan_and_masked_labels_are_unlabelled(made, y):
    expected = build().fit(made.views, y).labels_
    as_float = np.where(y == -1, np.nan, y)
    np.testing.assert_array_equal(build().fit(made.views, as_float).labels_, expected)
    with pytest.raises(ValueError, match="Only one class is labelled"):  # NaN beside labels of 1 is no class
        build().fit(made.views, np.where(made.target == 1, 1.0, np.nan))
    hidden = np.ma.masked_array(made.target, mask=y == -1)
    np.testing.assert_array_equal(build().fit(made.views, hidden).labels_, expected)


def test_masked_features_are_missing(made, y):
    masked = np.ma.masked_array(made.data[0], mask=np.zeros(made.data[0].shape, dtype=bool))
    masked.mask[:5] = True
    absent = made.data[0].copy()
    absent[:5] = np.nan
    expected = build().fit([absent, made.data[1]], y).labels_
    np.testing.assert_array_equal(build().fit([masked, made.data[1]], y).labels_, expected)
    with pytest.raises(ValueError, match="masked entries"):
        build().fit(made.views, y, sample_weight=np.ma.masked_array(np.ones(240), mask=np.arange(240) < 3))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_a_malformed_sparse_view_is_refused(kind):
    matrix = kind(np.eye(6))
    matrix.indices[2] = 900
    with pytest.raises(ValueError, match="View 'words' is a malformed sparse matrix"):
        Views({"words": matrix})


def test_text_is_not_scored_against_numbers(made, y):
    with pytest.raises(ValueError, match="same type"):
        build().fit(made.views, y).score(made.views, made.target.astype(str))


class Interrupted(np.ndarray):
    """Rows that cannot be read to the end, as when someone presses Ctrl-C."""

    def __array_finalize__(self, other):
        self.reads = getattr(other, "reads", None)

    def __getitem__(self, key):
        if self.reads is not None and isinstance(key, np.ndarray):
            raise KeyboardInterrupt
        return super().__getitem__(key)


def test_a_refit_that_is_interrupted_leaves_the_old_model_whole(made, y):
    model = build().fit(made.views, y)
    before, predicted = dict(model.__dict__), model.predict_proba(made.views)
    broken = made.data[0][:, ::-1].copy().view(Interrupted)
    broken.reads = 0
    with pytest.raises(KeyboardInterrupt):
        model.fit([broken, made.data[1]], y)
    assert model.__dict__ == before
    np.testing.assert_array_equal(model.predict_proba(made.views), predicted)
    fresh = build()
    with pytest.raises(KeyboardInterrupt):
        fresh.fit([broken, made.data[1]], y)
    with pytest.raises(NotFittedError):
        fresh.predict(made.views)


def test_a_generator_is_a_random_state(made, y):
    first, second = (
        FSSMSC(n_landmarks=40, random_state=np.random.default_rng(3)).fit(made.views, y).labels_ for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_a_misspelt_choice_of_the_tuner_is_refused(made, y):
    with pytest.raises(ValueError, match="on_empty='dorp' is not known"):
        AnchorViewClassifier(on_empty="dorp").fit(made.views, y)


def test_a_file_that_would_lose_views_is_refused(tmp_path):
    rows = np.ones((4, 2))
    labels = np.array([0, 0, 1, 1])
    path = tmp_path / "gap.npz"
    np.savez(path, v0=rows, v2=rows, y=labels)
    with pytest.raises(ValueError, match="'v2', which would be left out: there is no 'v1'"):
        datasets.load_npz(path)
    np.savez(path, v0=rows, v1=rows, y=labels, view_names=["image"])
    with pytest.raises(ValueError, match="view_names has too few names"):
        datasets.load_npz(path)
    np.savez(path, v0=rows, v1=rows, y=labels, view_names=["image", "image"])
    with pytest.raises(ValueError, match="names two views alike"):
        datasets.load_npz(path)
