"""The report of a fit, without a browser: what is in the file, and what it does with odd runs."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC
from anchorview.readers.base import HeldOutLabels
from anchorview.report.run_evidence import SuspectLabels, held_out_confusion
from anchorview.report.run_map import MOST_ROWS, choose_rows, make_map
from anchorview.report.run_page import make_run_page, write_run_page
from anchorview.report.run_sections import made_part, map_part
from anchorview.report.run_summary import RunSummary, summarise_run
from anchorview.report.run_tables import class_name
from support.runs import NASTY, SETTLED, fit_small, grid, nasty_summary

VOID = {"meta", "link", "input", "br", "img"}


class Outline(HTMLParser):
    """Checks that tags are closed in order, and collects text and attributes outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def nasty() -> RunSummary:
    return nasty_summary()


def test_sentences_of_a_fit_begin_with_a_capital_but_for_names_of_parameters(nasty: RunSummary) -> None:
    text = Outline(made_part(replace(nasty, status="n_landmarks was lowered. converged."))).text
    assert "n_landmarks was lowered. Converged." in text


def test_text_of_the_user_is_text(nasty: RunSummary) -> None:
    page = make_run_page(nasty)
    outline = Outline(page)
    assert "img" not in outline.tags
    assert outline.tags.count("script") == 6  # two blocks of data, three scripts of Bokeh, the page's own
    assert [name for name, _ in outline.attributes if name.startswith("on")] == []
    assert not any(NASTY[0] in script for script in outline.scripts)
    for text in (*NASTY[:2], "名前"):
        assert text in outline.text
    about = json.loads(outline.scripts[0])
    assert about["classes"] == [*nasty.classes, "no label"]


def test_nothing_is_fetched(nasty: RunSummary) -> None:
    outline = Outline(make_run_page(nasty))
    links = [value for name, value in outline.attributes if name in ("src", "href", "srcset", "action")]
    assert all(value.startswith(("#", "data:")) for value in links)
    (policy,) = [value for name, value in outline.attributes if name == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy and "unsafe-inline' " not in policy.split("style-src")[0]


def test_the_file_is_replaced_in_one_step(nasty: RunSummary, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("an older report")
    write_run_page(nasty, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert path.stat().st_size < 1_700_000


def many_rows(n_rows: int, n_classes: int = 10, n_given: int = 500, ids: list[str] | None = None) -> RunSummary:
    """Return the summary of a made run, without a fit."""
    model, y, _ = fit_small()
    rng = np.random.default_rng(0)
    class_ids = rng.integers(0, n_classes, n_rows)
    given = np.where(np.arange(n_rows) < n_given, class_ids, -1)
    return replace(
        summarise_run(model, y, xy=grid(120)),
        classes=[f"class {number}" for number in range(n_classes)],
        class_ids=class_ids,
        given=given,
        confidence=rng.uniform(0.2, 1, n_rows),
        xy=rng.normal(size=(n_rows, 2)).astype(np.float32),
        ids=ids,
        details={},
        telling=[],
        confusion=np.eye(n_classes, dtype=np.intp) + np.eye(n_classes, k=1, dtype=np.intp),
    )


def test_100_000_rows_with_ids_are_less_than_4_mb() -> None:
    page = make_run_page(many_rows(100_000, ids=[f"customer-{row:09d}" for row in range(100_000)]))
    assert len(page.encode()) < 4_000_000
    assert "too long to be kept" not in page


def test_ids_that_are_too_long_become_numbers_and_it_says_so() -> None:
    rng = np.random.default_rng(0)
    ids = [rng.bytes(40).hex() for _ in range(50_000)]
    summary = many_rows(50_000, ids=ids)
    page = make_run_page(summary)
    assert "too long to be kept" in page and len(page.encode()) < 4_000_000
    assert ids[summary.suggested[0]] in page  # lists hold them all the same


def test_more_rows_than_can_be_shown_are_sampled_and_it_says_so() -> None:
    summary = many_rows(5000, n_classes=30, n_given=70)
    rows = choose_rows(summary, np.arange(5000), 1000)
    assert len(rows) == 1000 == len(np.unique(rows)) and (np.diff(rows) > 0).all()
    assert (summary.given[rows] >= 0).sum() == 70  # every given label is there
    assert len(np.unique(summary.class_ids[rows])) == 30
    row_map = make_map(summary, "map", 1000)
    assert row_map is not None and row_map.is_sample and row_map.n_shown == 1000
    assert "Shown are 1,000 of 5,000 rows" in map_part(summary, row_map)
    whole = make_map(summary, "map")
    assert whole is not None and not whole.is_sample and "Shown are" not in map_part(summary, whole)
    assert MOST_ROWS == 200_000


def test_of_too_many_labels_half_of_the_map_is_left_for_the_others() -> None:
    summary = many_rows(3000, n_given=2500)
    rows = choose_rows(summary, np.arange(3000), 1000)
    assert len(rows) == 1000 and (summary.given[rows] >= 0).sum() >= 500 and (summary.given[rows] < 0).any()


@pytest.mark.parametrize(("n_given", "are_marked"), [(1000, True), (1001, False)])
def test_very_many_given_labels_are_marked_only_when_asked_for(n_given: int, are_marked: bool) -> None:
    summary = many_rows(3000, n_given=n_given)
    row_map = make_map(summary, "map")
    assert ('id="show-given" checked' in map_part(summary, row_map)) == are_marked


@pytest.mark.parametrize("n_classes", [1, 2, 31, 150])
def test_any_number_of_classes(n_classes: int) -> None:
    summary = many_rows(400, n_classes=n_classes, n_given=200)
    outline = Outline(make_run_page(summary))
    assert all(name in outline.text for name in summary.classes)
    assert ("Most frequent confusions" in outline.text) == (n_classes > 30)


def test_very_many_classes_are_listed_in_part_and_it_says_so() -> None:
    outline = Outline(make_run_page(many_rows(1500, n_classes=700, n_given=200)))
    assert "200 more are not listed here." in outline.text


def test_without_a_confusion_matrix_the_reliability_is_still_there(nasty: RunSummary) -> None:
    outline = Outline(make_run_page(replace(nasty, confusion=None)))
    assert "Is the confidence honest?" in outline.text and "Given and found" not in outline.text
    held_out = HeldOutLabels(np.arange(2), np.arange(2), np.eye(2))
    assert held_out_confusion(held_out, 2001) is None and held_out_confusion(held_out, 2000) is not None


def test_three_rows() -> None:
    model = FSSMSC(n_clusters=2, n_landmarks=3, random_state=0, scaling="l2").fit(np.eye(3))
    outline = Outline(make_run_page(summarise_run(model)))
    assert "3 rows with 1 view, no label given" in outline.text
    assert "clusters have no names yet" in outline.text and "% sure" not in outline.text


def test_one_class_with_every_row(nasty: RunSummary) -> None:
    everyone = np.zeros(120, dtype=np.intp)
    page = make_run_page(replace(nasty, class_ids=everyone, given=everyone, confidence=np.ones(120)))
    assert "every row has a given label" in Outline(page).text


@pytest.mark.parametrize("xy", [None, np.full((120, 2), np.nan, dtype=np.float32)])
def test_without_any_place_there_is_no_map_and_no_script(nasty: RunSummary, xy: Any) -> None:
    outline = Outline(make_run_page(replace(nasty, xy=xy)))
    assert "No row has a place on the map." in outline.text and outline.scripts == []


def test_rows_in_one_place(nasty: RunSummary) -> None:
    assert make_map(replace(nasty, xy=np.ones((120, 2), dtype=np.float32)), "map") is not None


def test_suspects_and_suggestions_are_listed_with_their_ids() -> None:
    _, y, made = fit_small()
    wrong = y.copy()
    wrong[np.flatnonzero(y == 0)[0]] = 1
    model = FSSMSC(n_landmarks=30, random_state=0, **SETTLED).fit(made.views, wrong)
    summary = summarise_run(model, wrong, xy=grid(120), ids=[f"id-{row}" for row in range(120)])
    parts = re.split(r'<section id="part-(\w+)"', make_run_page(summary))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert f"id-{summary.suspects.rows[0]}<" in sections["suspects"]
    assert all(f"id-{row}<" in sections["next"] for row in summary.suggested)


def test_without_bokeh_the_error_says_how_to_get_it(
    nasty: RunSummary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with pytest.raises(ImportError, match=r"pip install 'anchorview\[report\]'"):
        write_run_page(nasty, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_long_lists_are_complete_and_folded() -> None:
    """All suspects are listed, in order: the first fifty at once, the others behind one click."""
    summary = many_rows(400, n_given=300)
    rows = np.arange(0, 240, 2)
    suspects = SuspectLabels(rows, summary.class_ids[rows], (summary.class_ids[rows] + 1) % 10, np.full(120, 0.9), 300)
    page = make_run_page(replace(summary, suspects=suspects))
    part = page.partition('<section id="part-suspects"')[2].partition("</section>")[0]
    assert re.findall(r'role="rowheader"><bdi>(\d+)<', part) == [str(row) for row in rows]
    shown, _, folded = part.partition("<details>")
    assert shown.count('role="rowheader"') == 50 and folded.startswith("<summary>Show 70 more</summary>")


def test_no_folder_of_an_absolute_path_is_shown() -> None:
    model, y, _ = fit_small()
    files = {"table": "/home/ada/secret/reviews.csv", "labels": "C:\\Users\\ada\\labels.csv", "view": "may/emb.npy"}
    page = make_run_page(summarise_run(model, y, xy=grid(120), files=files))
    assert "ada" not in Outline(page).text and all(
        name in page for name in ("reviews.csv", "labels.csv", "may/emb.npy")
    )


def test_names_of_classes_break_between_their_words() -> None:
    assert class_name("paid_by_card") == "<bdi>paid_<wbr>by_<wbr>card</bdi>"
    long = "a_" * 150
    assert f'title="{long}"' in class_name(long) and "_<wbr>a" in class_name(long)
    assert class_name("<b_>") == "<bdi>&lt;b_<wbr>&gt;</bdi>"
