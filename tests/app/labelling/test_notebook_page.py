"""`model.label(X)`: the page in a cell, with the kernel in place of the server."""

from __future__ import annotations

import base64
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anchorview import FSSMSC, datasets
from anchorview.app.errors import CommandError
from anchorview.app.labelling.assets import MODULES, one_module, read_asset
from support.browser import browser_tab
from support.labelling import HTML, wait_until

WIDGET = """(async () => {
  window.sent = []; window.heard = []
  const on = (name, work) => window.heard.push(work), send = (message) => window.sent.push(message)
  const model = { get: () => 'ann', on, off: () => {}, send }
  const { default: widget } = await import('data:text/javascript;base64,%s')
  window.end = widget.render({ model, el: document.body.appendChild(document.createElement('div')) })
  return true
})()"""
HEAR = """{ const raw = %s, bytes = raw === null ? [] : [Uint8Array.from(atob(raw), (c) => c.charCodeAt(0)).buffer]
  for (const work of window.heard) work(%s, bytes) }"""


@pytest.fixture
def fitted() -> tuple[Any, FSSMSC]:
    made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, 0.2, random_state=0)
    return made, FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)


def test_the_model_follows_the_labels_of_the_cell(fitted: tuple[Any, FSSMSC], tmp_path: Path) -> None:
    made, model = fitted
    contents = pd.DataFrame({"text": [f"{HTML} {row}" for row in range(90)]})
    page = model.label(made.views, contents=contents, journal=tmp_path / "a.labels.jsonl", who="ann")
    sent: list[tuple[Any, Any]] = []
    page.send = lambda message, buffers=None: sent.append((message, buffers))
    with browser_tab(tmp_path / "profile") as tab:
        tab.open("about:blank")
        tab.evaluate(WIDGET % base64.b64encode(one_module().encode()).decode())

        def exchange() -> None:
            """Carry messages between the cell and the kernel, as a notebook does."""
            for question in json.loads(tab.evaluate("JSON.stringify(window.sent.splice(0))")):
                page._answer(None, question, None)
            while sent:
                message, buffers = sent.pop(0)
                raw = None if not buffers else base64.b64encode(buffers[0]).decode()
                tab.evaluate(HEAR % (json.dumps(raw), json.dumps(message)))

        def until(code: str) -> None:
            end = time.monotonic() + 30
            while not tab.evaluate(code):
                assert time.monotonic() < end, code
                exchange()

        cell = "document.querySelector('.anchorview-label')"
        until(f"{cell}.dataset.ready === 'true'")
        assert HTML in tab.evaluate("document.querySelector('.row blockquote').textContent")
        before = len(page.labels)
        tab.evaluate(f"{cell}.focus()")
        row = int(tab.evaluate(f"{cell}.dataset.row"))
        tab.press("1")
        until(f"{cell}.dataset.row !== '{row}'")
        exchange()
        assert len(page.labels) == before + 1 and page.labels[str(row)] == "0"
        wait_until(lambda: not page.session.updating)
        until(f"Number({cell}.dataset.version) > 1")
        assert model.labels_[row] == 0 and model.label_source_[row] in ("random", "suggested")
        tab.evaluate("document.body.focus(); document.activeElement.blur()")
        tab.press("1")  # keys of other cells are not the page's
        exchange()
        assert len(page.labels) == before + 1 and tab.complaints == []
    page.close()


def test_labels_are_there_again_and_other_rows_are_refused(fitted: tuple[Any, FSSMSC], tmp_path: Path) -> None:
    made, model = fitted
    path = tmp_path / "a.labels.jsonl"
    page = model.label(made.views, journal=path)
    page.session.take("ann", [{"kind": "label", "rows": [5], "label": "new"}])
    with pytest.raises(CommandError, match=f"process {os.getpid()}"):
        model.label(made.views, journal=path)
    wait_until(lambda: page.session.problem is not None)
    assert "classes of this fit are numbers" in page.session.problem  # said on the page; the label is kept
    page.close()
    page = model.label(made.views, journal=path)
    assert page.labels["5"] == "new"
    page.close()
    with pytest.raises(ValueError, match="X has 80 rows, and the fit had 90"):
        model.label(made.views[:80], journal=path)
    other = FSSMSC(3, n_landmarks=20, random_state=0).fit(made.views[:80])
    with pytest.raises(Exception, match="holds labels about other rows"):
        other.label(made.views[:80], journal=path)


def test_the_modules_have_no_name_twice() -> None:
    """They are joined into one for a notebook."""
    pattern = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
    names = [name for file in (*MODULES, "notebook_model.js") for name in pattern.findall(read_asset(file).decode())]
    assert len(names) > 40 and len(names) == len(set(names)), sorted({n for n in names if names.count(n) > 1})
