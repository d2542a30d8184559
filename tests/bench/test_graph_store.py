"""Graphs kept from fit to fit: the same scores and a time that counts them, but built once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from anchorview.bench import jobs
from anchorview.bench.graph_store import _fingerprint, _store
from anchorview.bench.methods import METHODS

GRAPH_METHODS = [name for name, method in METHODS.items() if method.graph is not None]


@pytest.fixture
def place(tmp_path: Path) -> str:
    data = jobs.make_multiview_subspaces(200, 3, random_state=0)
    arrays = {f"v{i}": np.abs(view).astype(np.float32) for i, view in enumerate(data.data)}
    path = tmp_path / "some.npz"
    np.savez(path, y=data.target, **arrays)
    return str(path)


@pytest.fixture(autouse=True)
def empty_store() -> None:
    _store.clear()


def slow_down(method: str, monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
    """Let every graph of a method take a tenth of a second more, and note it."""
    module, name = METHODS[method].graph or ("", "")
    original = getattr(__import__(module, fromlist=[name]), name)

    def slow(*arguments: Any, **options: Any) -> Any:
        calls.append(method)
        time.sleep(0.1)
        return original(*arguments, **options)

    monkeypatch.setattr(f"{module}.{name}", slow)


@pytest.mark.parametrize("method", GRAPH_METHODS)
def test_a_graph_is_built_once_counted_in_each_fit_and_changes_no_score(
    method: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs._warm(method)
    calls: list[str] = []
    slow_down(method, monkeypatch, calls)
    first = jobs.fit(place, method, {}, 0, 0.1)
    built = len(calls)
    second = jobs.fit(place, method, {}, 1, 0.1)
    assert len(calls) == built > 0
    assert second["graph_seconds"] == first["graph_seconds"] >= 0.1 * built
    assert second["seconds"] >= second["graph_seconds"]
    _store.clear()
    alone = jobs.fit(place, method, {}, 1, 0.1)
    assert len(calls) == 2 * built
    assert [alone[name] for name in ("acc", "nmi", "n_iter")] == [second[name] for name in ("acc", "nmi", "n_iter")]


def test_other_rows_get_other_graphs_and_another_method_forgets_them(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    jobs._warm("AMGL")
    slow_down("AMGL", monkeypatch, calls)
    jobs.fit(place, "AMGL", {"scaling": "standard"}, 0, 0.1)
    built = len(calls)
    jobs.fit(place, "AMGL", {"scaling": "l2"}, 0, 0.1)
    assert len(calls) == 2 * built
    jobs.fit(place, "CONMF", {"max_iter": 2}, 0, 0.1)
    jobs.fit(place, "AMGL", {"scaling": "l2"}, 0, 0.1)
    assert len(calls) == 3 * built


def test_fingerprints_tell_contents_apart() -> None:
    rows = np.arange(6.0).reshape(2, 3)
    values = [
        rows,
        rows.T,
        rows + 0.5,
        rows.astype(np.float32),
        sparse.csr_array(rows),
        sparse.csr_array(rows.T),
        [rows, 5],
        [rows, 6],
        {"k": rows},
        None,
        "None",
    ]
    assert len({_fingerprint(value) for value in values}) == len(values)
    assert _fingerprint([rows.copy(), {"k": 5}]) == _fingerprint([rows, {"k": 5}])
