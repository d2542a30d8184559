"""What a report says of single rows: contents, place, guesses, reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorview import FSSMSC, Views
from anchorview.report.row_cells import LONGEST_TEXT, row_cells
from anchorview.report.row_details import RowDetails
from anchorview.report.row_reasons import Standing, find_standing
from anchorview.report.run_summary import RunSummary, summarise_run
from anchorview.report.run_words import suggestion_reason
from support.runs import SETTLED, fit_small, grid, text_summary


@pytest.fixture(scope="module")
def summary() -> RunSummary:
    return text_summary()


CLASSES = np.arange(40) % 2
TABLE = pd.DataFrame(
    {
        "noise": np.random.RandomState(0).rand(40),
        "name": [f"id{row}" for row in range(40)],
        "size": CLASSES * 100.0 + np.arange(40),
        "colour": np.where(CLASSES > 0, "red", "blue"),
        "text": [f"the text of row {row} " + "and more " * (100 if row == 3 else 0) for row in range(40)],
    }
)


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.Table.from_pandas])
def test_texts_come_first_then_the_cells_that_tell_classes_apart(kind: Any) -> None:
    cells = row_cells(kind(TABLE), None, [3, 5], CLASSES)
    assert cells[5] == [("text", "the text of row 5"), ("colour", "red"), ("size", "105")]
    assert len(cells[3][0][1]) <= LONGEST_TEXT and cells[3][0][1].endswith("…")


def test_texts_alone_and_named_numbers_do_too() -> None:
    assert row_cells([f"text {row}" for row in range(40)], None, [7], CLASSES) == {7: [("", "text 7")]}
    views = Views({"sizes": TABLE[["noise", "size"]], "more": np.ones((40, 2))})
    assert row_cells(None, views, [5], CLASSES)[5] == [("size", "105")]
    assert row_cells(None, None, [5], CLASSES) == {5: []}


def test_an_empty_cell_is_not_shown() -> None:
    table = TABLE.assign(colour=[None if row == 5 else value for row, value in enumerate(TABLE["colour"])])
    assert [name for name, _ in row_cells(table, None, [5], CLASSES)[5]] == ["text", "size"]


def test_every_listed_row_is_described(summary: RunSummary) -> None:
    listed = {*summary.suspects.rows.tolist(), *summary.suggested.tolist()}
    assert len(summary.suspects) and set(summary.details) == listed
    for row, about in summary.details.items():
        assert about.where == f"t.csv, line {row + 2}" and about.cells[0][0] == "text"
        assert about.guess != about.second >= 0 and 0 <= about.second_confidence <= about.confidence


def test_rows_stand_for_those_that_are_like_them() -> None:
    model, y, _ = fit_small()
    suggested = np.asarray(model.suggest_labels(5))
    standing = find_standing(model, suggested)
    assert list(standing) == suggested.tolist()
    assert all(one.n_rows >= 1 and 0 <= one.n_mistakes <= one.n_rows and one.is_exact for one in standing.values())
    assert sum(one.n_rows for one in standing.values()) <= (y < 0).sum()
    assert find_standing(model, suggested[:0]) == {}
    everyone = find_standing(FSSMSC(n_clusters=3, n_landmarks=30, random_state=0, **SETTLED).fit(fit_small()[2].views),
                             np.array([0, 1]))  # fmt: skip
    assert sum(one.n_rows for one in everyone.values()) == 120  # without labels each row is like one of the two


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        (RowDetails(guess=0, confidence=0.4, second=1, second_confidence=0.3), "Unsure: 0 or 1."),
        (RowDetails(guess=0, confidence=0.4, second=1, second_confidence=0.1), "Only 40 % sure."),
        (
            RowDetails(guess=0, confidence=0.8, second=1, second_confidence=0.1, standing=Standing(58, 20.2)),
            "Stands for 57 similar rows without a label, some 20 of which may be wrong.",
        ),
        (
            RowDetails(guess=0, confidence=0.4, second=2, second_confidence=0.4, standing=Standing(2001, 0.4, False)),
            "Unsure: 0 or 2; stands for about 2,000 similar rows without a label.",
        ),
        (RowDetails(guess=0, confidence=0.95, standing=Standing(1, 0.1)), "Unlike any other row without a label."),
    ],
)
def test_every_suggestion_has_a_reason(about: RowDetails, reason: str) -> None:
    model, y, _ = fit_small()
    summary = replace(summarise_run(model, y, xy=grid(120)), details={7: about}, audited=[])
    assert suggestion_reason(summary, 7) == reason
    assert all(suggestion_reason(summary, row) for row in summary.suggested)


def test_contents_of_another_length_are_refused() -> None:
    model, y, _ = fit_small()
    with pytest.raises(ValueError, match="rows has 3 entries, but the fit has 120 rows"):
        summarise_run(model, y, xy=grid(120), rows=["a", "b", "c"])


def test_a_table_that_was_fitted_needs_no_other() -> None:
    _, y, made = fit_small()
    table = pd.DataFrame(made.data[0], columns=[f"x{number}" for number in range(8)])
    model = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(table, y)
    summary = summarise_run(model, y, X=table, xy=grid(120))
    row = int(summary.suggested[0])
    name, shown = summary.about(row).cells[0]
    assert float(shown) == pytest.approx(table[name][row], rel=1e-3)
