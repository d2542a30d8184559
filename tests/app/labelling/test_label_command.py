"""`anchorview label` as a process: labels survive a kill, a second page is refused, and a fit reads the journal."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from anchorview.app.inputs.labels import RowNames, labels_of_file
from anchorview.app.settings import RunSettings
from support.command import invoke, quick, read_csv, refused, reviews, write_csv
from support.processes import started


@contextmanager
def page(source: Path, *words: str) -> Iterator[tuple[Any, httpx.Client]]:
    command = [sys.executable, "-m", "anchorview", "label", str(source), "--no-browser", "--jobs", "1", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(command, seconds=120, **pipes) as process:
        said = ""
        while (found := re.search(r"(http://[\d.:]+)/#token=([\w-]+)", said)) is None:
            line = process.stdout.readline()
            assert line, said
            said += line
        headers = {"Authorization": f"Bearer {found[2]}"}
        with httpx.Client(base_url=found[1], headers=headers, timeout=30) as client:
            yield process, client


def give(client: httpx.Client, rows: list[int], label: str) -> dict[str, Any]:
    body = {"who": "ann", "events": [{"kind": "label", "rows": [row], "label": label} for row in rows]}
    answer = client.post("/labels", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.fixture
def run(raw_run: Path, tmp_path: Path) -> Path:
    shutil.copy(raw_run.parent / "reviews.csv", tmp_path / "reviews.csv")
    shutil.copytree(raw_run, tmp_path / "run")
    return tmp_path / "run"


def test_labels_survive_a_kill_and_a_fit_reads_them(run: Path) -> None:
    with page(run) as (process, client):
        first = client.get("/start").json()
        assert first["n_labels"] == 30 and first["classes"] == ["car", "food", "sport"]
        assert "the " in str(client.get("/queue").json()["queue"][0]["texts"])
        give(client, [33, 36], "car")
        give(client, [34], "cooking")
        second = refused("label", run, "--no-browser", code=1)
        assert "Another page is open" in second and f"process {process.pid}" in second
        process.send_signal(signal.SIGKILL)
    with page(run) as (_, client):
        again = client.get("/start").json()
        assert again["n_labels"] == 33 and again["classes"][-1] == "cooking"
        end = time.monotonic() + 90
        while client.get("/overview").json()["version"] == 0:
            assert time.monotonic() < end, client.get("/overview").json()
            time.sleep(0.2)
        model = client.get("/export?form=model")
        assert model.status_code == 200, model.text
        (run.parent / "m.anchorview").write_bytes(model.content)
        assert client.get("/export?form=report").text.startswith("<!doctype html>")
        tasks = client.get("/export?form=label-studio").json()
        assert (
            "cooking" in str(tasks[34]["annotations"]) and tasks[34]["annotations"][0]["completed_by"]["email"] == "ann"
        )
    folder = run.parent
    done = invoke("predict", folder / "m.anchorview", folder / "reviews.csv", "-o", folder / "again.csv")
    assert done.exit_code == 0 and read_csv(folder / "again.csv")[34]["label"] == "cooking", done.output
    done = invoke(
        "fit",
        folder / "reviews.csv",
        "--label",
        "topic",
        "--id",
        "id",
        "--labels",
        folder / "run.labels.jsonl",
        "-o",
        folder / "next",
        "--config",
        quick(folder),
        "--no-report",
    )
    assert done.exit_code == 0, done.output
    labels = {row["id"]: row for row in read_csv(folder / "next" / "labels.csv")}
    assert labels["r034"]["label"] == "cooking" and labels["r034"]["source"] == "given"
    read = labels_of_file(folder / "run.labels.jsonl", RunSettings(), RowNames(np.array(list(labels)), 90), False)
    assert read.chosen == {33: "search", 34: "search", 36: "search"}  # the client was dealt other rows
    assert read.label_source is not None and (read.label_source != "").sum() == 3
    other = write_csv(folder / "other.csv", reviews(50))
    message = refused(
        "fit",
        other,
        "--label",
        "topic",
        "--id",
        "id",
        "--labels",
        folder / "run.labels.jsonl",
        "-o",
        folder / "no",
        "--config",
        quick(folder),
        code=3,
    )
    assert "other rows" in message


def test_a_table_without_labels_is_fitted_first(tmp_path: Path) -> None:
    columns = reviews()
    del columns["topic"]
    table = write_csv(tmp_path / "plain.csv", columns)
    with page(table, "--clusters", "3") as (_, client):
        shown = client.get("/start").json()
        assert shown["n_labels"] == 0 and shown["classes"] == [] and shown["rows"] == 90
        give(client, [0, 3, 6, 9], "car")
        give(client, [1, 4, 7, 10], "food")
        end = time.monotonic() + 90
        while (overview := client.get("/overview").json())["accuracy"] is None:
            assert time.monotonic() < end, overview
            time.sleep(0.2)
        assert overview["problem"] is None
    assert (tmp_path / "plain-run.labels.jsonl").is_file()


def test_what_cannot_be_opened_is_said(tmp_path: Path, run: Path) -> None:
    assert "There is no" in refused("label", tmp_path / "nowhere", code=3)
    assert "is not the folder of a run" in refused("label", tmp_path, code=3)
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert f"Port {number}" in refused("label", run, "--port", number, "--no-browser", code=1)
    (run.parent / "run.labels.jsonl").write_text('{"format": "other"}\n')
    assert "line 1" in refused("label", run, "--no-browser", code=3)
