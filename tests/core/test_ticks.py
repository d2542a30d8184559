"""Lines inside a long stage: counted from any thread, written now and then, to who watches."""

from __future__ import annotations

import threading

import pytest

from anchorview.core import progress
from anchorview.core.progress import Ticker, watch


def test_lines_come_at_most_every_few_seconds_and_not_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = [0.0], list[str]()
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    with watch(lines.append):
        counted = Ticker("encoding", 4)
    for now[0], _ in ((1.0, 0), (3.0, 0), (4.0, 0), (60.0, 0)):
        counted.done()
    assert lines == ["encoding: 2 of 4 blocks, about 3 s left"]


def test_what_is_counted_has_a_name() -> None:
    assert Ticker("scaling", 8, "views").line(1.0) == "scaling: 0 of 8 views"


def test_what_threads_have_done_of_their_blocks_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = [0.0], list[str]()
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    with watch(lines.append):
        counted = Ticker("encoding", 2)
    now[0] = 10.0
    counted.tick()
    now[0] = 20.0
    thread = threading.Thread(target=counted.tick, args=(0.5,))
    thread.start()
    thread.join()
    assert lines == ["encoding: 0 of 2 blocks", "encoding: 0 of 2 blocks, about 60 s left"]


def test_only_who_watches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    outer, inner = list[str](), list[str]()
    with watch(outer.append):
        with pytest.raises(KeyboardInterrupt), watch(None):
            Ticker("encoding", 2).done()
            raise KeyboardInterrupt
        with watch(inner.append):
            Ticker("encoding", 2).done()
        Ticker(None, 2).done()
        assert outer == []
        Ticker("moving", 2).done()
    Ticker("encoding", 2).done()
    assert [len(lines) for lines in (outer, inner)] == [1, 1]
