"""The examples of the pages in docs do what they say: each block runs as a doctest after the page's first one."""

import doctest
import functools
import re
from pathlib import Path

import pytest

from anchorview import datasets

DOCS = Path(__file__).parents[2] / "docs"
NAMES = ("inputs.md", "raw_data.md", "models.md", "label_studio.md", "report.md")
NAMES += ("lab/realdata.md", "lab/confidence.md", "lab/accuracy.md", "lab/baselines.md", "lab/scale.md")
PAGES = {name: (DOCS / name).read_text() for name in NAMES}
BLOCKS = {name: re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) for name, text in PAGES.items()}
WITHOUT_EXAMPLE = {
    "inputs.md": [],
    "raw_data.md": ["Another text encoder", "A folder of photos", "No labels at all", "How accurate"],
    "lab/realdata.md": ["What was tried for text"],
    "lab/confidence.md": ["What was tried"],
    "lab/accuracy.md": ["How it works", "Measured", "What each part is worth", "What was tried and not kept"],
    "report.md": ["What it takes"],
    "lab/baselines.md": ["Where they differ from the authors' programs", "Measured", "Known limits"],
    "models.md": [],
    "label_studio.md": ["From a run to Label Studio", "Back again", "Other forms"],
    "lab/scale.md": ["The search on many rows", "Measured", "Cost model"],
}


def run(block, names):
    """Run a block as a doctest in these names, and return what went wrong in words."""
    wrong = []
    test = doctest.DocTestParser().get_doctest(block, names, "docs", None, 0)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=wrong.append, clear_globs=False)
    names.update(test.globs)
    return "".join(wrong)


@functools.cache
def prepared(page):
    """The names that the first block of a page leaves."""
    names = {}
    assert run(BLOCKS[page][0], names) == ""
    return names


@pytest.mark.parametrize("page", PAGES)
def test_every_section_has_an_example(page):
    sections = re.split(r"^## ", PAGES[page], flags=re.MULTILINE)[1:]
    without = [section.splitlines()[0] for section in sections if "```python" not in section]
    assert without == WITHOUT_EXAMPLE[page]


def test_a_wrong_example_is_found():
    assert "Expected" in run(">>> 1 + 1\n3\n", {})


# By default the first example after a page's preparation; the long ones take four seconds each, and test_relabel.py and
# test_view_importance.py try the same on less.
LONG = (">>> noisy = y.copy()", ">>> from anchorview.view_importance import measure_views")
EXAMPLES = [
    pytest.param(
        page,
        block,
        id=f"{page}: {block.splitlines()[0][4:44]}",
        marks=[pytest.mark.slow] if block.startswith(LONG) else [pytest.mark.thorough] if number else [],
    )
    for page, blocks in BLOCKS.items()
    for number, block in enumerate(blocks[1:])
]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(("page", "block"), EXAMPLES)
def test_example(page, block):
    for package in ("anndata", "mudata", "polars"):
        if f"from {package} import" in block or f"import {package} " in block:
            pytest.importorskip(package)
    assert run(block, dict(prepared(page))) == ""


@pytest.mark.parametrize("n_rows", [pytest.param(2000, marks=pytest.mark.slow), 1000])
def test_the_examples_of_the_readme_run(n_rows, monkeypatch):
    """On all digits, or on every other one."""
    digits, rows = datasets.load_handwritten(), slice(None, None, 2000 // n_rows)
    digits.data = [array[rows] for array in digits.data]
    digits.views, digits.target = digits.views[rows], digits.target[rows]
    monkeypatch.setattr(datasets, "load_handwritten", lambda: digits)
    names, readme = {}, (DOCS.parent / "README.md").read_text().replace("2000", str(n_rows))
    blocks = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    model, truth = names["model"], names["digits"].target
    assert (model.labels_ == truth)[names["y"] == -1].mean() > 0.8
    assert model.constraint_violations_.must[1] == model.constraint_violations_.cannot[1] == 1
