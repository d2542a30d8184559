"""Tables of pandas, polars and pyarrow, with nulls, wherever views, labels, weights, groups and ids are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchorview import FSSMSC, Constraints, Views
from anchorview.data.labels import check_weights, encode_labels
from anchorview.data.tables import table_matrix
from anchorview.datasets import hide_labels, make_multiview_subspaces
from support.settled import CHOSEN

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MADE = make_multiview_subspaces(120, 3, (6, 4), random_state=0)
NAMES = {"first": [f"a{i}" for i in range(6)], "second": [f"b{i}" for i in range(4)]}
ALL_NAMES = [*NAMES["first"], *NAMES["second"]]
Y = hide_labels(MADE.target, 0.3, random_state=0)

TABLES = {
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "arrow-backed": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
}
COLUMNS = {
    "polars": pl.Series,
    "pyarrow": lambda values: pa.chunked_array([values]),
    "nullable": lambda values: pd.Series(values).convert_dtypes(),
    "arrow-backed": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
}


@pytest.fixture(params=TABLES)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def table(kind: str, name: str, rows: slice = slice(None)) -> Any:
    array = MADE.data[list(NAMES).index(name)][rows]
    return TABLES[kind]({label: column.tolist() for label, column in zip(NAMES[name], array.T, strict=True)})


def build(**parameters: Any) -> FSSMSC:
    return FSSMSC(**{**CHOSEN, "n_landmarks": 30, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def plain() -> FSSMSC:
    return build().fit(dict(zip(NAMES, MADE.data, strict=True)), Y)


def test_views_and_labels(kind: str, plain: FSSMSC) -> None:
    labels = COLUMNS[kind]([None if label < 0 else int(label) for label in Y])
    given = {name: table(kind, name) for name in NAMES}
    model = build().fit(given, labels)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.predict_proba(given), plain.predict_proba(MADE.views), atol=1e-4)
    assert model.score(given, labels) == plain.score(MADE.views, Y)
    moved = {name: TABLES[kind]({c: given[name][c] for c in NAMES[name][::-1]}) for name in NAMES}
    np.testing.assert_array_equal(model.predict(moved), plain.predict(MADE.views))  # columns by name


def test_one_table_cut_by_names(kind: str, plain: FSSMSC) -> None:
    arrays = np.hstack(MADE.data)
    whole = TABLES[kind]({c: v.tolist() for c, v in zip(ALL_NAMES, arrays.T, strict=True)})
    model = build(views=NAMES).fit(whole, Y)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.feature_names_in_.tolist() == ALL_NAMES
    absent = model.predict(table(kind, "first"))  # without any column of the second view
    np.testing.assert_array_equal(absent, plain.predict({"first": MADE.data[0]}))
    with pytest.raises(ValueError, match=r"View 'second' names columns that are not in the DataFrame: \['b2', 'b3'\]"):
        model.predict(whole.select([*NAMES["first"], "b0", "b1"]) if kind[:2] in ("po", "py") else whole.iloc[:, :8])
    assert cross_val_score(build(views=NAMES), whole, MADE.target, cv=2).min() > 0.8


def test_weights_groups_and_ids(kind: str) -> None:
    weights = np.linspace(0.5, 2, 120)
    np.testing.assert_array_equal(check_weights(COLUMNS[kind](weights.tolist()), 120), weights)
    with pytest.raises(ValueError, match="row 1 has nan"):
        check_weights(COLUMNS[kind]([1.0, None, 2.0]), 3)
    groups = Constraints.from_groups(must=COLUMNS[kind](["ann", None, "ann", "bob"]))
    assert repr(groups) == repr(Constraints.from_groups(must=["ann", None, "ann", "bob"]))
    ids = COLUMNS[kind](["p", "q", "r"])
    assert Views([table(kind, "first", slice(3))], ids=ids).ids.tolist() == ["p", "q", "r"]
    assert Views([table(kind, "first", slice(3))], ids=[ids]).ids.tolist() == ["p", "q", "r"]
    mask = TABLES[kind]({"second": [True, False, True]})
    views = Views({name: table(kind, name, slice(3)) for name in NAMES}, mask=mask)
    assert views.present.tolist() == [[True, True], [True, False], [True, True]]


@pytest.mark.parametrize("values", [["x", None, "y"], [1, None, 0], [True, None, False], [1.0, None, 0.0]])
def test_null_labels_are_unlabelled(kind: str, values: list[Any]) -> None:
    classes, class_ids = encode_labels(COLUMNS[kind](values), 3)
    assert classes.tolist() == sorted(value for value in values if value is not None)
    assert class_ids.tolist() == [-1 if value is None else classes.tolist().index(value) for value in values]
    np.testing.assert_array_equal(encode_labels(TABLES[kind]({"label": values}), 3)[1], class_ids)


def test_null_is_nan_and_truth_a_number(kind: str) -> None:
    given = TABLES[kind]({"i": [1, None, 3], "f": [0.5, None, 1.5], "t": [True, None, False], "n": [None, None, None]})
    expected = [[1, 0.5, 1, np.nan], [np.nan] * 4, [3, 1.5, 0, np.nan]]
    np.testing.assert_array_equal(table_matrix(given, "v"), expected)
    np.testing.assert_array_equal(table_matrix(TABLES[kind]({"t": [True, False]}), "v"), [[1], [0]])
    views = {"first": TABLES[kind]({"a": [1.0, None, 2.0], "b": [2, None, 5]}), "second": np.ones((3, 1))}
    assert np.isnan(Views(views).arrays[0][1]).all()


def test_columns_that_are_no_numbers_are_named(kind: str) -> None:
    for values in (["red", "blue"], ["1", "2"]):
        with pytest.raises(ValueError, match=f"View 'v' is not numeric: column 'c', row 0 holds '{values[0]}'"):
            Views({"v": TABLES[kind]({"x": [1, 2], "c": values})})
    days = pd.to_datetime(["2024-01-01", "2024-01-02"]).to_pydatetime().tolist()
    with pytest.raises((ValueError, TypeError), match="View 'v'.* column 'c'"):
        Views({"v": TABLES[kind]({"x": [1, 2], "c": days})})


def test_other_kinds_of_columns() -> None:
    colours = pl.Series("c", ["red", "blue"])
    for column in (colours.cast(pl.Categorical), colours.cast(pl.Enum(["red", "blue"]))):
        with pytest.raises(ValueError, match="column 'c', row 0 holds 'red', which is text"):
            Views({"v": pl.DataFrame({"x": [1, 2], "c": column})})
    with pytest.raises(TypeError, match=r"LazyFrame.*call .collect\(\)"):
        Views({"v": pl.LazyFrame({"x": [1]})})
    decimals = pl.DataFrame({"x": pl.Series([1, 2]).cast(pl.Decimal(10, 2))})
    np.testing.assert_array_equal(Views({"v": decimals}).arrays[0], [[1.0], [2.0]])
    twice = pd.DataFrame([[1, True], [2, False]], columns=["x", "x"])
    np.testing.assert_array_equal(Views({"v": twice}).arrays[0], [[1, 1], [2, 0]])
    sizes = pd.DataFrame({"s": pd.Categorical([3, 5])})
    np.testing.assert_array_equal(Views({"v": sizes}).arrays[0], [[3], [5]])


@pytest.mark.parametrize("how", ["pandas", "polars"])
def test_what_comes_out_of_a_pipeline(how: str) -> None:
    make = pd.DataFrame if how == "pandas" else pl.DataFrame
    whole = make(dict(zip(ALL_NAMES, np.hstack(MADE.data).T, strict=True)))
    named = make_pipeline(StandardScaler().set_output(transform=how), build(views=NAMES)).fit(whole, Y)
    sized = make_pipeline(StandardScaler(), build(views=[6, 4])).fit(np.hstack(MADE.data), Y)
    np.testing.assert_array_equal(named.predict(whole), sized.predict(np.hstack(MADE.data)))


def test_weights_are_aligned_by_their_index() -> None:
    ids = np.array(["p", "q", "r"])
    weights = pd.Series([3.0, 1.0, 2.0], index=["r", "p", "q"])
    np.testing.assert_array_equal(check_weights(weights, 3, ids), [1, 2, 3])
    with pytest.raises(ValueError, match="sample_weight has weights for ids that no row has: 'z'"):
        check_weights(weights.rename({"p": "z"}), 3, ids)
    with pytest.raises(ValueError, match="row 0 has nan"):
        check_weights(weights.drop("p"), 3, ids)
