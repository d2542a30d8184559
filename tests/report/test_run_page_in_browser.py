"""The report of a fit in a real browser: quiet, alone, readable, and its map answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from anchorview.report.run_page import write_run_page
from anchorview.report.run_summary import RunSummary
from anchorview.report.run_words import percent, suggestion_reason
from support.browser import Tab, browser_tab
from support.runs import NASTY, nasty_summary, text_summary

READY = "document.getElementById('map').dataset.ready === 'true'"
PLOT = "[...Bokeh.index.roots][0]"
# The least contrast of all text that is shown, by WCAG's formula; text on a half-transparent ground does not occur.
CONTRAST = """(() => {
  const light = (c) => { const p = c / 255; return p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4 }
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number)
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b)
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor)
      if (found.length < 4 || found[3] === 1) return found
    }
    return [255, 255, 255]
  }
  const results = []
  for (const details of document.querySelectorAll("details")) details.open = true
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    if (!walker.currentNode.textContent.trim() || element.closest("script, style, noscript")) continue
    if (!element.getClientRects().length) continue
    const style = getComputedStyle(element)
    const ink = luminance(numbers(element.closest("svg") ? style.fill : style.color))
    const paper = luminance(ground(element))
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)
    results.push([ratio, walker.currentNode.textContent.trim().slice(0, 30)])
  }
  results.sort((a, b) => a[0] - b[0])
  return {n: results.length, worst: results[0]}
})()"""
TOOLTIP = """(() => {
  const found = []
  const walk = (node) => {
    if (node.shadowRoot) walk(node.shadowRoot)
    for (const child of node.children) {
      if (child.classList.contains("bk-tooltip-content")) found.push(child.innerText)
      walk(child)
    }
  }
  walk(document.body)
  return found.join("|")
})()"""


@pytest.fixture(scope="module")
def nasty() -> RunSummary:
    return nasty_summary()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory, nasty: RunSummary) -> Iterator[Tab]:
    """A tab with the report open, 1,280 pixels wide."""
    folder = tmp_path_factory.mktemp("browser")
    with browser_tab(folder / "profile") as tab:
        write_run_page(nasty, folder / "report.html")
        tab.resize(1280, 900)
        tab.open(folder / "report.html")
        tab.wait_for(READY)
        yield tab


def place_of(tab: Tab, row: int) -> list[float]:
    """Bring the map into sight, and return where the dot of a row is in the window."""
    tab.evaluate("document.getElementById('map').scrollIntoView({block: 'center', behavior: 'instant'})")
    x, y = f"{PLOT}.frame.x_scale.compute(data.x[{row}])", f"{PLOT}.frame.y_scale.compute(data.y[{row}])"
    code = f"""(() => {{
      const data = {PLOT}.model.document.get_model_by_name("rows").data
      const box = {PLOT}.canvas_view.el.getBoundingClientRect()
      return [box.left + {x}, box.top + {y}]
    }})()"""
    place: list[float] = tab.evaluate(code)
    return place


def colours_near(tab: Tab, path: Path, place: list[float]) -> Any:
    """Return the colour in the middle of a dot."""
    tab.screenshot(path)
    return imread(path)[round(place[1]), round(place[0]), :3]


def test_it_opens_quietly_and_asks_for_nothing(tab: Tab) -> None:
    assert tab.complaints == []
    assert len(tab.requests) == 1 and tab.requests[0].startswith("file:")
    assert tab.evaluate("document.title").startswith(NASTY[0])  # it is there as text, and did not run
    assert tab.evaluate("document.images.length") == 0
    assert tab.evaluate(f"{PLOT}.canvas_view.webgl !== null")  # the policy of the page lets WebGL draw


def test_hover_tells_id_label_and_confidence(tab: Tab, nasty: RunSummary) -> None:
    dot = 50  # row 7 has no place
    row = dot + 1
    x, y = place_of(tab, dot)
    tab.move_mouse(x - 30, y - 30)
    tab.move_mouse(x, y)
    said = tab.wait_for(TOOLTIP).split("\n")
    assert nasty.ids is not None
    assert said[:2] == [nasty.ids[row], nasty.classes[nasty.class_ids[row]].strip()]
    assert said[2] == ("label given" if nasty.given[row] >= 0 else f"confidence {100 * nasty.confidence[row]:.0f} %")
    assert tab.complaints == []


def test_the_colour_switch_changes_colours(tab: Tab, tmp_path: Path, nasty: RunSummary) -> None:
    tab.move_mouse(5, 5)
    place = place_of(tab, 60)
    by_label = colours_near(tab, tmp_path / "label.png", place)
    assert tab.evaluate("document.getElementById('legend-confidence').offsetHeight") == 0
    tab.evaluate("document.querySelector('input[value=confidence]').click()")
    end = time.monotonic() + 20
    while np.allclose(colours_near(tab, tmp_path / "sure.png", place), by_label, atol=0.02):
        assert time.monotonic() < end, "the dot keeps its colour"
    assert tab.evaluate("document.getElementById('legend-confidence').offsetHeight") > 0
    assert tab.evaluate("document.getElementById('legend-label').offsetHeight") == 0
    tab.evaluate("document.querySelector('input[value=label]').click()")
    assert tab.evaluate("document.getElementById('map').dataset.colour") == "label"
    assert tab.complaints == []


def test_buttons_zoom_and_reset(tab: Tab) -> None:
    span = f"({PLOT}.model.x_range.end - {PLOT}.model.x_range.start)"
    whole = tab.evaluate(span)
    tab.evaluate("document.getElementById('zoom-in').click()")
    painted = "new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 300))"
    tab.evaluate(painted)  # names are written again, which must not undo it
    assert tab.evaluate(span) == pytest.approx(0.6 * whole)
    tab.evaluate("document.getElementById('zoom-out').click()")
    tab.evaluate("document.getElementById('zoom-out').click()")
    tab.evaluate(painted)
    assert tab.evaluate(span) == pytest.approx(whole / 0.6)
    tab.evaluate("document.getElementById('zoom-reset').click()")
    assert tab.wait_for(f"Math.abs({span} - {whole}) < 1")


def test_given_labels_are_marked_until_they_are_not(tab: Tab, nasty: RunSummary) -> None:
    rings = f"{PLOT}.model.document.get_model_by_name('rings')"
    assert tab.evaluate(f"{rings}.data_source.data.x.length") == int((nasty.given >= 0).sum()) - int(
        nasty.given[7] >= 0
    )
    assert tab.evaluate(f"{rings}.visible")
    tab.evaluate("document.getElementById('show-given').click()")
    assert not tab.evaluate(f"{rings}.visible")
    tab.evaluate("document.getElementById('show-given').click()")
    assert tab.evaluate(f"{rings}.visible")


def test_a_class_can_be_picked_out(tab: Tab, nasty: RunSummary) -> None:
    palette = f"{PLOT}.model.tags[0].palette"
    before = tab.evaluate(palette)
    tab.evaluate("document.querySelector('#legend-label button[value=\"1\"]').click()")
    picked = tab.evaluate(palette)
    assert picked[1] == before[1] and picked[0] == picked[2] != before[0]
    tab.evaluate("document.querySelector('#legend-label button[value=\"1\"]').click()")
    assert tab.evaluate(palette) == before


def test_every_figure_has_a_text_alternative(tab: Tab) -> None:
    figures = """[...document.querySelectorAll("figure")].map((figure) => {
      const pictures = [...figure.querySelectorAll("[role=img]")]
      const words = pictures.map((picture) => picture.getAttribute("aria-label") || "")
      return {caption: figure.querySelector("figcaption").textContent.length, words: words.map((text) => text.length),
              tables: figure.querySelectorAll("table").length}
    })"""
    found = tab.evaluate(figures)
    assert len(found) == 4  # map, confidence, confusion, reliability
    for figure in found:
        assert figure["caption"] > 20 and (
            all(n > 40 for n in figure["words"]) if figure["words"] else figure["tables"]
        )
    drawings = "[...document.querySelectorAll('svg, canvas')].filter((each) => !each.closest('[role=img]')).length"
    assert tab.evaluate(drawings) == 0


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read(tab: Tab, dark: bool) -> None:
    tab.resize(1280, 900, dark=dark)
    ink = tab.evaluate("getComputedStyle(document.body).color")
    assert (ink == "rgb(232, 237, 243)") == dark
    found = tab.evaluate(CONTRAST)
    assert found["n"] > 100 and found["worst"][0] >= 4.5, found["worst"]
    assert tab.wait_for(f"{PLOT}.model.document.get_model_by_name('rings').glyph.line_color.value === "
                        f"'{'#f2f5f8' if dark else '#1b2530'}'")  # fmt: skip


# Elements whose right edge lies beyond the window or that hide a part of what they hold; folded lists are opened.
HIDDEN_PARTS = """(() => {
  for (const details of document.querySelectorAll("details")) details.open = true
  const wide = document.documentElement.clientWidth
  const found = []
  for (const each of document.querySelectorAll("header *, nav *, main *, footer *")) {
    if (each.closest("svg, #map, [hidden], thead") || !each.getClientRects().length) continue
    const name = `${each.tagName}.${each.className} ${each.textContent.slice(0, 40)}`
    const {left, right} = each.getBoundingClientRect()
    if (right > wide + 0.5 || left < -0.5) found.push(`outside: ${name}`)
    const style = getComputedStyle(each)
    if (["auto", "scroll"].includes(style.overflowY) || (["auto", "scroll"].includes(style.overflowX) &&
        each.scrollWidth > each.clientWidth)) found.push(`scrolls: ${name}`)
  }
  return found
})()"""
MATRIX = """(() => {
  const table = document.querySelector(".confusion"), box = table.getBoundingClientRect()
  const section = table.closest("section").getBoundingClientRect()
  const cells = [...table.querySelectorAll("tbody tr:first-child td")].map((cell) => cell.getBoundingClientRect())
  const cut = [...table.querySelectorAll("td")].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length
  return {columns: cells.length, narrowest: Math.min(...cells.map((cell) => cell.width)), cut,
          inside: box.right <= section.right && Math.max(...cells.map((cell) => cell.right)) <= section.right}
})()"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunSummary]:
    """The report of a table with 18 classes."""
    path, summary = tmp_path_factory.mktemp("many") / "report.html", text_summary()
    write_run_page(summary, path)
    return path, summary


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_nothing_is_cut_or_scrolls_in_a_box(tab: Tab, many: tuple[Path, RunSummary], width: int, dark: bool) -> None:
    tab.resize(width, 844, dark=dark)
    tab.open(many[0])
    tab.wait_for(READY)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(HIDDEN_PARTS) == []
    matrix = tab.evaluate(MATRIX)
    assert matrix["columns"] == 18 and matrix["inside"] and matrix["cut"] == 0
    assert matrix["narrowest"] >= (30 if width == 1280 else 11)
    assert tab.evaluate(CONTRAST)["worst"][0] >= 4.5
    assert tab.evaluate("document.querySelectorAll('#legend-label button').length") == 18
    assert tab.complaints == []


def test_rows_show_their_contents_line_guesses_and_a_reason(tab: Tab, many: tuple[Path, RunSummary]) -> None:
    path, summary = many
    tab.resize(1280, 844)
    tab.open(path)
    tab.wait_for(READY)
    for part, rows in (("suspects", summary.suspects.rows), ("next", summary.suggested)):
        shown = tab.evaluate(
            f"[...document.querySelectorAll('#part-{part} .rows tbody tr')].map((row) => row.innerText)"
        )
        assert len(shown) == len(rows) > 0
        for row, text in zip(rows.tolist(), shown, strict=True):
            about = summary.about(row)
            words = " ".join(text.split())
            assert f"t.csv, line {row + 2}" in words and about.cells[0][1] in words
            if part == "next":
                assert summary.classes[about.second] in words and percent(about.second_confidence) in words
                assert suggestion_reason(summary, row) in words
        if part == "suspects":
            found = summary.suspects
            for text, given, preferred, quality in zip(shown, found.given, found.preferred, found.quality, strict=True):
                words = " ".join(text.split())
                assert words.endswith(f"{summary.classes[preferred]} {summary.classes[given]} {percent(quality)}")


def test_on_a_phone_a_reason_has_the_whole_width(tab: Tab, many: tuple[Path, RunSummary]) -> None:
    tab.resize(390, 844)
    tab.open(many[0])
    tab.wait_for(READY)
    widths = "[...document.querySelectorAll('#part-next .rows td')].map((cell) => cell.getBoundingClientRect().width)"
    assert min(tab.evaluate(widths)) > 300


@pytest.mark.parametrize("width", [1280, 390])
def test_a_class_stays_beside_its_colour(tab: Tab, many: tuple[Path, RunSummary], width: int) -> None:
    tab.resize(width, 844)
    tab.open(many[0])
    tab.wait_for(READY)
    below = """[...document.querySelectorAll(".chip")].filter((chip) => {
      const colour = chip.querySelector(".swatch").getBoundingClientRect()
      return chip.querySelector("bdi").getClientRects()[0].top > colour.bottom
    })"""
    assert tab.evaluate("document.querySelectorAll('.chip').length") > 0
    assert tab.evaluate(f"{below}.length") == 0


def test_names_stand_on_the_map_where_there_is_room(tab: Tab, many: tuple[Path, RunSummary]) -> None:
    names = "document.getElementById('map').dataset.names"
    assert tab.wait_for(f"Number({names}) >= 1")
    tab.evaluate("document.getElementById('show-names').click()")
    assert tab.wait_for(f"{names} === '0'")
    tab.evaluate("document.getElementById('show-names').click()")
    tab.evaluate("document.querySelector('#legend-label button[value=\"3\"]').click()")
    assert tab.wait_for(f"{names} === '1'")


def test_on_a_phone_nothing_hangs_over_the_edge(tab: Tab, nasty: RunSummary, tmp_path: Path) -> None:
    write_run_page(nasty, tmp_path / "nasty.html")
    tab.resize(390, 844)
    tab.open(tmp_path / "nasty.html")
    tab.wait_for(READY)
    assert tab.wait_for("document.documentElement.scrollWidth <= 390 && window.innerWidth === 390")
    assert tab.evaluate(HIDDEN_PARTS) == []
    assert tab.evaluate("document.getElementById('map').getBoundingClientRect().width") > 300
    assert tab.complaints == []
