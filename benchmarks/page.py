"""How fast the labelling page is: opening, a key, an update, recolouring; in headless chromium with software GL.

    python benchmarks/page.py --prepare FOLDER 100000      # make a run (minutes); once for each size
    python benchmarks/page.py FOLDER 100000                # measure, about a minute
    python benchmarks/page.py FOLDER 1000000 --drawing     # only opening and drawing, without a model
    python benchmarks/page.py --tables                     # measures nothing; writes the table from the records

Rows are synthetic (`make_multiview_subspaces`, 32 features in two views, 10 classes), 1,000 of them labelled. A
million are the 100,000 rows ten times with a little noise, which spares the fit: opening and drawing do not depend on
it. The server is `anchorview label` as a user starts it, keys are real key events, and all times are taken in the page:

- usable: from opening the address until a row can be labelled and the map is drawn;
- key: from a key to the next row in the document, 100 keys, five a second, while the model updates all the time;
- update: from a key to the map with the labels that it led to;
- recolour: new labels of all rows brought to the graphics card, drawn, and a pixel read back.

Records are in docs/records/page.jsonl, the table is in docs/labelling_page.md. Goals of 100,000 rows: usable
3 s, key 0.1 s (99th percentile), update 2 s, recolour 0.3 s; of 1,000,000 rows: usable 10 s, recolour 1.5 s.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import datasets
from anchorview.bench.records import Records
from anchorview.bench.scripts import Runs
from anchorview.bench.stamps import last_commit
from anchorview.bench.tables import replace_table, table_source, write_pages
from anchorview.report.tables import markdown_table

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.browser import Tab, browser_tab  # noqa: E402
from support.processes import started  # noqa: E402

RECORDS, DOCS_PAGE = HERE.parent / "docs" / "records" / "page.jsonl", HERE.parent / "docs" / "labelling_page.md"
COMMAND = "python benchmarks/page.py FOLDER ROWS"
LARGEST_FIT = 100_000  # rows; a larger run is made of this one, repeated
N_LABELS, N_KEYS, N_UPDATES = 1000, 100, 5
PAGE = "document.getElementById('page')"
NEXT_ROW = """{
  window.keyTimes = []; window.pressed = 0
  document.addEventListener('keydown', () => { window.pressed = performance.now() }, true)
  const seen = () => {
    if (window.pressed) window.keyTimes.push(performance.now() - window.pressed)
    window.pressed = 0
  }
  const what = { attributes: true, attributeFilter: ['data-row'] }
  new MutationObserver(seen).observe(document.getElementById('page'), what)
}"""
RECOLOUR = """(async () => {
  const page = document.getElementById('page').anchorviewPage, map = page.map, gl = map.gl, pixel = new Uint8Array(4)
  const [confidence, novelty] = [new Uint8Array(map.n).fill(200), new Uint8Array(map.n)]
  const state = { label: map.label.map((place) => place % 10 + 1), confidence, novelty }
  const start = performance.now()
  map.setState(state)
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
  return performance.now() - start
})()"""


def prepare(folder: Path, n: int) -> None:
    """Make a run of so many rows."""
    folder.mkdir(parents=True, exist_ok=True)
    made = datasets.make_multiview_subspaces(n, 10, (20, 12), noise=0.3, random_state=0)
    for name, view in zip("ab", made.data, strict=True):
        np.save(folder / f"{name}.npy", view.astype(np.float32))
    labels = np.full(n, "", dtype="U2")
    rows = np.random.RandomState(0).choice(n, N_LABELS, replace=False)
    labels[rows] = [f"c{made.target[row]}" for row in rows]
    np.save(folder / "labels.npy", labels)
    np.save(folder / "truth.npy", made.target)
    views = [word for name in "ab" for word in ("--view", f"{name}={folder / name}.npy")]
    command = [sys.executable, "-m", "anchorview", "fit", *views, "--labels", str(folder / "labels.npy")]
    subprocess.run([*command, "-o", str(folder / "run"), "--fast", "--no-report", "--force"], check=True)


def repeat(small: Path, folder: Path, times: int) -> None:
    """Make a run of many rows from one of few: its views, labels, codes and places again and again, a little moved."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(small / "run", folder / "run", dirs_exist_ok=True)
    rng = np.random.RandomState(0)
    for path in ("a.npy", "b.npy", "run/codes.npy"):
        rows = np.concatenate([np.load(small / path)] * times)
        np.save(folder / path, rows + 0.01 * rng.normal(size=rows.shape).astype(np.float32))
    for path in ("labels.npy", "truth.npy"):
        np.save(folder / path, np.concatenate([np.load(small / path)] * times))
    table = parquet.read_table(small / "run" / "labels.parquet")
    table = pa.concat_tables([table] * times)
    table = table.set_column(0, "id", pa.array(np.arange(table.num_rows)))
    parquet.write_table(table, folder / "run" / "labels.parquet")
    record = json.loads((small / "run" / "run.json").read_text())
    (folder / "run" / "run.json").write_text(json.dumps({**record, "rows": table.num_rows}))
    (folder / "run" / "map.npy").unlink(missing_ok=True)


def press_class(tab: Tab, truth: Any) -> None:
    """Label the row that is shown, by its key."""
    row = int(tab.wait_for(f"{PAGE}.dataset.row"))
    tab.press(str((int(truth[row]) + 1) % 10))


def measure(tab: Tab, address: str, truth: Any, drawing: bool = False) -> dict[str, float]:
    tab.resize(1280, 860)
    tab.open("about:blank")
    start = time.perf_counter()
    tab.send("Page.navigate", url=address)
    tab.wait_for(f"{PAGE} && {PAGE}.dataset.ready === 'true'")
    tab.wait_for(f"{PAGE}.anchorviewPage.map.painted > 0")
    usable = time.perf_counter() - start
    recolour = [tab.evaluate(RECOLOUR) / 1000 for _ in range(5)]
    found = {"usable": usable, "recolour": float(np.median(recolour))}
    if drawing or len(truth) > LARGEST_FIT:
        return found
    tab.wait_for(f"Number({PAGE}.dataset.version) > 0", 170)  # the first fit is done
    time.sleep(2)
    updates = []
    for _ in range(N_UPDATES):
        tab.wait_for("document.querySelector('.busy').hidden")
        version = tab.evaluate(f"Number({PAGE}.dataset.version)")
        start = time.perf_counter()
        press_class(tab, truth)
        tab.wait_for(f"Number({PAGE}.dataset.version) > {version}")
        updates.append(time.perf_counter() - start)
    tab.evaluate(NEXT_ROW)
    for _ in range(N_KEYS):
        begin = time.perf_counter()
        press_class(tab, truth)
        time.sleep(max(0.0, 0.2 - (time.perf_counter() - begin)))
    keys = np.array(tab.wait_for("window.keyTimes")) / 1000
    return found | {
        "key_median": float(np.median(keys)), "key_p99": float(np.quantile(keys, 0.99)), "keys": len(keys),
        "update_median": float(np.median(updates)), "update_largest": max(updates),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("rows", type=int, nargs="?")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--drawing", action="store_true")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    given = parser.parse_args()
    if given.tables:
        write_pages(pages(Records(RECORDS)))
        return
    if given.folder is None or given.rows is None:
        parser.error("give a folder and a number of rows")
    folder = given.folder.resolve() / str(given.rows)
    if given.drawing:
        draw_only(given.rows)
        return
    if given.prepare:
        if given.rows > LARGEST_FIT:
            repeat(given.folder.resolve() / str(LARGEST_FIT), folder, given.rows // LARGEST_FIT)
        else:
            prepare(folder, given.rows)
        return
    (folder / "run.labels.jsonl").unlink(missing_ok=True)  # every measurement starts from the same labels
    first = not (folder / "run" / "map.npy").exists()
    command = [sys.executable, "-m", "anchorview", "label", str(folder / "run"), "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as profile, started(command, seconds=400, **pipes) as server:
        text = ""
        while (address := re.search(r"http://\S+#token=\S+", text)) is None:
            line = server.stdout.readline()
            assert line, text
            text += line
        command_seconds = time.perf_counter() - start
        with browser_tab(Path(profile) / "profile") as tab:
            found = measure(tab, address[0], np.load(folder / "truth.npy"))
            assert tab.complaints == [], tab.complaints
    keep({"rows": given.rows, "first_opening": first, "command": command_seconds, **found})


def draw_only(n: int) -> None:
    """Measure opening and drawing of rows at random, in a session without a model."""
    from support.labelling import plain_session, served

    with tempfile.TemporaryDirectory() as name, browser_tab(Path(name) / "profile") as tab:
        session = plain_session(Path(name) / "run.labels.jsonl", n, classes=tuple(f"c{number}" for number in range(10)))
        with served(session) as address:
            found = measure(tab, address, np.zeros(n), drawing=True)
        session.close()
    keep({"rows": n, "drawing_only": True, **found})


def keep(about: dict[str, Any]) -> None:
    """Print a record, add it to the others with commit and load, and write the table."""
    record = {name: round(value, 3) if isinstance(value, float) else value for name, value in about.items()}
    key = {name: record.pop(name) for name in ("rows", "first_opening", "drawing_only") if name in record}
    record["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps({**key, **record}, indent=1))
    records = Records(RECORDS)
    records.add(Runs.stamped({**key, "app": last_commit("app")}), record)
    write_pages(pages(records))


def make_table(records: Records) -> str:
    """Return the table: of each size, the record of the newest page with the least other work on the machine."""
    openings = [(key, found) for key, found in records if key.get("first_opening")]
    newest: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
    for key, found in openings:
        best = newest.get(key["rows"])
        if best is None or best[0]["app"] != key["app"] or found["load"] <= best[1]["load"]:
            newest[key["rows"]] = key, found
    rows = []
    for n, (_, found) in sorted(newest.items()):
        waited = [f"{found[name]:.{digits}f} s" for name, digits in (("command", 1), ("usable", 1), ("recolour", 2))]
        typed = [f"{found[name]:.3f} s" if name in found else "" for name in ("key_p99", "update_median")]
        rows.append([f"{n:,}", *waited, *typed])
    header = ["rows", "command prints its address", "page usable", "all rows recoloured"]
    header += ["key to next row, 99th percentile", "key to updated map, median"]
    source = table_source(records, [key for key, _ in newest.values()])
    app = ", ".join(sorted({key["app"] for key, _ in newest.values()}))
    load = max(found["load"] for _, found in newest.values())
    note = f"Headless Chromium with software rendering on two cores, load average {load} (the run with the least other"
    note += " work). Keys are pressed"
    note += " while the model updates"
    table = markdown_table(header, rows)
    return f"{table}\n\n`{COMMAND}`, {source}, page of {app}. {note}; no key is pressed with a million rows."


def pages(records: Records) -> dict[Path, str]:
    """Return the new text of the page with the table."""
    return {DOCS_PAGE: replace_table(DOCS_PAGE.read_text(), "page", make_table(records))}


if __name__ == "__main__":
    main()
