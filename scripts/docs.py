"""Build the site of docs/ into build/site, without the network; every warning is an error.

    python scripts/docs.py            # all of it; unchanged examples of the gallery are not run again
    python scripts/docs.py --fresh    # from nothing, as CI does
    python scripts/docs.py --no-gallery   # pages and API only

Needs `pip install -e ".[docs]"`. Open build/site/index.html afterwards.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
MADE = ("auto_examples", "generated", "sg_execution_times.rst")  # by Sphinx, in docs; git ignores them
NEEDED = ("sphinx", "pydata_sphinx_theme", "numpydoc", "myst_parser", "sphinx_gallery", "sphinx_design", "mudata")


def remove_made() -> None:
    for path in (SITE, ROOT / "build" / "doctrees", *(ROOT / "docs" / name for name in MADE)):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def links_to_other_servers() -> list[str]:
    """Return scripts, styles, fonts and pictures that a page would load from another server."""
    loads = re.compile(r'<(?:script|img|link)\b[^>]*?\b(?:src|href)="(https?:[^"]+)"')
    found = [(page, address) for page in SITE.rglob("*.html") for address in loads.findall(page.read_text())]
    return [f"{page.relative_to(SITE)}: {address}" for page, address in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="remove what an earlier build made")
    parser.add_argument("--no-gallery", action="store_true", help="do not run the examples")
    given = parser.parse_args()
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        print(f"{', '.join(missing)} missing: pip install -e '.[docs]'", file=sys.stderr)
        return 2
    if given.fresh:
        remove_made()
    start = time.perf_counter()
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-d", "build/doctrees"]
    command += ["-D", "plot_gallery=0"] if given.no_gallery else []
    environment = {**os.environ, "MPLBACKEND": "agg"}
    code = subprocess.call([*command, "docs", str(SITE)], cwd=ROOT, env=environment)
    if code == 0 and (elsewhere := links_to_other_servers()):
        print("Loaded from another server:", *elsewhere, sep="\n", file=sys.stderr)
        code = 1
    print(
        f"site: {'ok' if code == 0 else f'FAILED ({code})'} in {time.perf_counter() - start:.0f} s, {SITE}/index.html"
    )
    return code


if __name__ == "__main__":
    sys.exit(main())
