"""Tables of results as text."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with its columns lined up; all columns but the first to the right.

    Examples
    --------
    >>> print(markdown_table(["data", "ACC"], [["hw", "97.1"]]))
    | data |  ACC |
    |:-----|-----:|
    | hw   | 97.1 |
    """
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    widths = [max(width, 3) for width in widths]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = (
        "|" + "|".join((":" + "-" * (w + 1)) if i == 0 else ("-" * (w + 1) + ":") for i, w in enumerate(widths)) + "|"
    )
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def mean_and_spread(value: tuple[float, float], digits: int = 1) -> str:
    """Return ``mean ± spread``."""
    return f"{value[0]:.{digits}f} ± {value[1]:.{digits}f}"
