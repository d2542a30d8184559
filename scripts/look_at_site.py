"""Look at every page of build/site in chromium: wide and narrow, light and dark; name what does not fit.

python scripts/docs.py && python scripts/look_at_site.py               # checks only, a minute or two
python scripts/look_at_site.py --sheets FOLDER                         # and contact sheets of all pages
python scripts/look_at_site.py --sheets FOLDER --pages index compare   # of some pages

A page fails if it is wider than the window, if a picture is missing, if it asks another server, or if it writes an
error to the console. Ends with code 1 if a page fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import Tab, browser_tab  # noqa: E402

SITE = ROOT / "build" / "site"
NOT_PAGES = ("genindex.html", "search.html")
WINDOWS = {(width, theme): theme == "dark" for width in (1280, 390) for theme in ("light", "dark")}
TILE, TALLEST, PER_SHEET = 300, 900, 5  # pixels of a page on a sheet; pages on a sheet
PER_BROWSER = 30  # pages; a browser is given two minutes
WIDER = "document.documentElement.scrollWidth - window.innerWidth"
BROKEN = "[...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src)"


def look(tab: Tab, page: Path, width: int, dark: bool, picture: Path | None) -> list[str]:
    """Return what is wrong with a page in a window."""
    tab.resize(width, 900, dark=dark)
    tab.open(page)
    wrong = [f"{over} pixels too wide"] if (over := tab.evaluate(WIDER)) > 0 else []
    wrong += [f"missing picture {source}" for source in tab.evaluate(BROKEN)]
    wrong += [f"asks for {address}" for address in tab.requests if not address.startswith("file:")]
    wrong += [text for text in tab.complaints if "invalid theme mode" not in text]  # by the theme, on a first visit
    if picture is not None:
        tab.screenshot(picture, whole=True)
    return wrong


def write_sheets(pictures: list[Path], folder: Path, name: str) -> None:
    """Join pictures of pages, a dozen to a sheet."""
    from PIL import Image, ImageDraw

    for number in range(0, len(pictures), PER_SHEET):
        tiles = []
        for path in pictures[number : number + PER_SHEET]:
            with Image.open(path) as whole:
                tile = whole.convert("RGB").resize((TILE, round(whole.height * TILE / whole.width)))
            tiles.append((path.stem, tile.crop((0, 0, TILE, min(tile.height, TALLEST)))))
        sheet = Image.new("RGB", ((TILE + 8) * len(tiles), max(tile.height for _, tile in tiles) + 16), "gray")
        for place, (title, tile) in enumerate(tiles):
            sheet.paste(tile, (place * (TILE + 8), 16))
            ImageDraw.Draw(sheet).text((place * (TILE + 8) + 4, 2), title, fill="white")
        sheet.save(folder / f"{name}-{number // PER_SHEET}.png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheets", type=Path, help="folder for contact sheets")
    parser.add_argument("--pages", nargs="+", default=[], help="only pages with these names")
    given = parser.parse_args()
    pages = [page for page in sorted(SITE.rglob("*.html")) if page.name not in NOT_PAGES]
    pages = [page for page in pages if "_static" not in page.parts and (not given.pages or page.stem in given.pages)]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        for (width, theme), dark in WINDOWS.items():
            taken: list[Path] = []
            for first in range(0, len(pages), PER_BROWSER):
                with browser_tab(Path(name) / f"profile-{width}-{theme}-{first}") as tab:
                    for page in pages[first : first + PER_BROWSER]:
                        shown = given.sheets is not None and page.parent.name != "generated"
                        picture = Path(name) / f"{page.parent.name}.{page.stem}.png" if shown else None
                        if wrong := look(tab, page, width, dark, picture):
                            failed += 1
                            print(
                                f"{page.relative_to(SITE)} at {width} pixels, {theme}: {'; '.join(wrong)}", flush=True
                            )
                        taken += [picture] if picture is not None else []
            if given.sheets is not None:
                given.sheets.mkdir(parents=True, exist_ok=True)
                write_sheets(taken, given.sheets, f"{width}-{theme}")
    print(f"{len(pages)} pages, {len(WINDOWS)} windows each: {failed or 'no'} failure{'s' * (failed != 1)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
