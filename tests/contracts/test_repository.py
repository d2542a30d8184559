"""What contributors and package indexes read agrees: versions, the test command, extras and groups, the sdist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import anchorview

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_one_version_everywhere() -> None:
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert cited is not None
    newest = re.search(r"^## (\d[\w.]*)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest is not None
    version = PROJECT["project"]["version"]
    assert [anchorview.__version__, cited.group(1), newest.group(1)] == [version] * 3


def test_the_test_command_is_the_same_everywhere() -> None:
    command = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert command.startswith("python3 -m venv")
    for page in ("README.md", "CONTRIBUTING.md"):
        assert command in (ROOT / page).read_text().splitlines(), page


def test_the_sdist_carries_what_its_tests_read() -> None:
    sdist = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]
    assert {"src", "tests", "benchmarks", "docs", "scripts", ".ci"} <= set(sdist["include"])
    assert [name for name in sdist["include"] if not (ROOT / name).exists()] == []
    assert sdist["exclude"] == ["benchmarks/results"]


def test_groups_name_extras_that_exist() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    for group, listed in PROJECT["dependency-groups"].items():
        assert listed == [f"anchorview[{group}]"]
        assert group in extras


def test_tested_versions_of_python_are_those_announced() -> None:
    announced = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    tested = re.search(r"python: \[(.*)\]", workflow)
    assert tested is not None
    assert re.findall(r"3\.\d+", tested.group(1)) == announced
    assert PROJECT["project"]["requires-python"] == f">={announced[0]}"


def test_readme_is_short_and_works_on_pypi() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.split()) <= 700
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", readme)
    assert [link for pair in links for link in pair if link and not link.startswith("https://")] == []
    assert not re.search(
        r"\bformer\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b", readme
    )  # no hash of a commit
