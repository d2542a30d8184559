"""`describe_classes`: words, values, numbers, photos and typical rows of classes and of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import anchorview
from anchorview import FSSMSC, TableViews, describe_classes
from support.command import TOPICS, reviews


def fitted(**options: Any) -> tuple[Any, pd.DataFrame]:
    rows = reviews()
    table = pd.DataFrame({name: rows[name] for name in ("text", "price", "shop")})
    model = make_pipeline(TableViews(text_encoder=None), FSSMSC(n_landmarks=12, random_state=1, **options))
    return model.fit(table, None if options else rows["topic"]), table


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_classes_and_clusters_by_their_words(n_clusters: int | None) -> None:
    model, table = fitted(**({"n_clusters": n_clusters} if n_clusters else {}))
    found = describe_classes(model, table)
    vocabularies = [set(words.split()) for words in TOPICS.values()]
    for one in found:
        assert len(one.words) >= 3 and any(set(one.words) <= words for words in vocabularies), one
        assert len(one.rows) == len(one.examples) == 2 and table["text"][one.rows[0]] == one.examples[0]
    assert sum(one.n_rows for one in found) == len(table)
    if n_clusters is None:
        assert [one.name for one in found] == list(TOPICS) and set(found[0].words) <= vocabularies[0]
    assert found[0].examples[0] in str(found) and str(found[1].features) in found._repr_html_()


def test_other_rows_and_a_loaded_model(tmp_path: Path) -> None:
    model, table = fitted()
    anchorview.save(model, tmp_path / "m.anchorview")
    loaded = anchorview.load(tmp_path / "m.anchorview")
    before, after = describe_classes(model, table), describe_classes(loaded, table.to_dict("records"))
    assert [one.words for one in before] == [one.words for one in after]
    views = model[0].transform(table)
    assert [one.words for one in describe_classes(model[1], views)] == [one.words for one in before]


def test_photos_of_a_class(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("skimage")
    rng = np.random.RandomState(0)
    names = [f"{number}.png" for number in range(24)]
    for number, name in enumerate(names):
        pixels = rng.randint(0, 60, (30, 40, 3), dtype=np.uint8)
        pixels[:, :, 0 if number % 2 else 2] += 180
        image.fromarray(pixels).save(tmp_path / name)
    labels = [("red" if number % 2 else "blue") if number < 8 else None for number in range(24)]
    model = make_pipeline(TableViews(image_folder=tmp_path), FSSMSC(n_landmarks=8, random_state=0))
    table = pd.DataFrame({"photo": names})
    found = describe_classes(model.fit(table, labels), table)
    assert all(int(name[:-4]) % 2 == (one.name == "red") for one in found for name in one.examples)
    assert found._repr_html_().count("data:image/jpeg;base64,") == 8
    assert not found[0].words and str(found[0].features) == "mostly colour"  # features of a photo have no names


def test_a_notebook_shows_the_words() -> None:
    model, _ = fitted()
    assert "racket" in model[1]._repr_html_()
