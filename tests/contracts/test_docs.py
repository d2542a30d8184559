"""The examples of the pages in docs do what they say: the blocks of a page run in order, as doctests."""

import doctest
import re
from pathlib import Path

import pytest

from anchorview import datasets
from anchorview.app.model_file import VERSION

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {  # with examples; those of docs/lab are a record, and are not run
    path.name: text for path in sorted(DOCS.glob("*.md")) if "```python\n>>> " in (text := path.read_text())
}
BLOCKS = {name: re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) for name, text in PAGES.items()}
COMPLETE = ("inputs.md", "first_python.md", "missing_views.md", "pairs_weights_noise.md")  # an example in every section


def run(block, names):
    """Run a block as a doctest in these names, and return what went wrong in words."""
    wrong = []
    test = doctest.DocTestParser().get_doctest(block, names, "docs", None, 0)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=wrong.append, clear_globs=False)
    names.update(test.globs)
    return "".join(wrong)


@pytest.mark.parametrize("page", COMPLETE)
def test_every_section_has_an_example(page):
    sections = re.split(r"^## ", PAGES[page], flags=re.MULTILINE)[1:]
    without = [section.splitlines()[0] for section in sections if "```python" not in section]
    assert [title for title in without if title not in ("Next", "What to expect", "Which of the two estimators?")] == []


@pytest.mark.parametrize("page", [path.name for path in sorted((DOCS / "lab").glob("*.md")) if path.stem != "index"])
def test_pages_of_the_lab_say_that_their_examples_are_not_run(page):
    assert "\n> **A record.** Figures and examples" in (DOCS / "lab" / page).read_text()


def test_pages_name_the_version_of_model_files():
    assert f"The format version is {VERSION}." in (DOCS / "models.md").read_text()
    assert f"Format version {VERSION};" in (DOCS / "file_formats.md").read_text()


def test_a_wrong_example_is_found():
    assert "Expected" in run(">>> 1 + 1\n3\n", {})


# Each takes a second or more; by default the first steps of a newcomer are run, the others by CI and `check.py --all`.
BY_DEFAULT = ("first_python.md", "first_labels.md", "missing_views.md")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page in BY_DEFAULT else [pytest.mark.thorough]) for page in PAGES]
)
def test_examples(page):
    """From the first block of a page to its last, as a reader would type them."""
    for package in ("anndata", "mudata", "polars", "dask", "skops"):
        if f"from {package} import" in PAGES[page] or f"import {package}" in PAGES[page]:
            pytest.importorskip(package)
    names = {}
    assert "".join(run(block, names) for block in BLOCKS[page]) == ""


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
        if n_rows == 2000:  # the figure that README gives is that of today's code
            right = (names["model"].labels_ == digits.target)[names["y"] == -1].mean()
            assert f"# {right:.3f}" in block
    model, truth = names["model"], names["digits"].target
    assert (model.labels_ == truth)[names["y"] == -1].mean() > 0.8
    assert (names["y"] != -1).sum() == n_rows // 20 + 20  # with those that were suggested
