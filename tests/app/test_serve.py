"""A model over HTTP: the labels of `predict`, and clear words for what cannot be read."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from anchorview import load, save
from anchorview.app.labelling.running import open_socket
from anchorview.app.serving import make_prediction_app
from support.command import refused

HOST = "http://127.0.0.1:8000"
JSON = {"Content-Type": "application/json"}


def ask(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOST) as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


@pytest.fixture(scope="module")
def app(raw_run: Path) -> Any:
    return make_prediction_app(raw_run / "model.anchorview", None, ["127.0.0.1:8000"], most_bytes=100_000)


ROWS = [
    {"id": "n1", "text": "the oven and the flour with sugar", "price": 1.1, "shop": "north"},
    {"id": "n2", "text": "the racket and the goal with ball", "price": 2.2, "shop": "south"},
]


def test_records_and_csv_get_the_labels_of_predict(app: Any) -> None:
    answer = ask(app, "POST", "/predict", json=ROWS).json()
    assert [row["label"] for row in answer["predictions"]] == ["food", "sport"]
    assert [row["id"] for row in answer["predictions"]] == ["n1", "n2"]
    first = answer["predictions"][0]
    assert 0 < first["confidence"] <= 1 and first["second_label"] in ("car", "sport")
    lines = ["id,text,price,shop", *(",".join(map(str, row.values())) for row in ROWS)]
    by_csv = ask(app, "POST", "/predict", content="\n".join(lines), headers={"Content-Type": "text/csv"}).json()
    assert by_csv["predictions"] == answer["predictions"]
    assert ask(app, "POST", "/predict", json={"records": ROWS}).json() == answer


def test_missing_columns_are_missing_values_and_unknown_ones_are_named(app: Any) -> None:
    answer = ask(app, "POST", "/predict", json=[{"text": "the oven and the flour", "colour": "red"}]).json()
    assert answer["predictions"][0]["label"] == "food" and answer["unknown_columns"] == ["colour"]
    assert set(answer["missing_columns"]) <= {"price", "shop"} and answer["missing_columns"]


@pytest.mark.parametrize(
    "body", ["{", "[]", "[1]", '{"records": 3}', '[{"colour": "red"}]', '[{"price": "x"}, {"price": 1}]']
)
def test_what_cannot_be_read_is_said(app: Any, body: str) -> None:
    answer = ask(app, "POST", "/predict", content=body, headers=JSON)
    assert answer.status_code == 400 and len(answer.json()["error"]) > 10


def test_size_type_host_and_token_are_checked(app: Any, raw_run: Path) -> None:
    assert ask(app, "POST", "/predict", content=json.dumps([{"text": "x" * 200_000}]), headers=JSON).status_code == 413
    assert ask(app, "POST", "/predict", content="x", headers={"Content-Type": "text/plain"}).status_code == 415
    assert ask(app, "POST", "/predict", json=ROWS, headers={"Host": "evil.example"}).status_code == 403
    guarded = make_prediction_app(raw_run / "model.anchorview", "secret", [])
    assert ask(guarded, "POST", "/predict", json=ROWS).status_code == 401
    assert ask(guarded, "POST", "/predict", json=ROWS, headers={"Authorization": "Bearer secret"}).status_code == 200
    assert ask(guarded, "GET", "/health").status_code == 200


def test_the_model_describes_itself(app: Any) -> None:
    about = ask(app, "GET", "/model").json()
    assert about["classes"] == ["car", "food", "sport"] and about["columns"]["text"] == "text" and about["id"] == "id"


def test_views_of_arrays_are_lists(tmp_path: Path, some_digits: Any, digits_model: Any) -> None:
    save(digits_model, tmp_path / "m.anchorview")
    app = make_prediction_app(tmp_path / "m.anchorview", None, [])
    views = dict(zip(some_digits.views.names, some_digits.views.arrays, strict=True))
    records = [{name: array[row].tolist() for name, array in views.items()} for row in range(3)]
    answer = ask(app, "POST", "/predict", json=records).json()
    wanted = load(tmp_path / "m.anchorview").predict(some_digits.views[:3]).tolist()
    assert [row["label"] for row in answer["predictions"]] == wanted


def test_requests_that_come_together_are_answered_apart(app: Any) -> None:
    bad = [{"price": "x"}, {"price": 1}]

    async def send() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOST) as client:
            bodies = [[ROWS[0]], ROWS, bad, [{"text": "the racket and the goal"}]]
            return await asyncio.gather(*(client.post("/predict", json=body) for body in bodies))

    one, two, refusal, part = asyncio.run(send())
    alone = ask(app, "POST", "/predict", json=ROWS).json()
    for answer, wanted in ((two, alone["predictions"]), (one, alone["predictions"][:1])):
        rows = answer.json()["predictions"]
        assert [(row["id"], row["label"]) for row in rows] == [(row["id"], row["label"]) for row in wanted]
        assert [row["confidence"] for row in rows] == pytest.approx([row["confidence"] for row in wanted], abs=1e-5)
    assert refusal.status_code == 400 and "price" in refusal.json()["error"]
    assert part.json()["predictions"][0]["label"] == "sport" and part.json()["missing_columns"]


def test_novelty_of_a_model_that_knows_its_rows(tmp_path: Path, some_digits: Any, digits_model: Any) -> None:
    save(digits_model, tmp_path / "m.anchorview", rows=True)
    app = make_prediction_app(tmp_path / "m.anchorview", None, [])
    views = dict(zip(some_digits.views.names, some_digits.views.arrays, strict=True))
    answer = ask(app, "POST", "/predict", json=[{name: array[0].tolist() for name, array in views.items()}]).json()
    wanted = load(tmp_path / "m.anchorview").novelty(some_digits.views[:1])[0]
    assert answer["predictions"][0]["novelty"] == pytest.approx(wanted, abs=1e-3)
    assert ask(app, "GET", "/model").json()["no_novelty"] is None


def test_small_answers_are_sent_at_once() -> None:
    with open_socket(0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # else asyncio leaves 40 ms to the system


def test_other_machines_need_a_token(raw_run: Path, tmp_path: Path) -> None:
    assert "--token" in refused("serve", raw_run, "--host", "0.0.0.0", code=2)
    assert "There is no model" in refused("serve", tmp_path / "none", code=3)
