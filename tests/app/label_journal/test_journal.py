"""The journal of labels: nothing that was confirmed is lost, and nothing foreign is taken for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anchorview.app.errors import CommandError, DataError
from anchorview.app.label_journal.book import LabelBook
from anchorview.app.label_journal.journal import Event, Header, Journal, journal_path, open_journal, read_journal

HEADER = Header("run", "ids", 7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.labels.jsonl"


def write(path: Path, n: int) -> None:
    with Journal(path, HEADER) as journal:
        journal.extend([Event("label", (row,), "ann", f"c{row % 3}", "suggested") for row in range(n)])


def test_it_lies_beside_the_run() -> None:
    assert journal_path(Path("a/run.v2")) == Path("a/run.v2.labels.jsonl")


def test_events_come_back_as_they_were(path: Path) -> None:
    with Journal(path, HEADER) as journal:
        kept = journal.append(Event("label", (3, 4), "änn\n\u2028", 'c"1', "lasso", "c2", 5, 800, key="k"))
    with Journal(path, HEADER) as journal:
        assert journal.events == [kept] and journal.note is None
        assert journal.append(Event("undo", (), "ann", undoes=1)).number == 2
    assert read_journal(path)[1][0] == kept


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_torn_last_line_is_cut_and_said(path: Path, cut: int) -> None:
    write(path, 5)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with Journal(path, HEADER) as journal:
        assert len(journal.events) == 4
        assert journal.note is not None and "cut off" in journal.note
        journal.append(Event("skip", (9,), "ann"))
    assert [event.number for event in read_journal(path)[1]] == [1, 2, 3, 4, 5]


def test_damage_elsewhere_is_an_error_that_names_the_line(path: Path) -> None:
    write(path, 5)
    damaged = path.read_bytes().replace(b'"c1"', b'"c2"', 1)
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="line 3 is damaged"):
        Journal(path, HEADER)
    assert path.read_bytes() == damaged


def test_a_foreign_journal_is_refused_and_left_alone(path: Path) -> None:
    write(path, 2)
    before = path.read_bytes()
    with pytest.raises(DataError, match="of another run"):
        Journal(path, Header("other", "ids", 7))
    with pytest.raises(DataError, match="about other rows"):
        Journal(path, Header("other", "others", 7))
    assert path.read_bytes() == before
    path.write_text("id,label\n1,a\n")
    with pytest.raises(DataError):
        Journal(path, HEADER)


def test_the_second_writer_learns_who_holds_it(path: Path) -> None:
    with Journal(path, HEADER):
        with pytest.raises(CommandError, match=f"process {os.getpid()} on"):
            open_journal(path, HEADER)
        assert read_journal(path)[1] == []  # reading is always possible
    open_journal(path, HEADER).close()


def test_a_full_disk_leaves_the_journal_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal(path, HEADER) as journal:
        journal.append(Event("label", (1,), "ann", "a"))
        before = path.read_bytes()

        def full(number: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space is left"):
            journal.append(Event("label", (2,), "ann", "b"))
        monkeypatch.undo()
        assert path.read_bytes() == before
        assert journal.append(Event("label", (2,), "ann", "b")).number == 2
    assert len(read_journal(path)[1]) == 2


def test_a_long_journal_leads_to_the_same_labels_when_it_is_opened_again(path: Path) -> None:
    write(path, 10_000)
    with Journal(path, HEADER) as journal:
        journal.append(Event("label", (3,), "ann", "corrected", "review"))
        journal.append(Event("undo", (), "ann", undoes=5))  # the label of row 4
        book = LabelBook.replay(journal.events)
    with Journal(path, HEADER) as again:
        assert LabelBook.replay(again.events) == book
    expected = {row: f"c{row % 3}" for row in range(10_000) if row != 4}
    assert book.labels == {**expected, 3: "corrected"}
    assert book.classes == ["c0", "c1", "c2", "corrected"] and book.n_by["ann"] == 10_000
