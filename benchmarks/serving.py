"""What `anchorview serve` adds to a model's own time, and how many requests a second one core answers.

    python benchmarks/serving.py            # the digits' plain and tuned models; about a minute
    python benchmarks/serving.py --tables   # measures nothing; writes the table from the records

The server runs as a user starts it, pinned to one core, the client on another; each request is one digit as JSON (649
numbers), answered with label, confidence, second label and novelty. The model's own time is that of `predict_proba` and
`novelty` for the same row in a process pinned alike. Records are in
docs/records/serving.jsonl, the table is in docs/labelling_page.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from anchorview import FSSMSC, AnchorViewClassifier, datasets, load, save
from anchorview.bench.records import Records
from anchorview.bench.scripts import Runs
from anchorview.bench.stamps import last_commit
from anchorview.bench.tables import replace_table, table_source, write_pages
from anchorview.report.tables import markdown_table

HERE = Path(__file__).resolve().parent
N_ALONE, N_CLIENTS, SECONDS = 300, 16, 8.0
RECORDS, PAGE = HERE.parent / "docs" / "records" / "serving.jsonl", HERE.parent / "docs" / "labelling_page.md"
COMMAND = "python benchmarks/serving.py"
GOALS = {"added_ms_median": 5.0, "requests_per_second": 200.0}


def pin(core: int) -> None:
    """Keep this process, and those it starts, on one core."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})


def own_seconds(path: str) -> None:
    """Print the model's own seconds for single rows; run as a process of its own."""
    digits, model = datasets.load_handwritten(), load(path)
    times = []
    for row in range(N_ALONE):
        views = digits.views[row : row + 1]
        start = time.perf_counter()
        model.predict_proba(views)
        model.novelty(views)
        times.append(time.perf_counter() - start)
    print(json.dumps(times[20:]))


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    assert length is not None
    return await reader.readexactly(int(length[1]))


async def measure(port: int, requests: list[bytes]) -> dict[str, float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    alone = []
    for number in range(N_ALONE):
        start = time.perf_counter()
        await _exchange(reader, writer, requests[number % len(requests)])
        alone.append(time.perf_counter() - start)
    writer.close()
    done, end = [0] * N_CLIENTS, time.perf_counter() + SECONDS

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            await _exchange(reader, writer, requests[(37 * number + done[number]) % len(requests)])
            done[number] += 1
        writer.close()

    start = time.perf_counter()
    await asyncio.gather(*map(client, range(N_CLIENTS)))
    rate = sum(done) / (time.perf_counter() - start)
    ms = 1000 * np.array(alone[20:])
    return {"ms_median": float(np.median(ms)), "ms_p99": float(np.quantile(ms, 0.99)), "requests_per_second": rate}


def run(kind: Any, folder: Path) -> dict[str, Any]:
    digits = datasets.load_handwritten()
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    path = folder / f"{kind.__name__}.anchorview"
    save(kind(random_state=0).fit(digits.views, y), path, rows=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    alone = [sys.executable, __file__, "--own", str(path)]
    own = subprocess.run(
        alone, capture_output=True, text=True, check=True, env=environment, preexec_fn=lambda: pin(0)
    ).stdout
    views = dict(zip(digits.views.names, digits.views.arrays, strict=True))
    bodies = [
        json.dumps([{name: array[row].tolist() for name, array in views.items()}]).encode()
        for row in range(0, 2000, 10)
    ]
    command = [sys.executable, "-m", "anchorview", "serve", str(path), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, preexec_fn=lambda: pin(0)
    ) as server:
        assert server.stdout is not None
        text = ""
        while (address := re.search(r"http://127.0.0.1:(\d+)", text)) is None:
            line = server.stdout.readline()
            assert line, text
            text += line
        port = int(address[1])
        head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: "
        requests = [head.encode() + f"{len(body)}\r\n\r\n".encode() + body for body in bodies]
        everywhere = os.sched_getaffinity(0)
        pin(1)
        try:
            measured = asyncio.run(measure(port, requests))
        finally:
            os.sched_setaffinity(0, everywhere)
            server.terminate()
    own_ms = 1000 * float(np.median(json.loads(own)))
    found = {"own_ms_median": own_ms, "added_ms_median": measured["ms_median"] - own_ms}
    found |= measured
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in found.items()}


def make_table(records: Records) -> str:
    """Return the table of the newest record of each model."""
    newest = {key["model"]: (key, found) for key, found in records}
    rows = []
    for name, (_, found) in newest.items():
        times = [f"{found[what]:.1f} ms" for what in ("own_ms_median", "ms_median", "ms_p99")]
        rows.append([name, *times, f"{found['requests_per_second']:,.0f}"])
    header = ["model", "two calls in Python", "one request", "99th percentile", "requests a second, 16 clients"]
    source = table_source(records, [key for key, _ in newest.values()])
    app = ", ".join(sorted({key["app"] for key, _ in newest.values()}))
    note = "A digit of 649 numbers as JSON; the server has one core. The two calls are `predict_proba` and `novelty`"
    return f"{markdown_table(header, rows)}\n\n`{COMMAND}`, {source}, server of {app}. {note}."


def pages(records: Records) -> dict[Path, str]:
    """Return the new text of the page with the table."""
    return {PAGE: replace_table(PAGE.read_text(), "serving", make_table(records))}


def main() -> None:
    if sys.argv[1:2] == ["--own"]:
        own_seconds(sys.argv[2])
        return
    records = Records(RECORDS)
    if sys.argv[1:2] != ["--tables"]:
        with tempfile.TemporaryDirectory() as folder:
            for kind in (FSSMSC, AnchorViewClassifier):
                found = run(kind, Path(folder))
                print(json.dumps(found))
                key = {"model": kind.__name__, "goals": GOALS, "app": last_commit("app")}
                records.add(Runs.stamped(key), found)
    write_pages(pages(records))


if __name__ == "__main__":
    main()
