"""What tells classes apart: words, categories, numbers, or views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anchorview import TableViews, Views
from anchorview.report import telling

N = 300


def features_in_words(*given: Any) -> list[str]:
    return [str(one) for one in telling.class_features(*given)]


CLASSES = np.arange(N) % 3


def test_words_categories_and_numbers() -> None:
    rng = np.random.RandomState(0)
    words = [["engine", "wheel"], ["violin", "flute"], ["bread", "salt"]]
    texts = [
        " ".join([rng.choice(words[number]), "the", *(f"common{one}" for one in rng.randint(9, size=5))])
        for number in CLASSES
    ]
    table = pd.DataFrame(
        {
            "text": texts,
            "size": np.where(CLASSES == 1, 50.0, 1.0) + rng.rand(N),
            "shop": np.where(CLASSES == 2, "north", rng.choice(["south", "west"], N)),
        }
    )
    found = features_in_words(TableViews(text_encoder=None).fit_transform(table), CLASSES, 3)
    assert {"engine", "wheel"} <= set(found[0].split(", "))
    assert {"violin", "flute", "high size"} <= set(found[1].split(", "))
    assert {"bread", "salt", "shop: north"} <= set(found[2].split(", "))
    assert "common" not in " ".join(found) and "the" not in " ".join(found).split() and "1-size" not in " ".join(found)


def test_a_word_of_two_columns_is_said_once() -> None:
    texts = [["engine and more", "violin and more", "bread and more"][number] for number in CLASSES]
    table = pd.DataFrame({"title": texts, "text": texts})
    views = TableViews(kinds={"title": "text", "text": "text"}).fit_transform(table)
    assert features_in_words(views, CLASSES, 3) == ["engine", "violin", "bread"]


def test_without_names_the_view_is_named() -> None:
    rng = np.random.RandomState(0)
    views = Views({"noise": rng.rand(N, 5), "shape": rng.rand(N, 5) + np.eye(5)[CLASSES]})
    assert features_in_words(views, CLASSES, 3) == ["mostly the view shape"] * 3
    assert str(telling.ClassFeatures(view="photo:lbp")) == "mostly texture"


def test_nothing_is_said_of_what_does_not_differ() -> None:
    table = pd.DataFrame({"x": np.random.RandomState(0).rand(N), "y": np.random.RandomState(1).rand(N)})
    assert features_in_words(Views(table), CLASSES, 3) == ["", "", ""]
    assert features_in_words(None, CLASSES, 3) == ["", "", ""]
    assert features_in_words(Views(table), np.full(N, -1), 3) == ["", "", ""]
    assert features_in_words(Views(table), np.zeros(N, dtype=int), 1) == [""]
