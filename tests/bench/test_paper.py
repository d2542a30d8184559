"""The paper's table."""

from __future__ import annotations

from anchorview.bench.paper import METHODS, PAPER, paper_scores


def test_the_papers_table_is_whole_and_plausible() -> None:
    assert len(PAPER) == 7 and all(tuple(row) == METHODS for row in PAPER.values())
    cells = [row[method] for row in PAPER.values() for method in METHODS]
    assert all(list(cell) == ["acc", "nmi", "ari", "seconds"] for cell in cells)
    out_of_memory = [cell for cell in cells if None in cell.values()]
    assert len(out_of_memory) == 7 and all(set(cell.values()) == {None} for cell in out_of_memory)
    for row in PAPER.values():  # spreads: where labels are drawn, and never of times
        for method, cell in row.items():
            known = {name: score for name, score in cell.items() if score is not None}
            assert all(
                (score[1] is None) == (name == "seconds" or method in METHODS[:2]) for name, score in known.items()
            )
    assert paper_scores("caltech101_20_re", "FSSMSC")["acc"] == (82.4, 1.8)  # type: ignore[index]
