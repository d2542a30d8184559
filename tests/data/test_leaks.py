"""Columns that give the label away are named; others are not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchorview import TableViews
from support.command import invoke, quick, reviews, write_csv


def leaking(column: list[Any], labels: list[Any], **kinds: str) -> list[str]:
    """Return the warnings of a fit to a column beside a harmless one."""
    noise = np.random.RandomState(0).rand(len(labels)).tolist()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TableViews(text_encoder=None, kinds=kinds or None).fit(pd.DataFrame({"c": column, "noise": noise}), labels)
    return [str(one.message) for one in caught if "gives the label away" in str(one.message)]


LABELS = [f"class {row % 4}" if row % 3 == 0 else None for row in range(200)]
ANSWER = [f"class {row % 4}" for row in range(200)]


@pytest.mark.parametrize(
    "column",
    [
        [label.upper() for label in ANSWER],
        [int(label[-1]) * 10 for label in ANSWER],
        [f"a note on {label} of shop {row}" for row, label in enumerate(ANSWER)],
        [f"{'abcd'[row % 4]}{row % 5}" for row, label in enumerate(ANSWER)],
        [[label, f"size {row % 7}"] for row, label in enumerate(ANSWER)],
    ],
    ids=["names", "codes", "text", "subclasses", "lists"],
)
def test_named(column: list[Any]) -> None:
    assert len(leaking(column, LABELS)) == 1
    named = {str: "text", int: "number", list: "tags"}[type(column[0])]
    assert not leaking(column, LABELS, c=named)  # the user wants it
    assert not leaking(column, LABELS[:45] + [None] * 155)  # 15 labels are too few to tell


def test_web_addresses() -> None:
    topics = ["car", "food", "sport"] * 40
    pages = [f"https://news.example.org/{topic}/{row}" for row, topic in enumerate(topics)]
    assert "its text has the name of the class" in leaking(pages, topics)[0]


def test_not_named() -> None:
    rng = np.random.RandomState(0)
    assert not leaking(
        [f"{'abcd'[row % 4] if rng.rand() < 0.9 else 'abcd'[rng.randint(4)]}" for row in range(200)], LABELS
    )
    assert not leaking(rng.rand(200).tolist(), LABELS)
    assert not leaking(["x" if row % 2 else "y" for row in range(200)], LABELS)


def test_the_command_names_them_and_is_quick_to_say_what_columns_are(tmp_path: Path) -> None:
    rows = reviews()
    rows["code"] = [{"car": 7, "food": 3, "sport": 5}[["car", "food", "sport"][row % 3]] for row in range(90)]
    path = write_csv(tmp_path / "t.csv", rows)
    done = invoke("fit", path, "--label", "topic", "--config", quick(tmp_path), "--dry-run")
    assert done.exit_code == 0, done.output
    assert "Column 'code' gives the label away: each of its values goes with one class" in done.output
    assert "leave it out: --column code=ignore." in done.output
    assert "price: number, such as '" in done.output and "To read a column in another way: --column" in done.output
    assert "Time to expect" not in done.output and not (tmp_path / "run").exists()
    slow = invoke("fit", path, "--label", "topic", "--text-encoder", tmp_path, "--dry-run")  # no model, so not asked
    assert "A fit encodes text by" in slow.output, slow.output
    assert invoke("fit", path, "--label", "topic", "--text-encoder", "no/folder", "--dry-run").exit_code == 2
    done = invoke("fit", path, "--label", "topic", "--column", "code=ignore", "--config", quick(tmp_path), "--dry-run")
    assert "gives the label away" not in done.output
