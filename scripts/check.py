"""Lint, types, import contracts and all tests: what CI runs. Stops with the first exit code that is not zero.

    python scripts/check.py           # the default suite
    python scripts/check.py --slow    # the tests marked slow, up to minutes each

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
SLOW = ["-m", "slow", "-o", "faulthandler_timeout=3600"]  # minutes each, and no sign that one hangs
STEPS = [
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy"]),
    ("contracts", ["-c", "from importlinter.cli import lint_imports_command as run; run(['--no-cache', '--no-logo'])"]),
    ("tests", PYTEST),
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
    slow = "--slow" in sys.argv[1:]
    steps = [("slow tests", [*PYTEST, *SLOW])] if slow else STEPS
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
