"""The page's server: what it answers, and whom it refuses."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from anchorview.app.labelling.server import make_app
from anchorview.app.labelling.session import Session
from support.labelling import HTML, TOKEN, nasty_table, plain_session, wait_until

HOST = "http://127.0.0.1:8000"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "secret.png").write_text("no picture")
    session = plain_session(tmp_path / "run.labels.jsonl", contents=nasty_table())
    wait_until(lambda: session.state.version)
    yield session
    session.close()


def ask(session: Session, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(make_app(session, TOKEN, 8000))
        async with httpx.AsyncClient(transport=transport, base_url=HOST) as client:
            return await client.request(method, path, **{"headers": BEARER, **options})

    return asyncio.run(send())


def label(session: Session, row: int, name: str, **more: Any) -> httpx.Response:
    body = {"who": "ann", "events": [{"kind": "label", "rows": [row], "label": name, **more}]}
    return ask(session, "POST", "/labels", json=body)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({**BEARER, "Host": "evil.example:8000"}, 403),  # DNS rebinding
        ({**BEARER, "Host": "127.0.0.1"}, 403),
        ({**BEARER, "Host": "127.0.0.1:8000.evil.example"}, 403),
        ({**BEARER, "Origin": "http://evil.example"}, 403),
        ({**BEARER, "Origin": "null"}, 403),
        ({**BEARER, "Origin": "https://127.0.0.1:8000"}, 403),
        ({**BEARER, "Sec-Fetch-Site": "cross-site"}, 403),
        ({**BEARER, "Origin": HOST, "Host": "localhost:8000"}, 200),
    ],
)
def test_forged_requests_are_refused(session: Session, headers: dict[str, str], status: int) -> None:
    before = session.journal.path.read_bytes()
    for path in ("/queue", "/map.bin", "/state.bin", "/rows/1", "/export", "/start"):
        assert ask(session, "GET", path, headers=headers).status_code == status
    body = json.dumps({"who": "eve", "events": [{"kind": "label", "rows": [1], "label": "a"}]})
    answer = ask(session, "POST", "/labels", headers={**headers, "Content-Type": "application/json"}, content=body)
    assert answer.status_code == status
    assert (session.journal.path.read_bytes() == before) == (status != 200)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_taken(session: Session, kind: str) -> None:
    body = json.dumps({"events": [{"kind": "label", "rows": [1], "label": "a"}]})
    answer = ask(session, "POST", "/labels", headers={**BEARER, "Content-Type": kind}, content=body)
    assert answer.status_code == 415 and not session.book.labels


def test_the_empty_page_needs_no_token_and_allows_no_foreign_code(session: Session) -> None:
    answer = ask(session, "GET", "/", headers={})
    policy = answer.headers["content-security-policy"]
    assert answer.status_code == 200 and "unsafe" not in policy and "default-src 'none'" in policy
    assert "r1" not in answer.text and TOKEN not in answer.text
    assert ask(session, "GET", "/assets/page.js", headers={}).headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../server.py",
        "/assets/..%2fserver.py",
        "/assets/%2fetc%2fpasswd",
        "/image/..%2f..%2fetc",
        "/etc/passwd",
    ],
)
def test_no_path_of_the_browser_reaches_the_disk(session: Session, path: str) -> None:
    answer = ask(session, "GET", path)
    assert answer.status_code in (404, 405) and "import" not in answer.text


def test_a_file_that_is_no_picture_is_not_sent(tmp_path: Path) -> None:
    import pyarrow as pa

    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n....")
    (tmp_path / "b.png").write_text("root:x:0:0")
    table = pa.table({"photo": ["a.png", "b.png", "missing.png"] + [None] * 57})
    session = plain_session(tmp_path / "run.labels.jsonl", contents=table)
    assert [ask(session, "GET", f"/image/{row}").status_code for row in (0, 1, 2, 3, 99)] == [200, 404, 404, 404, 404]
    session.close()


def test_labels_are_taken_once_and_the_next_row_comes_along(session: Session) -> None:
    first = ask(session, "GET", "/queue?who=ann").json()["queue"]
    row = first[0]["row"]
    answer = label(session, row, "a", key="k1", ms=900).json()
    assert answer["n_labels"] == 1 and answer["queue"][0]["row"] == first[1]["row"]
    label(session, row, "a", key="k1", ms=900)
    assert len(session.journal.events) == 1
    assert session.journal.events[0].why == "suggested" and session.journal.events[0].ms == 900


def test_undo_brings_the_row_back(session: Session) -> None:
    row = ask(session, "GET", "/queue?who=ann").json()["queue"][0]["row"]
    label(session, row, "new class")
    assert "new class" in session.book.classes
    answer = ask(session, "POST", "/undo", json={"who": "ann"}).json()
    assert answer["queue"][0]["row"] == row and answer["n_labels"] == 0 and "new class" not in answer["classes"]
    refused = ask(session, "POST", "/undo", json={"who": "bob"})
    assert refused.status_code == 400 and "nothing of yours" in refused.json()["error"]


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "label", "rows": [60], "label": "a"},
        {"kind": "label", "rows": [-1], "label": "a"},
        {"kind": "label", "rows": [True], "label": "a"},
        {"kind": "label", "rows": [1], "label": " "},
        {"kind": "label", "rows": [], "label": "a"},
        {"kind": "drop", "rows": [1]},
        {"kind": "skip", "rows": [1], "label": "a"},
        {"kind": "label", "rows": [1], "label": "a", "why": "random"},  # only the server knows what was drawn at random
    ],
)
def test_bad_events_change_nothing(session: Session, event: dict[str, Any]) -> None:
    good = {"kind": "label", "rows": [2], "label": "a"}
    answer = ask(session, "POST", "/labels", json={"who": "ann", "events": [good, event]})
    assert answer.status_code == 400 and answer.json()["error"]
    assert session.journal.events == [] and session.book.labels == {}


def test_a_full_disk_is_said_and_the_label_is_not_taken(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    answer = label(session, 1, "a")
    assert answer.status_code == 507 and "no space is left" in answer.json()["error"]
    assert not session.book.labels


def test_every_fifth_row_is_drawn_at_random_and_blind(session: Session) -> None:
    whys = []
    for _ in range(20):
        shown = ask(session, "GET", "/queue?who=ann").json()["queue"][0]
        assert "why" not in shown
        label(session, shown["row"], "a")
        whys.append(session.journal.events[-1].why)
        assert shown["blind"] == (whys[-1] == "random")
    assert whys.count("random") == 4


def test_exports_hold_every_row(session: Session) -> None:
    label(session, 3, HTML, ms=1500)
    ask(session, "POST", "/labels", json={"who": "ann", "events": [{"kind": "skip", "rows": [4]}]})
    rows = list(csv.DictReader(io.StringIO(ask(session, "GET", "/export?form=csv").text)))
    assert len(rows) == 60 and rows[3]["label"] == HTML and rows[3]["source"] == "given" and rows[3]["who"] == "ann"
    tasks = ask(session, "GET", "/export?form=label-studio").json()
    given, skipped = tasks[3]["annotations"][0], tasks[4]["annotations"][0]
    assert given["lead_time"] == 1.5 and given["completed_by"]["email"] == "ann" and skipped["was_cancelled"]
    assert ask(session, "GET", "/export?form=parquet").content[:4] == b"PAR1"
    assert ask(session, "GET", "/export?form=../x").status_code == 400


def test_search_reads_ids_and_cells(session: Session) -> None:
    assert ask(session, "GET", "/search?q=ROW 17 ").json()["rows"] == [17]
    assert ask(session, "GET", "/search?q=r5").json()["rows"][0] == 5
    assert ask(session, "GET", "/similar/3").status_code == 200
    assert ask(session, "GET", "/similar/999").status_code == 400
