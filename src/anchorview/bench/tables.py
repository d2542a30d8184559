"""Tables that a script writes into a page, between two markers, with what they were measured by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.files import replace_file
from .records import Records


def replace_table(page: str, name: str, table: str) -> str:
    r"""Return a page with the table of this name made anew; everything else stays.

    Examples
    --------
    >>> print(replace_table("Before.\n<!-- table: speed -->\nold\n<!-- end -->\nAfter.", "speed", "new"))
    Before.
    <!-- table: speed -->
    new
    <!-- end -->
    After.
    >>> replace_table("No table.", "speed", "new")
    Traceback (most recent call last):
        ...
    ValueError: The page has no lines '<!-- table: speed -->' and '<!-- end -->'.
    """
    start, end = f"<!-- table: {name} -->", "<!-- end -->"
    pattern = re.compile(rf"({re.escape(start)}\n).*?(\n{re.escape(end)})", flags=re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"The page has no lines {start!r} and {end!r}.")
    return pattern.sub(lambda found: found.group(1) + table + found.group(2), page)


def table_source(records: Records, keys: list[dict[str, Any]]) -> str:
    """Return dates and commits of the records of these keys, on one line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = Records(folder + "/runs.jsonl")
    ...     records.add({"seed": 0}, {"acc": 97.0})
    ...     line = table_source(records, [{"seed": 0}])
    >>> "commit" in line
    True
    """
    made = [one for key in keys if (one := records.made(key)) is not None]
    dates, commits = (sorted({one[name] for one in made}) for name in ("date", "commit"))
    if not made:
        return "not measured"
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{span}, commit{'s' * (len(commits) > 1)} {', '.join(commits)}"


def write_pages(pages: Mapping[Path, str]) -> None:
    """Write pages whose tables were made anew, and name those that have changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "speed.md")
    ...     write_pages({page: "new"})
    ...     page.read_text()
    speed.md has a new table.
    'new'
    """
    for path, text in pages.items():
        if not path.exists() or path.read_text() != text:
            replace_file(path, text)
            print(f"{path.name} has a new table.")
