"""Draw docs/images/labelling*.png: the labelling page on pictures of the built-in digits, as chromium shows it.

python scripts/draw_labelling_page.py                   # the three pictures of docs/labelling_page.md; two minutes
python scripts/draw_labelling_page.py --all FOLDER      # every state of the page, light and dark, wide and narrow

Nothing is faked: 700 digits become a table with a column of pictures, `anchorview label` fits it without any label, and
the digits are then labelled in the page by keyboard.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from anchorview import datasets

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import Tab, browser_tab  # noqa: E402
from support.processes import started  # noqa: E402

PICTURES = ROOT / "docs" / "images"
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
GUIDELINES = "Name the digit that you see.\nIf it could be two, skip it; if it is no digit, press u."
PAGE = "document.getElementById('page')"


def make_table(folder: Path, n: int) -> tuple[Path, list[str]]:
    """Write pictures of digits and a table that names them; return it with the truth."""
    digits = datasets.load_handwritten()
    rows = np.random.RandomState(1).permutation(2000)[:n]
    pixels = dict(zip(digits.views.names, digits.views.arrays, strict=True))["pix"]
    (folder / "pictures").mkdir()
    lines = ["id,picture"]
    for number, row in enumerate(rows.tolist()):
        shades = 255 - (pixels[row].reshape(16, 15) * 255 / 6).clip(0, 255).astype(np.uint8)
        Image.fromarray(shades).resize((150, 160), Image.Resampling.BICUBIC).save(
            folder / f"pictures/d{number:04d}.png"
        )
        lines.append(f"d{number:04d},pictures/d{number:04d}.png")
    (folder / "digits.csv").write_text("\n".join(lines) + "\n")
    return folder / "digits.csv", [NAMES[int(digits.target[row])] for row in rows.tolist()]


def label(tab: Tab, truth: list[str], n: int) -> None:
    """Label so many rows by keyboard: a digit for a class that is there, its name for a new one."""
    for _ in range(n):
        row = int(tab.wait_for(f"{PAGE}.dataset.row"))
        classes = tab.evaluate("[...document.querySelectorAll('.classes bdi')].map((one) => one.textContent)")
        if truth[row] in classes[:10]:
            tab.press(str((classes.index(truth[row]) + 1) % 10))
        else:
            tab.press("/")
            tab.send("Input.insertText", text=truth[row])
            tab.press("Enter")
        tab.wait_for(f"{PAGE}.dataset.row !== '{row}'")
        time.sleep(0.4)  # a quick person


def rest(tab: Tab, seconds: float = 1.0) -> None:
    tab.wait_for("document.querySelector('.busy').hidden", 120)
    time.sleep(seconds)


def figure(tab: Tab, name: str) -> str:
    value: str = tab.evaluate(
        f"[...document.querySelectorAll('.figures div')].find((d) => d.firstChild.textContent === '{name}').innerText"
    )
    return value


def lasso(tab: Tab) -> None:
    """Draw around the lower left of the map."""
    box: Any = tab.evaluate("(() => { const b = document.querySelector('.overlay').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")  # fmt: skip  # noqa: E501
    left, top, width, height = box
    tab.press("l")
    angles = np.linspace(0, 2 * np.pi, 30)
    around = zip(0.3 + 0.16 * np.cos(angles), 0.3 + 0.2 * np.sin(angles), strict=True)
    tab.drag([(left + x * width, top + y * height) for x, y in around])
    tab.wait_for("document.querySelectorAll('.chosen ol li').length === 10")
    tab.evaluate("document.activeElement.blur()")  # closes the list of classes


def draw(tab: Tab, address: str, truth: list[str], shoot: Any) -> None:
    tab.resize(1280, 860)
    tab.open(address)
    tab.wait_for(f"{PAGE}.dataset.ready === 'true'")
    rest(tab)
    shoot("start")
    label(tab, truth, 20)
    tab.wait_for("document.querySelector('.figures').textContent.includes('%;') || document.querySelector('.row').textContent.includes('Why')", 90)  # fmt: skip  # noqa: E501
    label(tab, truth, 70)
    deadline = time.monotonic() + 90
    while "drawn at random" not in figure(tab, "Expected accuracy") and time.monotonic() < deadline:
        time.sleep(0.5)
    rest(tab, 6)
    shoot("labelling")
    for key, name in {"i": "similar", "d": "disputed", "n": "groups", "e": "save"}.items():
        tab.press(key)
        tab.wait_for("!document.querySelector('.panel').hidden")
        time.sleep(0.5)
        shoot(name)
        tab.press("Escape")
    tab.press("/")
    tab.send("Input.insertText", text="e")
    shoot("typing")
    tab.press("Escape")
    tab.press("Escape")
    tab.press("h")
    shoot("help")
    tab.press("Escape")
    tab.evaluate("document.querySelector('[data-by=confidence]').click()")
    time.sleep(0.5)
    shoot("confidence")
    tab.evaluate("document.querySelector('[data-by=label]').click()")
    lasso(tab)
    time.sleep(0.5)
    shoot("labelling-lasso")
    tab.press("Escape")
    tab.press("l")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, help="folder for every state of the page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, truth = make_table(folder, 700)
        (folder / "guidelines.txt").write_text(GUIDELINES)
        command = [
            sys.executable,
            "-m",
            "anchorview",
            "label",
            str(table),
            "--id",
            "id",
            "--no-browser",
            "--who",
            "ann",
        ]
        command += ["--guidelines", str(folder / "guidelines.txt")]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with started(command, seconds=600, **pipes) as process, browser_tab(folder / "profile") as tab:
            text = ""
            while (address := re.search(r"http://\S+#token=\S+", text)) is None:
                line = process.stdout.readline()
                assert line, text
                text += line

            def shoot(state: str) -> None:
                if given.all is None:
                    if state in ("labelling", "labelling-lasso"):
                        tab.screenshot(PICTURES / f"{state}.png")
                    return
                for width, height in ((1280, 860), (390, 844)):
                    for dark in (False, True):
                        tab.resize(width, height, dark=dark)
                        time.sleep(0.4)
                        tab.screenshot(given.all / f"{state}-{width}-{'dark' if dark else 'light'}.png")
                tab.resize(1280, 860)
                time.sleep(0.3)

            draw(tab, address[0], truth, shoot)
            tab.resize(390, 844, dark=True)
            tab.open("about:blank")
            tab.open(address[0])
            tab.wait_for(f"{PAGE}.dataset.ready === 'true'")
            rest(tab)
            tab.screenshot((given.all or PICTURES) / "labelling-phone.png")
            assert tab.complaints == [], tab.complaints
    for path in PICTURES.glob("labelling*.png"):
        print(path.name, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
