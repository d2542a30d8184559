"""How the house stands: budgets (files and switches of a call, doubled names, lines), layers, repeated blocks.

    python scripts/house.py                      # of this checkout
    python scripts/house.py ../old/src           # of another one, for comparison
    python scripts/house.py --write              # and record it: scripts/house.json and docs/architecture.md
    python scripts/house.py --list               # which files the calls pass, in order, with the functions of each

*Files* are the package's files whose functions run during one call; *switches* count how often the next function to run
for the first time is in another file than the one before: how often a reader of the call turns to another file.
The second call is followed, on the built-in digits with one thread, so that imports do not count.

tests/contracts/test_house.py fails when a measure is worse than recorded. Who makes one worse for a good reason runs
`--write` and gives the reason in the commit; who makes one better runs it too, so that it stays better.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
PACKAGE = HERE / "src" / "anchorview"
PAGE = HERE / "docs" / "architecture.md"
RECORD = HERE / "scripts" / "house.json"  # what was measured last: the most that the test allows
GOALS = {
    "`FSSMSC.fit`: files": 40,
    "`FSSMSC.fit`: switches": 130,
    "`FSSMSC.fit`: switches before scaling starts": 20,
    "`FSSMSC.predict`: files": 16,
    "`FSSMSC.predict`: switches": 40,
    "`AnchorViewClassifier.fit`: files": 45,
    "`AnchorViewClassifier.fit`: switches": 150,
    "doubled names": 0,
    "lines of the longest estimator file": 400,
    "lines of source": 36_500,
}
ESTIMATORS = ("base.py", "classifier.py", "fssmsc.py")
# Python 3.12 runs these within their function, 3.11 as functions of their own.
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>")


def follow(call: Callable[[], Any], package: Path) -> list[tuple[str, str, int]]:
    """Return the package's functions in the order in which a call runs them first: file, name, line."""
    seen: dict[tuple[str, str, int], None] = {}
    root = f"{package}/"

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name not in COMPREHENSIONS:
            seen.setdefault((code.co_filename.removeprefix(root), code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def count_switches(functions: list[tuple[str, str, int]]) -> int:
    return sum(before[0] != after[0] for before, after in pairwise(functions))


def calls() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return the calls to follow, each with one that runs before it."""
    from anchorview import FSSMSC, AnchorViewClassifier, datasets

    digits = datasets.load_handwritten()
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    model, tuner = FSSMSC(n_jobs=1, random_state=0), AnchorViewClassifier(n_jobs=1, random_state=0)
    some = slice(0, 2000, 4)

    def fit() -> Any:
        return model.fit(digits.views, y)

    def predict() -> Any:
        return model.predict(digits.views[:100])

    def tune() -> Any:
        return tuner.fit(digits.views[some], y[some])

    return {"FSSMSC.fit": (fit, fit), "FSSMSC.predict": (predict, predict), "AnchorViewClassifier.fit": (tune, tune)}


def list_switches(package: Path) -> None:
    """Print the files that each call passes, in the order of the switches, with the functions that run first there."""
    for name, (before, call) in calls().items():
        before()
        print(f"\n{name}")
        for number, (file, functions) in enumerate(groupby(follow(call, package), key=itemgetter(0))):
            print(f"{number:4} {file}: {', '.join(function[1] for function in functions)}")


def doubled_names(package: Path) -> list[str]:
    """Return public classes and functions that two modules define."""
    names: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                names[node.name] += 1
    return sorted(name for name, count in names.items() if count > 1)


def code_lines(path: Path) -> list[str]:
    """Return the lines of a file that are neither blank, nor comment, import or docstring."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            lines[body[0].lineno - 1 : body[0].end_lineno] = [""] * (body[0].end_lineno - body[0].lineno + 1)
    stripped = [line.strip() for line in lines]
    return [line for line in stripped if len(line) > 1 and not line.startswith(("#", "import ", "from "))]


def repeated_blocks(package: Path, n_lines: int = 6) -> int:
    """Count the runs of lines of code that stand in two places."""
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = {}
    for path in sorted(package.rglob("*.py")):
        lines = code_lines(path)
        for start in range(len(lines) - n_lines + 1):
            places.setdefault(tuple(lines[start : start + n_lines]), []).append((path, start))
    starts = {tuple(where) for where in places.values() if len(where) > 1}
    return sum(tuple((path, start - 1) for path, start in where) not in starts for where in starts)


def broken_contracts(package: Path) -> str:
    """Return what import-linter says of this checkout's contracts."""
    if package.parent != HERE / "src":
        return "no contract there"
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}  # not the checkout that is installed
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True)
    return next((line for line in done.stdout.splitlines() if line.startswith("Contracts:")), done.stderr.strip())


def measure_text(package: Path) -> dict[str, int]:
    """Return the measures that are taken from the text of the files."""
    lines = {path: len(path.read_text().splitlines()) for path in package.rglob("*.py")}
    return {
        "doubled names": len(doubled_names(package)),
        "lines of the longest estimator file": max(lines.get(package / name, 0) for name in ESTIMATORS),
        "lines of source": sum(lines.values()),
    }


def measure_calls(package: Path) -> dict[str, int]:
    """Return the measures for which estimators are fitted; some ten seconds."""
    measured = {}
    for name, (before, call) in calls().items():
        before()
        functions = follow(call, package)
        measured[f"`{name}`: files"] = len({function[0] for function in functions})
        measured[f"`{name}`: switches"] = count_switches(functions)
        if name == "FSSMSC.fit":
            start = next(i for i, function in enumerate(functions) if function[1] == "fit_scaling")
            measured[f"`{name}`: switches before scaling starts"] = count_switches(functions[:start])
    return measured


def recorded() -> dict[str, int]:
    """Return what was measured when `--write` ran last."""
    record: dict[str, int] = json.loads(RECORD.read_text())
    return record


def worse(measured: dict[str, int]) -> list[str]:
    """Return a line for each measure that is worse than recorded."""
    limits = recorded()
    return [f"{name}: {value:,}, was {limits[name]:,}" for name, value in measured.items() if value > limits[name]]


def budget_table(record: dict[str, int]) -> str:
    """Return goals and record as a Markdown table."""
    rows = [f"| {name} | {goal:,} | {record[name]:,} |" for name, goal in GOALS.items()]
    return "\n".join(["| | goal, at most | now |", "|:--|--:|--:|", *rows])


def layer_list() -> str:
    """Return the layers of the import contract in pyproject.toml, the highest first."""
    contracts = tomllib.loads((HERE / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return "\n".join(["```", *layers, "```"])


def page_text(record: dict[str, int]) -> str:
    """Return docs/architecture.md with the blocks between its markers made anew."""
    page = PAGE.read_text()
    for name, block in {"layers": layer_list(), "budgets": budget_table(record)}.items():
        start, end = f"<!-- {name}: written by scripts/house.py -->\n", f"\n<!-- end of {name} -->"
        page, n_found = re.subn(f"(?s){re.escape(start)}.*?{re.escape(end)}", lambda _: start + block + end, page)  # noqa: B023
        if n_found != 1:
            raise SystemExit(f"{PAGE} needs the lines {start.strip()!r} and {end.strip()!r} once, and has {n_found}.")
    return page


def main() -> None:
    writes, lists = "--write" in sys.argv[1:], "--list" in sys.argv[1:]
    others = [argument for argument in sys.argv[1:] if argument not in ("--write", "--list")]
    if (others or lists) and (writes or len(others) > 1 or "".join(others[:1]).startswith("-")):
        raise SystemExit(f"Not understood: {' '.join(sys.argv[1:])}; see the first lines of {__file__}.")
    source = Path(others[0] if others else HERE / "src").resolve()
    sys.path.insert(0, str(source))
    package = source / "anchorview"
    if lists:
        return list_switches(package)
    print(f"modules at the root: {len([path for path in package.glob('*.py') if path.name != '__init__.py'])}")
    print(f"files: {len(list(package.rglob('*.py')))}")
    measured = measure_calls(package) | measure_text(package)
    for name, goal in GOALS.items():
        print(f"{name.replace('`', '')}: {measured[name]:,} (goal: at most {goal:,})")
    print(f"names defined twice: {', '.join(doubled_names(package)) or 'none'}")
    print(f"import contracts: {broken_contracts(package)}")
    print(f"repeated blocks of six lines or more: {repeated_blocks(package)}")
    if writes:
        RECORD.write_text(json.dumps({name: measured[name] for name in GOALS}, indent=2, ensure_ascii=False) + "\n")
        PAGE.write_text(page_text(measured))


if __name__ == "__main__":
    main()
