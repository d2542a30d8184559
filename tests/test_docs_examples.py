"""The examples of docs/realdata.md do what they say: each block runs as a doctest after the first one."""

import doctest
import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "docs" / "realdata.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def run(block, names):
    """Run a block as a doctest in these names, and return what went wrong in words."""
    wrong = []
    test = doctest.DocTestParser().get_doctest(block, names, "docs/realdata.md", None, 0)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=wrong.append, clear_globs=False)
    names.update(test.globs)
    return "".join(wrong)


@pytest.fixture(scope="module")
def prepared():
    names = {}
    assert run(BLOCKS[0], names) == ""
    return names


def test_every_section_has_an_example():
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    without = [section.splitlines()[0] for section in sections if "```python" not in section]
    assert without == ["What was tried for text"]


def test_a_wrong_example_is_found():
    assert "Expected" in run(">>> 1 + 1\n3\n", {})


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("block", BLOCKS[1:], ids=lambda block: block.splitlines()[0][4:44])
def test_example(block, prepared):
    if "mudata" in block:
        pytest.importorskip("mudata")
    assert run(block, dict(prepared)) == ""
