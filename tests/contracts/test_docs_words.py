"""Pages of the guide stay short and plain: a budget of words each, and no words that only this project uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDE = {path.name: path.read_text() for path in sorted(DOCS.glob("*.md"))} | {
    "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(),  # these two pages include the files
    "changes.md": (ROOT / "CHANGELOG.md").read_text(),
}
MOST = 15_500  # words of the guide
BUDGETS = {
    "index.md": 200, "install.md": 200, "first_table.md": 600, "first_python.md": 500, "first_labels.md": 500,
    "inputs.md": 1000, "files.md": 300, "text_and_tables.md": 600, "raw_data.md": 600, "missing_views.md": 400,
    "pairs_weights_noise.md": 700, "choose_a_model.md": 500, "own_search.md": 250, "time_and_memory.md": 700,
    "large_data.md": 900, "cluster.md": 700, "models.md": 700, "report.md": 500, "migrate.md": 500,
    "labelling_loop.md": 750, "labelling_page.md": 750, "label_studio.md": 400, "command.md": 700,
    "glossary.md": 300, "file_formats.md": 300, "how_it_works.md": 900, "method.md": 1600, "trust.md": 700,
    "results.md": 900, "compare.md": 700, "contributing.md": 500, "architecture.md": 1500, "benchmarks.md": 300,
    "api.md": 200, "changes.md": 400, "howto.md": 150, "background.md": 100, "develop.md": 100, "reference.md": 100,
}  # fmt: skip
HOUSE_WORDS = r"made rows|in sight|readings?|settle[sd]?|beliefs?|obey\w*|heeds?|hears?|speaks? (?:for|against)"


def prose(text: str) -> str:
    """Return a page without code, tables, formulas, comments and addresses."""
    text = re.sub(r"^(```|:::).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "    ")))
    return re.sub(r"\]\([^)]*\)|`[^`]*`", lambda found: "]" if found[0].startswith("]") else " code ", text)


def count_words(text: str) -> int:
    return len(re.findall(r"[^\W\d_][\w'’-]*", prose(text)))


def test_every_page_has_a_budget() -> None:
    assert set(GUIDE) == set(BUDGETS)


@pytest.mark.parametrize("name", BUDGETS)
def test_a_page_keeps_to_its_budget(name: str) -> None:
    assert count_words(GUIDE[name]) <= BUDGETS[name]


def test_the_guide_is_short() -> None:
    assert sum(map(count_words, GUIDE.values())) <= MOST


@pytest.mark.parametrize("name", BUDGETS)
def test_a_page_uses_the_words_of_the_field(name: str) -> None:
    assert re.findall(rf"\b(?:{HOUSE_WORDS})\b", prose(GUIDE[name]), flags=re.IGNORECASE) == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_code_and_tables_are_not_counted() -> None:
    page = "Two words.\n\n```python\nnot these\n```\n| nor | these |\n<!-- or these -->\n[and](not-this.md)\n"
    assert count_words(page) == 3
