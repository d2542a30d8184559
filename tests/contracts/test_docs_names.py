"""What README, docs and the scripts' own words name exists: files, links, commands and their options, names of the API.

Each check returns what it cannot find; below each, a test that it notices something that is not there.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import anchorview

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "anchorview"
FOLDERS = (ROOT, PACKAGE, ROOT / "docs", ROOT / "docs" / "lab", ROOT / "benchmarks" / "results")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
}
SCRIPTS = {
    path.relative_to(ROOT).as_posix(): ast.get_docstring(ast.parse(path.read_text())) or ""
    for folder in ("benchmarks", "scripts")
    for path in sorted((ROOT / folder).glob("*.py"))
}
TEXTS = PAGES | SCRIPTS
RECORDS = ROOT / "benchmarks" / "results"
OF_A_RUN = (
    "run.toml",
    "run.json",
    "manifest.json",
    "RUN.labels.jsonl",
    ".labels.jsonl",
)  # what fit, save and label write
SHARED_OPTIONS = (PACKAGE / "bench" / "scripts.py").read_text()


@functools.cache
def file_names() -> set[str]:
    """Names of all files of the project, without their folders."""
    parts = [ROOT / name for name in ("src", "docs", "benchmarks", "scripts", "tests")]
    return {path.name for part in parts for path in part.rglob("*.*")} | {path.name for path in ROOT.glob("*.*")}


def quoted(text: str) -> list[str]:
    """Return what stands in backticks, on one line or broken over two, outside of blocks of code."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [re.sub(r"\s+", " ", part) for part in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]


def missing_files(text: str) -> list[str]:
    """Return quoted files that are neither under one of the folders that pages count from nor, bare, anywhere."""
    named = [part for part in quoted(text) if re.fullmatch(r"[\w./-]*\w\.(py|md|toml|jsonl|json|png)", part)]
    return [
        name
        for name in named
        if Path(name).name not in OF_A_RUN
        and not (name.startswith("benchmarks/results/") and not RECORDS.exists())
        and not any((folder / name).exists() for folder in FOLDERS)
        and ("/" in name or name not in file_names())
    ]


def missing_links(text: str, folder: Path) -> list[str]:
    """Return links to files or sections that are not there."""
    result = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, section = link.partition("#")
        if path.startswith("http"):
            continue
        target = (folder / path).resolve() if path else None
        page = text if target is None else target.read_text() if target.suffix == ".md" and target.exists() else ""
        titles = re.findall(r"^#+ (.*)$", page, flags=re.MULTILINE)
        sections = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
        if target is not None and RECORDS in target.parents and not RECORDS.exists():
            continue  # the sdist leaves the records of benchmarks out
        if (target is not None and not target.exists()) or (section and section not in sections):
            result.append(link)
    return result


def missing_scripts(text: str) -> list[str]:
    """Return scripts and options of commands ``python folder/script.py --option`` that do not exist."""
    result = []
    for script, rest in re.findall(r"python (?:\\\n\s*)?((?:benchmarks|scripts|tests)/[\w/]+\.py)([^`#\n]*)", text):
        path = ROOT / script
        source = path.read_text() + SHARED_OPTIONS if path.exists() else ""
        unknown = [option for option in re.findall(r"(?<=\s)--[\w-]+", rest) if f'"{option}"' not in source]
        result += [script] * (not path.exists()) + ([f"{script} {option}" for option in unknown] if source else [])
    return result


def missing_subcommands(text: str, known: dict[str, set[str]]) -> list[str]:
    """Return subcommands of ``anchorview``, and options of theirs, that do not exist."""
    result = []
    whole = re.sub(r"\\\n", " ", text)
    listed = "demo|bench|data|fit|predict|tune|report|export|doctor"
    for words in re.findall(rf"(?:[`\n($]|bin/|-m ) ?anchorview ((?:{listed})\b[^`\n()]*)", whole):
        names = re.match(r"(?:bench|data)(?: (?!-)[a-z-]+\b(?![./]))?|[a-z-]+", words)
        command = names.group() if names else ""
        if command not in known:
            result.append(f"anchorview {command}")
            continue
        result += [
            f"anchorview {command} {o}" for o in re.findall(r"(?<=\s)--[\w-]+", words) if o not in known[command]
        ]
    return result


def missing_names(text: str) -> list[str]:
    """Return dotted names that begin with ``anchorview`` or one of its public names and lead nowhere."""
    result = []
    for part in quoted(text):
        for name in re.findall(r"(?:^|from |import )([A-Za-z_]+(?:\.[A-Za-z_]\w*)+)(?![\w/])", part):
            first, *rest = name.split(".")
            if (first == "anchorview" or first in anchorview.__all__) and not name.endswith((".py", ".html")):
                start: Any = anchorview if first == "anchorview" else getattr(anchorview, first)
                result += [] if leads_somewhere(start, rest) else [name]
    return result


def leads_somewhere(thing: Any, names: list[str]) -> bool:
    for name in names:
        if not hasattr(thing, name):
            try:
                importlib.import_module(f"{thing.__name__}.{name}")
            except (ImportError, AttributeError):
                return False
        thing = getattr(thing, name)
    return True


@functools.cache
def identifiers() -> tuple[set[str], set[str]]:
    """Return the names of all parameters and fields, and those of all attributes, in the package's source."""
    parameters, attributes = set(), set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.arg):
                parameters.add(node.arg)
            elif isinstance(node, ast.Attribute):
                attributes.add(node.attr)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                parameters.add(node.target.id)
                attributes.add(node.target.id)
            elif isinstance(node, ast.FunctionDef):
                attributes.add(node.name)
    return parameters, attributes


def missing_parameters(text: str) -> list[str]:
    """Return quoted ``parameter=`` and ``attribute_`` that nothing in the package has."""
    parameters, attributes = identifiers()
    result = []
    for part in quoted(text):
        result += [f"{name}=" for name in re.findall(r"(?<![\w-])([a-z]\w+)=(?!=)", part) if name not in parameters]
        result += [name for name in re.findall(r"^(?:model\.)?([a-z]\w*[a-z]_)$", part) if name not in attributes]
    return result


@pytest.fixture(scope="module")
def subcommands() -> dict[str, set[str]]:
    """Return the options of every subcommand."""
    typer = pytest.importorskip("typer")
    found: dict[str, set[str]] = {}

    def walk(command: Any, name: str) -> None:
        found[name] = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
        for part, below in getattr(command, "commands", {}).items():
            walk(below, f"{name} {part}".strip())

    walk(typer.main.get_command(importlib.import_module("anchorview.app.cli").app), "")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_files_and_links_of_pages_exist(name: str) -> None:
    assert missing_files(PAGES[name]) == []
    assert missing_links(PAGES[name], (ROOT / name).parent) == []


@pytest.mark.parametrize("name", PAGES)
def test_names_of_pages_exist(name: str) -> None:
    assert missing_names(PAGES[name]) == []
    assert missing_parameters(PAGES[name]) == []


@pytest.mark.parametrize("name", TEXTS)
def test_commands_exist_with_their_options(name: str, subcommands: dict[str, set[str]]) -> None:
    assert missing_scripts(TEXTS[name]) == []
    assert missing_subcommands(TEXTS[name], subcommands) == []


def test_no_mark_is_left_to_be_filled_in() -> None:
    marks = {
        name: re.findall(r"^[A-Z]+_[A-Z_]+$|TODO|FIXME|XXX", text, flags=re.MULTILINE) for name, text in TEXTS.items()
    }
    assert {name: found for name, found in marks.items() if found} == {}


def test_what_is_not_there_is_noticed(subcommands: dict[str, set[str]]) -> None:
    assert missing_files("see `anchorview/calibration.py`, `core/arrays.py` and `no_such.py`") == [
        "anchorview/calibration.py",
        "no_such.py",
    ]
    assert missing_links("[a](docs/method.md#what-is-computed) [b](docs/none.md) [c](docs/method.md#none)", ROOT) == [
        "docs/none.md",
        "docs/method.md#none",
    ]
    wrong = "`python benchmarks/speed.py --report --fast` and `python benchmarks/none.py`"
    assert missing_scripts(wrong) == ["benchmarks/speed.py --fast", "benchmarks/none.py"]
    wrong = "`anchorview bench all --data FOLDER --fast`, `anchorview bench none`, `anchorview data check FOLDER`"
    assert missing_subcommands(wrong, subcommands) == ["anchorview bench all --fast", "anchorview bench none"]
    wrong = "`anchorview.plotting.plot_search(model)`, `anchorview.none.x`, `Views.none`, `metrics.labelled_scorer`"
    assert missing_names(wrong) == ["anchorview.none.x", "Views.none"]
    assert missing_parameters('`scaling="l2"`, `scalling="l2"`, `labels_`, `labelz_`') == ["scalling=", "labelz_"]
