"""The labelling page in a real browser: by keyboard alone, with a lasso, on a phone, through a restart."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from anchorview import FSSMSC
from anchorview.app.labelling.session import Session
from support.browser import Tab, browser_tab
from support.labelling import HTML, digits_session, nasty_table, plain_session, served, wait_until

READY = "document.getElementById('page').dataset.ready === 'true'"
ROW = "Number(document.getElementById('page').dataset.row)"
SHOTS = os.environ.get("ANCHORVIEW_SHOTS")  # a folder, to look at the pages


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser_tab(tmp_path_factory.mktemp("browser") / "profile") as tab:
        yield tab


def start(tab: Tab, address: str, width: int = 1280, height: int = 900, dark: bool = False) -> None:
    tab.open("about:blank")
    tab.resize(width, height, dark=dark)
    tab.open(address)
    tab.wait_for(READY)


def shot(tab: Tab, name: str) -> None:
    if SHOTS:
        tab.wait_for("new Promise((done) => setTimeout(() => done(true), 300))")
        tab.screenshot(Path(SHOTS, f"{name}.png"))


def figure(tab: Tab, name: str) -> str:
    code = (
        f"[...document.querySelectorAll('.figures div')].find((d) => d.firstChild.textContent === '{name}').innerText"
    )
    text: str = tab.evaluate(code)
    return text


def stated(tab: Tab) -> float:
    found = re.search(r"(\d+\.\d) %", figure(tab, "Expected accuracy"))
    return 0.0 if found is None else float(found[1])


def share_right(session: Session, target: Any) -> float:
    return float(np.mean([session.guess(row) == str(target[row]) for row in range(len(target))]))


def test_thirty_digits_by_keyboard_alone(tab: Tab, tmp_path: Path, some_digits: Any) -> None:
    fitted = FSSMSC(10, n_landmarks=40, random_state=0).fit(some_digits.views)
    session = digits_session(tmp_path / "run.labels.jsonl", some_digits, fitted, tuple("0123456789"))
    with served(session) as address:
        start(tab, address)
        shot(tab, "start")
        assert "token" not in tab.evaluate("location.href")
        for number in range(45):
            row = tab.evaluate(ROW)
            digit = int(some_digits.target[row])
            tab.press(str((digit + 1) % 10))
            tab.wait_for(f"{ROW} >= 0 && {ROW} !== {row}")
            assert f": {digit}." in tab.evaluate("document.querySelector('[aria-live]').textContent")
            if number == 14:
                wait_until(lambda: not session.updating, 60)
                tab.wait_for(f"document.getElementById('page').dataset.version === '{session.state.version}'")
                early = stated(tab), share_right(session, some_digits.target)
        wait_until(lambda: len(session.book.labels) == 45)
        wait_until(lambda: not session.updating, 60)
        tab.wait_for(f"document.getElementById('page').dataset.version === '{session.state.version}'")
        late = stated(tab), share_right(session, some_digits.target)
        shot(tab, "labelled")
        assert late > early and late[1] > early[1] and late[1] > 0.75, (early, late)
        assert {event.label for event in session.journal.events} <= set("0123456789")
        tab.press("Backspace")
        wait_until(lambda: len(session.book.labels) == 44)
        tab.press("/")
        assert tab.evaluate("document.activeElement.getAttribute('role')") == "combobox"
        tab.send("Input.insertText", text="ten")
        tab.press("Enter")
        wait_until(lambda: "ten" in session.book.labels.values())
        tab.press("h")
        assert tab.evaluate("document.querySelector('dialog[open]').textContent.includes('undo')")
        shot(tab, "help")
        tab.press("Escape")
        assert tab.complaints == []
    session.close()


def test_a_lasso_is_checked_then_labels_all(tab: Tab, tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl", 400)
    with served(session) as address:
        start(tab, address)
        tab.press("l")
        box = tab.evaluate("(() => { const b = document.querySelector('.overlay').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")  # fmt: skip  # noqa: E501
        left, top, width, height = box
        corners = [(0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75), (0.25, 0.3)]
        tab.drag([(left + x * width, top + y * height) for x, y in corners])
        tab.wait_for("document.querySelectorAll('.chosen ol li').length === 10")
        shot(tab, "lasso")
        tab.send("Input.insertText", text="together")
        tab.press("Enter")
        assert tab.evaluate("document.querySelector('.chosen .main').disabled")  # nobody has looked at the ten
        tab.press("1")
        assert not session.book.labels
        tab.press(" ", code="Space")
        tab.press("Tab")
        shot(tab, "lasso-checked")
        tab.press("Enter")
        wait_until(lambda: len(session.book.labels) > 50)
        assert set(session.book.why.values()) == {"lasso"}
        tab.wait_for("!document.querySelector('.chosen')")
        tab.press("Backspace")
        wait_until(lambda: not session.book.labels)
        assert tab.complaints == []
    session.close()


def test_labels_wait_for_a_server_that_was_killed(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "run.labels.jsonl"
    session = plain_session(path)
    with served(session) as address:
        start(tab, address)
        tab.press("1")
        wait_until(lambda: len(session.book.labels) == 1)
    session.close()
    row = tab.evaluate(ROW)
    tab.press("2")  # nobody is there
    assert tab.evaluate(ROW) != row
    again = plain_session(path)
    assert len(again.book.labels) == 1
    with served(again, int(address.split(":")[2].partition("/")[0])):
        wait_until(lambda: again.book.labels.get(row) == "b")
        assert len(again.journal.events) == 2
    again.close()


def test_two_windows_see_each_other(tab: Tab, tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl")
    with served(session) as address:
        start(tab, address.replace("who=ann", "who=bob"))
        rows = {shown["row"] for shown in session.queue("ann")}
        assert tab.evaluate(ROW) not in rows
        session.take("ann", [{"kind": "label", "rows": [min(rows)], "label": "a"}])
        tab.wait_for("document.querySelector('.figures b').textContent === '1'")
    session.close()


@pytest.mark.parametrize("dark", [False, True])
def test_html_stays_text_on_a_phone(tab: Tab, tmp_path: Path, dark: bool) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl", contents=nasty_table(), classes=(HTML, "<b>bold</b>"))
    with served(session) as address:
        start(tab, address, 390, 844, dark)
        shot(tab, f"phone-{'dark' if dark else 'light'}")
        assert tab.evaluate("document.title") == "anchorview label"
        assert HTML in tab.evaluate("document.querySelector('.row blockquote').textContent")
        assert tab.evaluate("document.querySelectorAll('main img, main script, .classes button b').length") == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert not tab.evaluate("document.querySelector('details.left').open")  # the queue first, the map folded
        tab.press("1")
        wait_until(lambda: HTML in session.book.labels.values())
        for key in "dnei":
            tab.press(key)
            tab.wait_for("!document.querySelector('.panel').hidden")
        assert tab.complaints == [] and tab.evaluate("document.title") == "anchorview label"
        from report.test_run_page_in_browser import CONTRAST

        found = tab.evaluate(CONTRAST)
        assert found["n"] > 20 and found["worst"][0] >= 4.5, found
    session.close()


def test_a_hundred_thousand_rows_are_drawn_chosen_and_labelled(tab: Tab, tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl", 100_000)
    with served(session) as address:
        start(tab, address)
        tab.wait_for("document.getElementById('page').anchorviewPage.map.painted > 0")
        tab.press("2")
        wait_until(lambda: list(session.book.labels.values()) == ["b"])
        code = "const map = document.getElementById('page').anchorviewPage.map; map.onLasso(map.within([[-2, -2], [2, -2], [2, 2], [-2, 2]]))"  # fmt: skip  # noqa: E501
        tab.evaluate(f"{{ {code} }}")
        tab.wait_for("document.querySelectorAll('.chosen ol li').length === 10")
        tab.send("Input.insertText", text="all")
        for key, name in (("Enter", ""), (" ", "Space"), ("Tab", ""), ("Enter", "")):
            tab.press(key, code=name)
        wait_until(lambda: len(session.book.labels) == 100_000)
        assert sum(label == "all" for label in session.book.labels.values()) == 99_999  # the single label stays
        assert tab.complaints == []
    session.close()


def test_typing_finds_a_class_before_it_makes_one(tab: Tab, tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl", classes=("motor", "sports", "Sport cars"))
    with served(session) as address:
        start(tab, address)
        for text, keys, label in (("spo", [], "sports"), ("car", [], "Sport cars"), ("spo", ["ArrowUp"], "spo")):
            n = len(session.book.labels)
            tab.press("/")
            tab.send("Input.insertText", text=text)
            for key in [*keys, "Enter"]:
                tab.press(key)
            wait_until(lambda n=n: len(session.book.labels) == n + 1)
            assert list(session.book.labels.values())[-1] == label
        tab.press("f")
        wait_until(lambda: session.book.flagged)
        tab.press("Backspace")
        wait_until(lambda: not session.book.flagged)
        tab.press("u")
        tab.press(" ", code="Space")
        wait_until(lambda: session.book.none and session.book.skipped)
        assert tab.complaints == []
    session.close()


def test_an_earlier_answer_comes_back_in_a_page_that_was_opened_anew(tab: Tab, tmp_path: Path) -> None:
    session = plain_session(tmp_path / "run.labels.jsonl")
    with served(session) as address:
        start(tab, address)
        row = tab.evaluate(ROW)
        tab.press("1")
        wait_until(lambda: row in session.book.labels)
        start(tab, address)
        assert tab.evaluate(ROW) != row
        tab.press("Backspace")
        tab.wait_for(f"{ROW} === {row}")
        assert not session.book.labels
    session.close()


def test_a_full_disk_and_a_missing_picture_are_said(tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = pa.table({"photo": [f"gone/{row}.png" for row in range(60)]})
    session = plain_session(tmp_path / "run.labels.jsonl", contents=contents)
    with served(session) as address:
        start(tab, address)
        tab.wait_for("document.querySelector('.row').textContent.includes('cannot be read')")
        row = tab.evaluate(ROW)

        def full(number: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        tab.press("1")
        tab.wait_for("document.querySelector('[aria-live]').textContent.includes('no space is left')")
        tab.wait_for(f"{ROW} === {row}")  # it was not taken, and comes back
        monkeypatch.undo()
        tab.press("1")
        wait_until(lambda: session.book.labels == {row: "a"})
    session.close()
