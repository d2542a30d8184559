"""How the house stands: root modules, files and switches of a fit, the layers, doubled names, repeated blocks.

    python scripts/house.py                      # of this checkout
    python scripts/house.py ../old/src           # of another one, for comparison

*Files* are the package's files whose functions run during one call; *switches* count how often the next function to run
for the first time is in another file than the one before: how often a reader of the call turns to another file.
The second call is followed, on the built-in digits with one thread, so that imports do not count.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent


def follow(call: Callable[[], Any], package: Path) -> list[tuple[str, str, int]]:
    """Return the package's functions in the order in which a call runs them first: file, name, line."""
    seen: dict[tuple[str, str, int], None] = {}
    root = f"{package}/"

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root):
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
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    return next((line for line in done.stdout.splitlines() if line.startswith("Contracts:")), done.stderr.strip())


def main() -> None:
    source = Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "src").resolve()
    sys.path.insert(0, str(source))
    package = source / "anchorview"
    print(f"modules at the root: {len([path for path in package.glob('*.py') if path.name != '__init__.py'])}")
    print(f"files: {len(list(package.rglob('*.py')))}")
    for name, (before, call) in calls().items():
        before()
        functions = follow(call, package)
        print(f"{name}: {len({function[0] for function in functions})} files, {count_switches(functions)} switches")
        if name == "FSSMSC.fit":
            start = next(i for i, function in enumerate(functions) if function[1] == "fit_scaling")
            print(f"  of them before scaling starts: {count_switches(functions[:start])}")
    print(f"import contracts: {broken_contracts(package)}")
    doubled = doubled_names(package)
    print(f"doubled names: {len(doubled)} {', '.join(doubled)}")
    print(f"repeated blocks of six lines or more: {repeated_blocks(package)}")


if __name__ == "__main__":
    main()
