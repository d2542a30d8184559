"""Break the code on purpose, one line at a time, and see whether a test notices.

    python scripts/mutate.py                      all mutations of scripts/mutations.toml; about half an hour on two cores
    python scripts/mutate.py --only residual      those whose name contains a text
    python scripts/mutate.py --list               names only

Each mutation replaces one piece of one file in a copy of the sources and runs the tests named with it, until one fails.
A mutation that no test notices has survived. The piece must occur exactly once: a mutation that no longer fits the code
is an error, not a success. Exit code 1 if fewer than 95 % are killed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENOUGH = 0.95  # of the mutations, killed
TIME_LIMIT = 600  # seconds for the tests of one mutation; an endless loop is noticed too


@dataclass(frozen=True)
class Mutation:
    """One deliberate mistake, and the tests that should notice it."""

    name: str
    file: str  # below src/anchorview
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def place(self) -> Path:
        """The file, from the root of the project."""
        return Path("src/anchorview") / self.file


def read_mutations(text: str) -> list[Mutation]:
    """Return the mutations of a TOML file; `tests` may be given once for all of a [[group]]."""
    groups = tomllib.loads(text)["group"]
    found = [
        Mutation(one["name"], one.get("file", group.get("file")), one["old"], one["new"], tuple(group["tests"]))
        for group in groups
        for one in group["mutation"]
    ]
    for mutation in found:
        times = (ROOT / mutation.place).read_text(encoding="utf-8").count(mutation.old)
        if times != 1:
            raise SystemExit(f"{mutation.name}: the piece occurs {times} times in {mutation.place}, not once.")
        if mutation.old == mutation.new:
            raise SystemExit(f"{mutation.name}: nothing is changed.")
    if len({mutation.name for mutation in found}) < len(found):
        raise SystemExit("Two mutations have the same name.")
    return found


def copy_of_the_project(folder: Path) -> Path:
    """Copy what tests need; compiled kernels come along, so that only what a mutation touches is compiled again."""
    for name in ("src", "tests", "benchmarks", "scripts", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("results"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def is_killed(mutation: Mutation, project: Path) -> bool:
    """Apply a mutation to a copy of the project, run its tests, and undo it."""
    place = project / mutation.place
    original = place.read_text(encoding="utf-8")
    place.write_text(original.replace(mutation.old, mutation.new), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(project / "src"),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *mutation.tests]
    try:
        run = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT)
        if run.returncode not in (0, 1):  # 2 to 5: pytest itself failed, which proves nothing
            broken = "Error" in run.stdout and "collect" in run.stdout
            if not broken:
                raise SystemExit(
                    f"{mutation.name}: pytest ended with {run.returncode}.\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
                )
        return run.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        place.write_text(original, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutations whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutations tried at the same time")
    options = parser.parse_args()
    mutations = read_mutations((ROOT / "scripts" / "mutations.toml").read_text(encoding="utf-8"))
    chosen = [mutation for mutation in mutations if options.only in mutation.name]
    if options.list or not chosen:
        print(*(mutation.name for mutation in chosen), sep="\n")
        return 0 if chosen else 2
    with tempfile.TemporaryDirectory() as folder:
        projects = [copy_of_the_project(Path(folder) / str(number)) for number in range(options.workers)]
        free = list(projects)

        def try_one(mutation: Mutation) -> bool:
            project = free.pop()
            try:
                killed = is_killed(mutation, project)
            finally:
                free.append(project)
            print(f"{'killed  ' if killed else 'SURVIVED'}  {mutation.name}", flush=True)
            return killed

        with ThreadPoolExecutor(options.workers) as pool:
            killed = sum(pool.map(try_one, chosen))
    print(f"{killed} of {len(chosen)} mutations killed ({100 * killed / len(chosen):.0f} %)")
    return 0 if killed >= ENOUGH * len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
