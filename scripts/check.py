"""Lint, types, import contracts and tests: what CI runs. Stops with the first exit code that is not zero.

    python scripts/check.py           # the default suite, every behaviour once; see below for its time
    python scripts/check.py --quick   # without tests that start processes, clusters or a browser
    python scripts/check.py --all     # also those marked thorough: all examples, scikit-learn's checks of all baselines
    python scripts/check.py --slow    # only the tests marked slow, up to minutes each

The default tests took 9.2 minutes of processor time, compiling included, and 12.3 minutes by the clock on two cores
that others used as well (commit 1d3ec68). Two idle cores have not been timed.

With CI=true in the environment, as in CI, the first command does what `--all` does.

Some tests look at pages in a real browser. Where chromium is missing, CI installs it (as root, on Debian); elsewhere,
or if that fails, they are left out and the last lines say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

NO_BROWSER = "ANCHORVIEW_NO_BROWSER"  # set for the tests when there is none
PYTEST = ["-m", "pytest", "-n", "2", "--dist", "loadfile"]  # what a file prepares for its tests is made once
QUICK = ["-m", "not slow and not thorough and not processes"]
ALL = ["-m", "not slow"]
SLOW = ["-m", "slow", "-o", "faulthandler_timeout=3600"]  # minutes each, and no sign that one hangs
STEPS = [
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy"]),
    ("contracts", ["-c", "from importlinter.cli import lint_imports_command as run; run(['--no-cache', '--no-logo'])"]),
]
# Compiled while lint and types run, which take one core: else both workers compile the same.
KERNELS = """
import numpy as np
from anchorview import FSSMSC, baselines, datasets
made = datasets.make_multiview_subspaces(200, 2, (8, 6), random_state=0)
for dtype in (np.float32, np.float64):
    FSSMSC(n_landmarks=20, random_state=0).fit([view.astype(dtype) for view in made.data], made.target)
baselines.LMVSC(n_clusters=2, random_state=0).fit(made.data)
"""


def find_browser() -> bool:
    """Tell whether chromium is there; in CI, install it first."""
    if shutil.which("chromium"):
        return True
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if os.environ.get("CI") == "true" and is_root and shutil.which("apt-get"):
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
            subprocess.call(command, stdout=subprocess.DEVNULL)
    return shutil.which("chromium") is not None


def main() -> int:
    options = set(sys.argv[1:])
    if unknown := options - {"--quick", "--all", "--slow"}:
        print(f"{min(unknown)} is not an option; see the first lines of {__file__}.", file=sys.stderr)
        return 2
    runs_all = "--all" in options or os.environ.get("CI") == "true"
    chosen = QUICK if "--quick" in options else ALL if runs_all else []
    steps = [("slow tests", [*PYTEST, *SLOW])] if "--slow" in options else [*STEPS, ("tests", [*PYTEST, *chosen])]
    has_browser = find_browser()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # two workers on two cores: pools of threads would only fight
    if not has_browser:
        environment[NO_BROWSER] = "1"
    compiling = subprocess.Popen([sys.executable, "-c", KERNELS], env=environment)
    for name, command in steps:
        start = time.perf_counter()
        if name.endswith("tests"):
            compiling.wait()  # should it fail, the tests tell
        code = subprocess.call([sys.executable, *command], env=environment)
        print(f"{name}: {'ok' if code == 0 else f'FAILED ({code})'} in {time.perf_counter() - start:.0f} s", flush=True)
        if code != 0:
            compiling.kill()  # nobody waits for it any more
            return code
    if not has_browser:
        print(f"{'!' * 79}\nNOT RUN: the tests in a real browser. Install chromium and run this again.\n{'!' * 79}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
