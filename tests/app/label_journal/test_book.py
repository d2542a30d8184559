"""What events amount to."""

from __future__ import annotations

import dataclasses

import pytest

from anchorview.app.label_journal.book import LabelBook, cohen_kappa
from anchorview.app.label_journal.journal import Event


def book_of(*events: Event) -> LabelBook:
    return LabelBook.replay([dataclasses.replace(event, number=n) for n, event in enumerate(events, 1)], ["a", "b"])


def test_the_last_label_counts_and_undo_brings_back_the_one_before() -> None:
    first, second = Event("label", (1,), "ann", "a", "suggested", "b"), Event("label", (1,), "ann", "c", "search")
    book = book_of(first, second)
    assert book.labels == {1: "c"} and book.classes == ["a", "b", "c"]
    assert book.why[1] == "suggested"
    book = book_of(first, second, Event("undo", (), "ann", undoes=2))
    assert book.labels == {1: "a"} and book.classes == ["a", "b"]
    assert list(book.last_of["ann"]) == [1]


def test_skipped_rows_are_answered_until_they_get_a_label() -> None:
    book = book_of(Event("skip", (1,), "ann"), Event("none", (2,), "ann"), Event("flag", (3,), "ann"))
    assert book.answered(1) and book.answered(2) and not book.answered(3)
    book = book_of(Event("skip", (1,), "ann"), Event("label", (1,), "bob", "a"))
    assert book.labels == {1: "a"} and not book.skipped


def test_a_second_label_is_blind_and_compared() -> None:
    events = [Event("label", (row,), "ann", "a" if row < 2 else "b", "suggested") for row in range(4)]
    events += [Event("label", (row,), "bob", label, "second") for row, label in enumerate("aaba")]
    book = book_of(*events)
    found = book.agreement()
    assert (found.n_rows, found.share, found.kappa, found.disputed) == (4, 0.75, 0.5, [3])
    assert book.labels[3] == "b"  # until somebody decides
    decided = book_of(*events, Event("label", (3,), "ann", "a", "review"))
    assert decided.labels[3] == "a" and decided.agreement().disputed == []


def test_kappa_of_one_class_cannot_be_told() -> None:
    assert cohen_kappa([("a", "a")] * 3) is None
    assert cohen_kappa([("a", "b"), ("b", "a")]) == pytest.approx(-1.0)
