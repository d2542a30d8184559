"""What a notebook shows: a summary with a map of fitted models, scikit-learn's diagram of others."""

from __future__ import annotations

import pickle
from xml.etree import ElementTree

import numpy as np
from sklearn import config_context

from anchorview import FSSMSC
from support.runs import NASTY, SETTLED, fit_small


def test_a_fitted_model_shows_its_summary_and_a_map() -> None:
    model, y, _ = fit_small()
    shown = model._repr_mimebundle_()
    assert shown["text/plain"] == repr(model)
    html = shown["text/html"]
    assert "FSSMSC, fitted" in html and "120 rows with 2 views. 36 labels in 3 classes were given" in html
    svg = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert svg.get("role") == "img" and svg.get("aria-label", "").startswith("Map of 120 rows in 3 classes")
    dots = [path.get("d", "").count("M") for path in svg.iter("path")]
    assert sorted(dots) == sorted(np.unique(model.labels_, return_counts=True)[1])
    assert len(list(svg.iter("circle"))) == (y >= 0).sum()
    assert "<summary>Parameters</summary>" in html and "sk-top-container" in html
    assert "Expected accuracy" in model._repr_html_()


def test_a_model_that_is_not_fitted_shows_what_scikit_learn_shows() -> None:
    assert "FSSMSC, fitted" not in FSSMSC()._repr_html_()
    assert "sk-top-container" in FSSMSC()._repr_mimebundle_()["text/html"]


def test_plain_text_stays_plain() -> None:
    model, _, _ = fit_small()
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_the_map_follows_a_new_fit_and_the_model_is_not_changed() -> None:
    model, y, made = fit_small()
    before = pickle.dumps(model)
    first = model._repr_mimebundle_()["text/html"]
    assert model._repr_mimebundle_()["text/html"].split("<details>")[0] == first.split("<details>")[0]
    assert pickle.dumps(model) == before
    model.fit(made.views[:60], y[:60])
    assert "Map of 60 rows" in model._repr_mimebundle_()["text/html"]


def test_text_of_the_user_is_text() -> None:
    _, y, made = fit_small()
    labels = np.array([*NASTY, ""], dtype=object)[y]  # -1 is the last
    model = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(made.views, labels)
    html = model._repr_mimebundle_()["text/html"].split("<details>")[0]
    assert "<script" not in html and "<img" not in html and "&lt;/script&gt;" in html


def test_a_model_that_does_not_hold_its_rows_shows_the_diagram() -> None:
    model, _, _ = fit_small()
    del model.embedding_
    assert "FSSMSC, fitted" not in model._repr_html_()
