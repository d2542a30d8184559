"""The frame of every page: one HTML file with styles, scripts and data in it, that asks no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

Parts = Mapping[str, tuple[str, str]]  # title and HTML of each section, by the name that links have


def html_page(
    title: str,
    kind: str,
    about: str,
    parts: Parts,
    *,
    styles: Sequence[str] = ("page.css",),
    scripts: Sequence[str] = (),
    data: str = "",
    heading: str | None = None,
) -> str:
    """Return a page with a heading, links to its sections, and the sections.

    Parameters
    ----------
    title, kind, about : str
        What the page is called, what it is, and what there is to say of it, as text.
    parts : mapping
        The sections, in the order to show them; those without a body are left out.
    styles : sequence of str
        Files of styles, in the folder of assets.
    scripts : sequence of str
        Scripts to run; the browser runs no others.
    data : str
        HTML that scripts read from.
    heading : str, optional
        The title as HTML, if it is more than text.

    Examples
    --------
    >>> page = html_page("Digits", "report", "two classes", {"result": ("Result", "<p>97 %</p>"), "map": ("Map", "")})
    >>> ">Result</h2><p>97 %</p></section>" in page, "head-map" in page
    (True, False)
    """
    shown = {escape(name): (escape(words), body) for name, (words, body) in parts.items() if body}
    links = "".join(f'<li><a href="#part-{name}">{words}</a></li>' for name, (words, _) in shown.items())
    sections = "\n".join(
        f'<section id="part-{name}" aria-labelledby="head-{name}"><h2 id="head-{name}">{words}</h2>{body}</section>'
        for name, (words, body) in shown.items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · anchorview</title>
<link rel="icon" href="data:,">
<style>{"".join(map(page_asset, styles))}</style>
</head>
<body>
<header>
<p class="eyebrow">anchorview {escape(kind)}</p>
<h1>{escape(title) if heading is None else heading}</h1>
<p class="soft">{escape(about)}</p>
</header>
<nav aria-label="Parts of this {escape(kind)}"><ul>{links}</ul></nav>
<main>
{sections}
</main>
<footer><p>One file, no network: everything on this page is in it.</p></footer>
{data}
{"".join(f"<script>{script}</script>" for script in scripts)}
</body>
</html>
"""


def page_asset(name: str) -> str:
    """Return a file of the folder of assets."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Return what the browser may do: run the scripts of this page and no others, and load nothing.

    What draws the map compiles functions ('unsafe-eval'); text of the user's would not run even if it were not escaped.
    """
    hashes = [base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() for script in scripts]
    allowed = " ".join([*(f"'sha256-{digest}'" for digest in hashes), "'unsafe-eval'"]) if scripts else "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
