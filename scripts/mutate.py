"""Break the code on purpose, one line at a time, and see whether a test notices.

    python scripts/mutate.py                      all mutations of scripts/mutations.toml; about half an hour
    python scripts/mutate.py --only residual      those whose name contains a text
    python scripts/mutate.py --list               names only, after a check that all of them still fit the code

Each mutation replaces one piece of one file in a copy of the project and runs the tests named with it, until one fails.
A mutation that no test notices has survived. The piece must occur exactly once, and the tests must pass before anything
is broken: a mutation that no longer fits, or a test that fails anyway, is an error, not a success. Exit code 1 if fewer
than 95 % are killed.

Results are kept in benchmarks/results/mutations.jsonl as they come, and mutations.md beside it is made of them. A run
that was stopped goes on where it was: what is kept is not tried again while the mutation, the file that it breaks and
its tests stay the same (`--again` tries it all the same).
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/anchorview")
RESULTS = ROOT / "benchmarks" / "results" / "mutations.jsonl"
COMPILED = "core.compiled import"  # in files with functions that numba compiles
ENOUGH = 0.95  # of the mutations, killed
TIME_LIMIT = 600  # seconds for the tests of one mutation; an endless loop is noticed too
# What tests import takes five seconds, mostly longer than they run: it is imported once, before processes fork.
LOADED_ONCE = (
    "hypothesis.extra.numpy",
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "pytest",
    "rich.progress",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.semi_supervised",
)


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
        return PACKAGE / self.file

    @property
    def key(self) -> str:
        """What a result depends on: the mutation, the file that it breaks and the files of its tests."""
        files = [str(self.place), *(test.partition("::")[0] for test in self.tests)]
        parts = [self.old, self.new, *self.tests, *((ROOT / file).read_text(encoding="utf-8") for file in files)]
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def read_mutations(text: str) -> list[Mutation]:
    """Return the mutations of a TOML file; `file` and `tests` may be given once for all of a [[group]]."""
    found = [
        Mutation(**{"file": group.get("file"), **one, "tests": tuple(one.get("tests", group["tests"]))})
        for group in tomllib.loads(text)["group"]
        for one in group["mutation"]
    ]
    wrong = [f"{name}: there are two of this name." for name in _repeated(mutation.name for mutation in found)]
    for mutation in found:
        times = (ROOT / mutation.place).read_text(encoding="utf-8").count(mutation.old)
        if times != 1:
            wrong.append(f"{mutation.name}: the piece occurs {times} times in {mutation.place}, not once.")
        if mutation.old == mutation.new:
            wrong.append(f"{mutation.name}: nothing is changed.")
    if wrong:
        raise SystemExit("\n".join(wrong))
    return found


def _repeated(names: Iterable[str]) -> list[str]:
    listed = list(names)
    return sorted({name for name in listed if listed.count(name) > 1})


def copy_of_the_project(folder: Path) -> Path:
    """Copy what tests need, without what numba has compiled: in a folder that is worked on it may be stale."""
    for name in ("src", "tests", "benchmarks", "scripts", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("results", "*.nbi", "*.nbc"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


class TestRun:
    """Tests that run in a copy of the project, in a process forked from this one.

    Parameters
    ----------
    project : Path
        The copy.
    tests : iterable of str
        Files and names of tests.
    mutation : Mutation, optional
        What is broken meanwhile; nothing by default, and then all tests are run.
    """

    def __init__(self, project: Path, tests: Iterable[str], mutation: Mutation | None = None) -> None:
        self.project, self.mutation, self.started, self.timed_out = project, mutation, time.monotonic(), False
        options = ["-q", "-p", "no:cacheprovider"]
        if mutation is not None:
            self._place = project / mutation.place
            self._original, self._status = self._place.read_text(encoding="utf-8"), self._place.stat()
            self._place.write_text(self._original.replace(mutation.old, mutation.new), encoding="utf-8")
            options.append("-x")
            # numba looks for changes in a function's own file only; but functions call those of their own folder too.
            self._compiled, self._aside = self._place.parent / "__pycache__", project / "compiled"
            self._is_compiled = COMPILED in self._original and self._compiled.exists()
            if self._is_compiled:
                self._compiled.rename(self._aside)
        self.process = multiprocessing.get_context("fork").Process(
            target=_run_pytest, args=(project, [*options, *tests])
        )
        self.process.start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended; one that takes too long is ended, and has noticed something."""
        if self.mutation is not None and time.monotonic() - self.started > TIME_LIMIT:
            self.timed_out = True
            self.process.kill()
            self.process.join()
        return not self.process.is_alive()

    def finish(self) -> bool:
        """Undo the mutation; return whether all tests passed."""
        if self.mutation is not None:
            self._place.write_text(self._original, encoding="utf-8")
            os.utime(self._place, ns=(self._status.st_atime_ns, self._status.st_mtime_ns))  # what was compiled is good
            if self._is_compiled:
                shutil.rmtree(self._compiled, ignore_errors=True)
                self._aside.rename(self._compiled)
        return self.process.exitcode == 0


def _run_pytest(project: Path, arguments: list[str]) -> None:
    """Run pytest in a copy, its output in a file there."""
    import pytest
    from hypothesis import Phase, settings

    # The same examples each time; and a failure is enough: no smaller one is looked for, which takes minutes.
    settings.register_profile("notice", phases=(Phase.explicit, Phase.generate), derandomize=True, database=None)
    settings.load_profile("notice")
    os.chdir(project)
    with (project / "tests.log").open("w") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    os.environ["PYTHONPATH"] = str(project / "src")  # of processes that tests start
    sys.path.insert(0, str(project / "src"))
    sys.dont_write_bytecode = True
    sys.exit(int(pytest.main(arguments)))


def noticed_by(log: str) -> str:
    """Return the name of the first test that failed, by what pytest printed."""
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?= - |$)", log, flags=re.MULTILINE)
    return found[1] if found else "a crash"


def try_all(mutations: list[Mutation], folder: Path, n_workers: int) -> None:
    """Try mutations and keep what comes of each."""
    first = copy_of_the_project(folder / "0")
    unbroken = TestRun(first, dict.fromkeys(test for mutation in mutations for test in mutation.tests))
    unbroken.process.join()
    if not unbroken.finish():
        raise SystemExit(f"Nothing is broken yet, but tests fail:\n{(first / 'tests.log').read_text()[-4000:]}")
    # Copies of the first: what numba has compiled for it comes along.
    free = [first, *(shutil.copytree(first, folder / str(number)) for number in range(1, n_workers))]
    waiting, running = list(mutations), list[TestRun]()
    while waiting or running:
        while waiting and free:
            mutation = waiting.pop(0)
            running.append(TestRun(free.pop(), mutation.tests, mutation))
        multiprocessing.connection.wait([run.process.sentinel for run in running], timeout=1)
        for run in [run for run in running if run.is_over]:
            running.remove(run)
            free.append(run.project)
            has_survived = run.finish()
            by = "time limit" if run.timed_out else noticed_by((run.project / "tests.log").read_text())
            keep(run.mutation, None if has_survived else by)
            what = "SURVIVED  " if has_survived else f"killed by {by}:  "
            print(f"{what}{run.mutation.name}", flush=True)


def keep(mutation: Mutation, noticed: str | None) -> None:
    """Write down which test noticed a mutation, None if none did."""
    with RESULTS.open("a", encoding="utf-8") as stream:
        line = {"name": mutation.name, "key": mutation.key, "noticed": noticed}
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_results(mutations: list[Mutation]) -> dict[str, Any]:
    """Return which test noticed each mutation, by name; those that were not tried as they are now are left out."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    kept = {(line["name"], line["key"]): line["noticed"] for line in map(json.loads, lines)}
    return {one.name: kept[one.name, one.key] for one in mutations if (one.name, one.key) in kept}


def write_table(mutations: list[Mutation]) -> None:
    """Write what came of all mutations; results that no longer count are dropped from the file of results."""
    results = read_results(mutations)
    survivors = [name for name, noticed in results.items() if noticed is None]
    untried = [mutation.name for mutation in mutations if mutation.name not in results]
    killed, total = len(results) - len(survivors), len(mutations)
    lines = [
        "# Mistakes made on purpose, and the tests that notice them",
        "",
        "Each line of the table is one mutation of `scripts/mutations.toml`, tried alone. Written by one command:",
        "",
        "    python scripts/mutate.py",
        "",
        f"- mutations: {total}",
        f"- killed: {killed} ({100 * killed / total:.1f} %)",
        f"- survivors: {len(survivors)}",
        *(f"  - {name}" for name in survivors),
        f"- not tried since the mutation, its file or its tests changed: {len(untried)}",
        *(f"  - {name}" for name in untried),
        "",
        "| mutation | file | noticed first by |",
        "|---|---|---|",
    ]
    for one in mutations:
        noticed = "not tried" if one.name not in results else results[one.name] or "**nothing**"
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (one.name, one.file, noticed)) + " |")
    RESULTS.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    RESULTS.unlink(missing_ok=True)
    for one in mutations:
        if one.name in results:
            keep(one, results[one.name])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutations whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--again", action="store_true", help="try those too whose results are kept")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutations tried at the same time")
    options = parser.parse_args()
    mutations = read_mutations((ROOT / "scripts" / "mutations.toml").read_text(encoding="utf-8"))
    chosen = [mutation for mutation in mutations if options.only in mutation.name]
    if options.list or not chosen:
        print(*(mutation.name for mutation in chosen), sep="\n")
        return 0 if chosen else 2
    known = {} if options.again else read_results(chosen)
    if untried := [mutation for mutation in chosen if mutation.name not in known]:
        os.environ["OMP_NUM_THREADS"] = "1"
        os.environ.pop("NUMBA_CACHE_DIR", None)  # what numba compiles is kept in each copy
        for name in LOADED_ONCE:
            importlib.import_module(name)
        with tempfile.TemporaryDirectory() as folder:
            try_all(untried, Path(folder), options.workers)
    write_table(mutations)
    results = read_results(chosen)
    killed = sum(noticed is not None for noticed in results.values())
    print(f"{killed} of {len(chosen)} mutations killed ({100 * killed / len(chosen):.1f} %)")
    return 0 if killed >= ENOUGH * len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
