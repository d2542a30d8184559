"""Raw tables as views: what columns are taken for, what becomes of them, and of tomorrow's table."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from anchorview import FSSMSC, TableViews
from anchorview.data.column_kinds import recognise
from anchorview.data.columns import Column
from support.settled import SETTLED

WORDS = ["engine", "wheel", "brake", "oven", "flour", "sugar", "racket", "goal", "pitch"]


def sentence(row: int) -> str:
    first = 3 * (row % 3)
    return f"{WORDS[first + row % 2]} and {WORDS[first + 2]} number {row}"


def make(n_rows: int = 60) -> dict[str, list[Any]]:
    return {
        "key": [f"row-{row}" for row in range(n_rows)],
        "review": [sentence(row) for row in range(n_rows)],
        "price": [float(row % 7) if row % 9 else None for row in range(n_rows)],
        "shop": [["north", "south"][row % 2] if row % 10 else None for row in range(n_rows)],
        "sold": [datetime.datetime(2024, 1 + row % 12, 1 + row % 28, row % 24) for row in range(n_rows)],
        "vector": [[float(row), 1.0, -float(row)] if row != 5 else None for row in range(n_rows)],
        "open": [row % 4 == 0 for row in range(n_rows)],
        "same": ["x"] * n_rows,
        "nothing": [None] * n_rows,
    }


FRAMES = {"pandas": pd.DataFrame, "polars": lambda data: pl.DataFrame(data, strict=False), "pyarrow": pa.table}
KINDS = {
    "key": "id",
    "review": "text",
    "price": "number",
    "shop": "category",
    "sold": "date",
    "vector": "list",
    "open": "boolean",
    "same": "constant",
    "nothing": "empty",
}


@pytest.mark.parametrize("library", FRAMES)
def test_columns_of_every_library_are_recognised_alike(library: str) -> None:
    transformer = TableViews(text_encoder=None).fit(FRAMES[library](make()))
    assert {name: found.kind for name, found in transformer.columns_.items()} == KINDS
    assert all(found.why for found in transformer.columns_.values())


def test_views_are_the_same_for_every_library() -> None:
    made = [TableViews(text_encoder=None).fit_transform(frame(make())) for frame in FRAMES.values()]
    for views in made[1:]:
        assert views.names == made[0].names
        np.testing.assert_array_equal(views.to_array(), made[0].to_array())
    assert made[0].names == ["review:words", "review:characters", "vector", "numbers", "categories"]


@pytest.mark.parametrize("library", FRAMES)
def test_a_row_alone_gives_the_same_views_as_among_others(library: str) -> None:
    table = make()
    transformer = TableViews(text_encoder=None).fit(FRAMES[library](table))
    every = transformer.transform(FRAMES[library](table))
    assert all(array.has_canonical_format for array in every.arrays if sparse.issparse(array))
    for row in (0, 5, 9, 10):
        one = {name: values[row : row + 1] for name, values in table.items()}
        alone = transformer.transform(FRAMES[library](one))
        assert alone.names == every.names and alone.features == every.features
        np.testing.assert_array_equal(alone.to_array(), every[row].to_array())
        expected = np.ones((1, len(every.names)), bool) if every.present is None else every.present[[row]]
        np.testing.assert_array_equal(True if alone.present is None else alone.present, expected)


def cells(*values: Any) -> str:
    return recognise(Column("some", np.array([*values], dtype=object))).kind


def test_text_that_holds_something_else() -> None:
    assert cells(*[str(row / 7) for row in range(40)], "n/a") == "number"
    assert cells(*[f"2024-05-{1 + row % 28:02d}" for row in range(40)]) == "date"
    assert cells(*[f"{1 + row % 28}.05.2024" for row in range(40)]) == "date"
    assert cells(*[f"[{row}, 2.5]" for row in range(40)]) == "list"
    assert cells(*[f"[{row}, 2.5]" for row in range(40)], "[1]") == "unusable"


def test_words_of_a_cell_tell_text_from_names_and_ids() -> None:
    assert cells(*[f"a text of words, {row}" for row in range(40)]) == "text"
    assert cells(*[f"Ann Miller{row}" for row in range(40)]) == "text"
    assert cells(*[f"https://example.org/{row}" for row in range(40)]) == "id"
    assert cells(*(["very good indeed", "quite bad"] * 20)) == "category"
    assert cells(*[f"これは{row}番目の文です" for row in range(40)]) == "text"


def test_numbers_that_count_the_rows_are_ids() -> None:
    assert recognise(Column("n", np.arange(5, 30))).kind == "id"
    shuffled = np.random.RandomState(0).permutation(1000)[:50]
    assert recognise(Column("customer_id", shuffled)).kind == "id"
    assert recognise(Column("paid", shuffled)).kind == "number"
    assert recognise(Column("odd", np.array([1.0, np.inf, 2.0]))).kind == "unusable"


def test_values_that_hardly_repeat_are_no_category() -> None:
    rng = np.random.RandomState(0)
    versions = np.array([f"{a}.{b}-{c}" for a, b, c in rng.randint([3, 30, 8], size=(1000, 3))], dtype=object)
    n_values = len(set(versions))
    assert 500 < n_values < 900  # more than every other one is new
    found = recognise(Column("version", versions))
    assert (found.kind, found.used) == ("varied", False)
    assert found.why == f"{n_values} different values in 1,000 cells, too many for a category"
    halves = np.array(
        [f"v{row // 2}" for row in range(100)], dtype=object
    )  # each twice: the next row is told something
    assert recognise(Column("pair", halves)).kind == "category"
    many = np.array([f"v{row % 9001}" for row in range(40_000)], dtype=object)  # in a sample they seldom repeat
    assert recognise(Column("shop", many)).kind == "category"


def test_integers_that_floats_cannot_tell_apart() -> None:
    ids = np.arange(300) * 3 + 9_007_199_254_740_993_000
    found = recognise(Column("tweet", ids[np.random.RandomState(0).permutation(300)]))
    assert (found.kind, found.why) == ("id", "whole numbers of 17 digits or more, 100% of the cells different")
    author = ids[:4][np.arange(300) % 4]
    assert recognise(Column("author", author)).kind == "category"
    for table in (pd.DataFrame({"author": author}), pa.table({"author": author})):
        transformer = TableViews(text_encoder=None).fit(table)
        assert transformer.transform(table).sizes == [4]
        assert transformer.encode(table[:10]).unseen["author"].count == 0
    assert recognise(Column("n", np.array([2**53, 5, 7]))).kind == "number"


def test_kinds_can_be_said() -> None:
    table = pd.DataFrame(make())
    transformer = TableViews(kinds={"price": "category", "review": "ignore", "shop": "text"}, text_encoder=None).fit(
        table
    )
    assert transformer.columns_["review"].kind == "ignore"
    assert transformer.transform(table).names == ["shop:words", "shop:characters", "vector", "numbers", "categories"]
    assert "price=3" in transformer.transform(table).features[-1]  # 3.0 is 3: empty cells made it a float
    with pytest.raises(ValueError, match="kinds names columns that are not in the table: \\['colour'\\]"):
        TableViews(kinds={"colour": "text"}).fit(table)
    with pytest.raises(ValueError, match="kinds\\['price'\\]"):
        TableViews(kinds={"price": "money"}).fit(table)


def test_empty_cells() -> None:
    table = pd.DataFrame(make())
    table.loc[3, "review"] = "  "
    table.loc[4, ["price", "sold"]] = None
    views = TableViews(text_encoder=None).fit_transform(table)
    lacking = {name: np.flatnonzero(~views.present[:, number]).tolist() for number, name in enumerate(views.names)}
    assert lacking == {
        "review:words": [3],
        "review:characters": [3],
        "vector": [5],
        "numbers": [4],
        "categories": [],
    }
    numbers = dict(zip(views.features[3], views.arrays[3].T, strict=True))
    assert numbers["price"][9] == pytest.approx(np.median(table["price"].dropna()) / 6)  # filled
    assert numbers["price:empty"][[9, 10]].tolist() == [1, 0]
    categories = dict(zip(views.features[4], views.arrays[4].toarray().T, strict=True))
    assert categories["shop="][[0, 1]].tolist() == [1, 0]


def test_a_number_comes_with_its_opposite_and_without_its_tails() -> None:
    values = np.r_[np.linspace(0, 1, 999), 1e9]
    (array,) = TableViews(text_encoder=None).fit_transform(pd.DataFrame({"amount": values})).arrays
    np.testing.assert_allclose(array.sum(axis=1), 1, atol=1e-6)
    assert array[500, 0] == pytest.approx(0.5, abs=0.02)
    assert array[-1].tolist() == [1, 0]


def test_parts_of_dates_that_vary() -> None:
    moments = [datetime.datetime(2024, 3, 4 + row % 7, 12) for row in range(20)]  # a Monday
    views = TableViews(text_encoder=None).fit_transform(pd.DataFrame({"sold": moments}))
    features = dict(zip(views.features[0], views.arrays[0].T, strict=True))
    assert set(features) == {"sold:time", "1-sold:time", "sold:weekday", "1-sold:weekday"}
    np.testing.assert_allclose(features["sold:weekday"][:7], np.arange(7) / 6, atol=1e-6)


def test_tomorrows_table() -> None:
    transformer = TableViews(text_encoder=None).fit(pd.DataFrame(make()))
    new = pd.DataFrame(make(4))[["vector", "shop", "review", "open", "sold", "price"]].assign(more=1)
    new.loc[0, "review"] = "engine of a quite other kind"
    new.loc[1, "shop"] = "east"
    encoded = transformer.encode(new)
    assert encoded.views.names == transformer.transform(pd.DataFrame(make())).names
    counted = {name: (one.count, one.total) for name, one in encoded.unseen.items()}
    assert counted["shop"] == (1, 3)
    assert counted["review"][0] >= 4
    assert "more" not in counted
    with pytest.warns(UserWarning, match="missing, and count as empty: 'price'. Columns that the fit did not have"):
        transformer.transform(new.drop(columns="price").assign(prize=1))
    with pytest.raises(ValueError, match="has no column of the fit"):
        transformer.transform(pd.DataFrame({"other": [1, 2]}))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("price", ["cheap", "dear"], "'price' held numbers at the fit and now holds text such as 'cheap' \\(row 0\\)"),
        ("review", [1.5, 2.5], "'review' held text at the fit and now holds numbers"),
        ("shop", [1.5, 2.5], "'shop' held categories at the fit and now holds numbers"),
        ("sold", [1.5, 2.5], "'sold' held dates at the fit and now holds numbers"),
        ("vector", [[1.0], [2.0]], "'vector' holds a list of 1 numbers in row 0; at the fit it held lists of 3"),
        ("vector", [1.0, 2.0], "'vector' held lists of numbers at the fit and now holds numbers"),
        ("price", [1.0, np.inf], "'price' holds infinity in row 1"),
    ],
)
def test_a_column_whose_type_changed(column: str, values: list[Any], message: str) -> None:
    transformer = TableViews(text_encoder=None).fit(pd.DataFrame(make()))
    new = pd.DataFrame(make(2))
    new[column] = pd.Series(values, dtype=None)
    with pytest.raises(ValueError, match=message):
        transformer.transform(new)
    new[column] = None  # nothing at all is another matter
    assert len(transformer.transform(new)) == 2


def test_cells_that_cannot_be_read_are_counted() -> None:
    transformer = TableViews(text_encoder=None).fit(
        pd.DataFrame({"age": [str(age) for age in range(20, 60, 3)], "b": [1, 2] * 7})
    )
    encoded = transformer.encode(pd.DataFrame({"age": ["31", "?", "27"], "b": [1, 2, 1]}))
    assert encoded.unseen["age"].count == 1
    assert encoded.unseen["age"].what == "cells that are not numbers"


def test_in_a_pipeline() -> None:
    table = pd.DataFrame(make(90))
    y = np.array(["car", "food", "sport"])[np.arange(90) % 3].astype(object)
    y[30:] = None
    model = Pipeline(
        [("table", TableViews(text_encoder=None)), ("model", FSSMSC(n_landmarks=20, random_state=0, **SETTLED))]
    )
    model = clone(model).fit(table, y)
    new = pd.DataFrame(make(12))
    expected = model.predict_proba(new)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(new[sorted(new.columns)]), expected)
    truth = np.array(["car", "food", "sport"])[np.arange(90) % 3]
    assert (model[-1].labels_ == truth).mean() > 0.8


def test_names_of_the_features() -> None:
    transformer = TableViews(text_encoder=None).fit(pd.DataFrame(make()))
    names = transformer.get_feature_names_out()
    assert len(names) == transformer.transform(pd.DataFrame(make())).shape[1]
    assert {"review:words__engine", "numbers__price", "categories__shop=north", "vector__0"} <= set(names)


def test_pandas_index_names_the_rows() -> None:
    table = pd.DataFrame(make()).set_index("key")
    assert TableViews(text_encoder=None).fit_transform(table).ids.tolist() == table.index.tolist()


def test_a_list_column_may_be_named_like_a_view() -> None:
    table = pd.DataFrame({"numbers": [[1.0, float(row)] for row in range(9)], "b": np.random.RandomState(0).rand(9)})
    transformer = TableViews(text_encoder=None).fit(table)
    assert transformer.transform(table).names == ["numbers:list", "numbers"]


def test_tables_of_no_use() -> None:
    with pytest.raises(ValueError, match="No column of the table can be used.*same: left out, constant"):
        TableViews(text_encoder=None).fit(pd.DataFrame({"same": [1, 1, 1]}))
    with pytest.raises(ValueError, match="0 row"):
        TableViews(text_encoder=None).fit(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="Names of columns repeat: \\['a'\\]"):
        TableViews(text_encoder=None).fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))


def test_cells_that_are_written_otherwise_tomorrow() -> None:
    fitted = pd.DataFrame({"open": [True, False, None] * 4, "code": [1.0, 2.0, np.nan] * 4})
    transformer = TableViews(kinds={"code": "category"}).fit(fitted)
    assert transformer.columns_["code"].storage == "number"
    encoded = transformer.encode(pd.DataFrame({"open": ["True", "false", "FALSE"], "code": [1, 2, 3]}))
    assert encoded.unseen["open"].count == 0
    assert encoded.unseen["code"].count == 1


def test_bytes_are_of_no_use() -> None:
    assert recognise(Column("image", np.array([b"PNG1", b"PNG2"], dtype=object))).kind == "unusable"


def test_the_largest_numbers() -> None:
    (array,) = TableViews(text_encoder=None).fit_transform(pd.DataFrame({"huge": [1e308, -1e308, 0.0, 1e307]})).arrays
    assert np.isfinite(array).all()
    assert array[2, 0] == pytest.approx(0.5, abs=0.05)
