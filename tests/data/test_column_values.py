"""Cells as people write them: currencies and units, dates, yes and no, lists of words, addresses."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import anchorview
from anchorview import FSSMSC, TableViews
from anchorview.data.column_kinds import ColumnKind, recognise
from anchorview.data.columns import DATE_FORMATS, ISO, TIMES_OF_DAY, Column, date_reader
from support.command import write_csv


def kind_of(*cells: Any) -> ColumnKind:
    return recognise(Column("x", np.array([*cells, None], dtype=object)))


@pytest.mark.parametrize(
    ("cells", "unit", "values"),
    [
        (["€ 12.50", "€ 1,200.00", "€ 3"], "€", [12.5, 1200, 3]),
        (["1.200,50 €", "12,5 €", "3 €"], "€", [1200.5, 12.5, 3]),
        (["$5", "-$7.25", "$1,000"], "$", [5, -7.25, 1000]),
        (["12 EUR", "EUR 13", "14 EUR"], "eur", [12, 13, 14]),
        (["3 kg", "250 g", "1.5 kg"], "g", [3000, 250, 1500]),
        (["1.5 MB", "20 kB", "3 GB"], "bytes", [1.5e6, 2e4, 3e9]),
        (["45 %", "7%", "12.5 %"], "%", [45, 7, 12.5]),
        (["1.2k", "15", "3M"], "thousands", [1200, 15, 3e6]),
        (["1 234", "12 345 678", "7"], "", [1234, 12345678, 7]),
        (["2 h", "30 min", "1 day"], "s", [7200, 1800, 86400]),
        (["$871k", "$1.5m", "$300"], "$", [871e3, 1.5e6, 300]),
        (["(12.50)", "1,200.00", "(3)"], "", [-12.5, 1200, -3]),
        (["21 °C", "-3 °C", "4.5 °C"], "°c", [21, -3, 4.5]),
    ],
)
def test_quantities(cells: list[str], unit: str, values: list[float]) -> None:
    found = kind_of(*cells)
    assert (found.kind, found.unit) == ("number", unit), found
    column = Column("x", np.array([*cells, "2 parsecs"]))
    numbers = column.numbers(found.decimal, found.unit)
    np.testing.assert_allclose(numbers[:-1], values)
    assert math.isnan(numbers[-1])


@pytest.mark.parametrize(
    "cells",
    [["3 kg", "2 m", "5 kg"], ["$5", "€ 6", "£ 7"], ["1st", "2nd", "3rd"], ["A4", "A5", "B3"], ["12a", "12b", "3c"]],
)
def test_what_is_no_quantity(cells: list[str]) -> None:
    assert kind_of(*cells, *cells).kind == "category"


@pytest.mark.parametrize("date_format", [one for one in DATE_FORMATS if one not in TIMES_OF_DAY])
def test_dates(date_format: str) -> None:
    days = [datetime.datetime(2024, 3, day, tzinfo=datetime.UTC) for day in range(1, 29)]
    cells = [day.isoformat() if date_format == ISO else day.strftime(date_format) for day in days]
    found = kind_of(*cells)
    assert found.kind == "date"
    read = date_reader(found.date_format)
    assert [read(cell) for cell in cells] == [day.timestamp() for day in days]


def test_times_of_day() -> None:
    cells = ["08:30", "23:59", "00:05"]
    found = kind_of(*cells)
    assert (found.kind, found.why) == ("date", "times of day (%H:%M)")
    times = [datetime.time.fromisoformat(cell) for cell in cells]
    assert kind_of(*times).why == "times of day (%H:%M:%S)"
    views = TableViews().fit_transform(pd.DataFrame({"at": cells * 20}))
    assert views.features[0] is not None and "at:hour" in views.features[0] and "at:month" not in views.features[0]


def test_codes_are_no_numbers(tmp_path: Path) -> None:
    """Digits that begin with 0 stay as they are written, in files, too."""
    path = write_csv(
        tmp_path / "t.csv", {"zip": ["01067", "80331", "04109"] * 20, "at": ["08:30", "9:15", "23:59"] * 20}
    )
    transformer = TableViews().fit(path)
    assert transformer.columns_["zip"].kind == "category" and transformer.columns_["zip"].example == "01067"
    assert "categories__zip=01067" in transformer.get_feature_names_out()
    assert transformer.columns_["at"].kind == "date"
    assert len(transformer.transform({"zip": "01067", "at": "12:00"})) == 1


def test_dates_that_do_not_tell_day_from_month() -> None:
    assert "the month may come first" in kind_of("01/02/2024", "03/04/2024").why
    assert "the month may come first" not in kind_of("01/02/2024", "23/04/2024").why
    assert kind_of("01/22/2024", "03/04/2024").date_format == "%m/%d/%Y"


@pytest.mark.parametrize("pair", [("yes", "no"), ("Y", "N"), ("TRUE", "false"), ("ja", "nein")])
def test_truths(pair: tuple[str, str]) -> None:
    assert kind_of(*pair * 5).kind == "boolean"


def test_lists_and_addresses() -> None:
    assert kind_of(["red", "blue"], ["red"], []).kind == "tags"
    assert kind_of('["red", "blue"]', '["red"]').kind == "tags"
    assert kind_of([1.0, 2.0], [3.0, 4.0]).kind == "list"
    mails = [f"Ann {row} <ann{row}@{'a.org' if row % 3 else 'b.com'}>" for row in range(30)]
    assert kind_of(*mails).kind == "email"
    pages = [f"https://www.{'shop' if row % 2 else 'blog'}.org/page/{row}" for row in range(30)]
    assert kind_of(*pages).kind == "url"
    assert kind_of(*[f"https://example.org/{row}" for row in range(30)]).kind == "id"


def test_all_of_them_in_a_model_that_is_saved(tmp_path: Path) -> None:
    rng, n = np.random.RandomState(0), 60
    side = rng.randint(0, 2, n)
    table = pd.DataFrame(
        {
            "price": [f"€ {10 + 20 * one + rng.rand():.2f}" for one in side],
            "colours": [["red", "warm"] if one else ["blue", "cold"] for one in side],
            "mail": [f"m{row}@{'a.org' if one else 'b.com'}" for row, one in enumerate(side)],
            "page": [f"http://{'shop' if one else 'blog'}.org/{row}" for row, one in enumerate(side)],
            "open": ["Yes" if one else "no" for one in side],
        }
    )
    y = [str(one) if row < 20 else None for row, one in enumerate(side)]
    model = make_pipeline(TableViews(text_encoder=None), FSSMSC(n_landmarks=12, random_state=0))
    with pytest.warns(UserWarning, match="Column 'open' gives the label away"):
        model.fit(table, y)
    kinds = {name: found.kind for name, found in model[0].columns_.items()}
    assert kinds == {"price": "number", "colours": "tags", "mail": "email", "page": "url", "open": "boolean"}
    assert "price: number, such as '€ " in model[0].describe() and "(numbers in €)" in model[0].describe()
    assert "tags__mail=@a.org" in model[0].get_feature_names_out()
    before = model.predict_proba(table)
    assert np.mean(model.predict(table).astype(int) == side) == 1.0
    anchorview.save(model, tmp_path / "m.anchorview")
    np.testing.assert_array_equal(anchorview.load(tmp_path / "m.anchorview").predict_proba(table), before)
    unseen = model[0].encode([{"colours": ["green", "red"], "mail": "x@c.net"}]).unseen
    assert (unseen["colours"].count, unseen["mail"].count) == (1, 2)
