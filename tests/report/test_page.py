"""The page of results."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from anchorview.report.document import Cell, Figure, Section, Table
from anchorview.report.page import make_page

NASTY = "<script>alert('x')</script>\"'&amp;</td><img src=x onerror=y>"


class Reader(HTMLParser):
    """Collects tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_names_are_escaped_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "f.png").write_bytes(b"\x89PNG")
    table = Table("t", NASTY, ["Dataset", NASTY], note=NASTY)
    table.add(NASTY, Cell(f"1.0 {NASTY}", "best"))
    table.add(NASTY, Cell(f"0.5 {NASTY}", "second"))
    table.add_heading(NASTY)
    section = Section(NASTY, NASTY, [NASTY], [table], [Figure("f", NASTY), Figure("gone", NASTY)])
    reader = Reader()
    reader.feed(make_page([section], tmp_path, {NASTY: NASTY, "versions": {NASTY: NASTY}, "blas": [NASTY]}))
    assert "script" not in reader.tags
    assert reader.tags.count("img") == 1
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    assert reader.text.count(NASTY) == 18
    assert ("aria-label", NASTY) in reader.attributes  # whole, not cut at a quotation mark


def test_our_methods_are_marked_and_tables_scroll(tmp_path: Path) -> None:
    table = Table(
        "t", "T", ["Dataset", "MVAR", "FSSMSC", "AnchorViewClassifier"], ours=["FSSMSC", "AnchorViewClassifier"]
    )
    table.add("hw", "1.0", "2.0", "3.0")
    page = make_page([Section("s", "S", tables=[table])], tmp_path, {})
    assert page.count('<th class="ours">') == page.count('<td class="ours">') == 2
    assert '<th class="ours">AnchorViewClassifier<span class="tag">ours</span></th>' in page
    assert '<div class="scroll" tabindex="0"' in page
