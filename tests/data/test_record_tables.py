"""Predictions of records: dicts, one dict, tables and files give the same; what is missing or unknown is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import anchorview
from anchorview import FSSMSC, TableViews
from support.command import reviews, write_csv


def fitted() -> tuple[Any, pd.DataFrame]:
    rows = reviews()
    table = pd.DataFrame({name: rows[name] for name in ("text", "price", "shop")})
    model = make_pipeline(TableViews(text_encoder=None), FSSMSC(n_landmarks=12, random_state=0))
    return model.fit(table, rows["topic"]), table


def test_every_form_of_the_same_rows(tmp_path: Path) -> None:
    model, table = fitted()
    before = model.predict_proba(table)
    records = [{name: value for name, value in row.items() if value == value} for row in table.to_dict("records")]
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    path = write_csv(tmp_path / "rows.csv", {name: table[name].tolist() for name in table})
    for form in (records, tuple(records), lines, str(path)):
        np.testing.assert_allclose(model.predict_proba(form), before, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(records[3]), before[3:4], rtol=1e-4)
    anchorview.save(model, tmp_path / "m.anchorview")
    np.testing.assert_array_equal(anchorview.load(tmp_path / "m.anchorview").predict_proba(records), before)


def test_missing_and_unknown_columns_are_named() -> None:
    model, _ = fitted()
    with pytest.warns(UserWarning, match="empty: 'price', 'shop'.*did not have, and are ignored: 'colour'"):
        assert model.predict({"text": "engine wheel brake road", "colour": "red"}) == ["car"]
    with pytest.raises(ValueError, match="has no column of the fit"):
        model.predict([{"colour": "red"}])
    with pytest.raises(ValueError, match="no/such.csv cannot be read"):
        model.predict("no/such.csv")
    for given, named in ((["engine wheel"], "A list of str"), ([], "An empty list"), (None, "None")):
        with pytest.raises(ValueError, match=f'{named} is not a table. Give a DataFrame, a dict .*"text"'):
            model.predict(given)


def test_fit_on_records() -> None:
    records = [{"a": {"b": number % 3}, "c": "x" if number % 2 else "y"} for number in range(12)]
    views = TableViews().fit(records).transform(records[:2])
    assert views.names == ["numbers", "categories"] and len(views) == 2
