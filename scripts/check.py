"""Lint, types and all tests: what CI runs. Stops with the first exit code that is not zero."""

from __future__ import annotations

import subprocess
import sys
import time

STEPS = [
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy"]),
    ("tests", ["-m", "pytest", "-n", "2"]),
]


def main() -> int:
    for name, command in STEPS:
        start = time.perf_counter()
        code = subprocess.call([sys.executable, *command])
        print(f"{name}: {'ok' if code == 0 else f'FAILED ({code})'} in {time.perf_counter() - start:.0f} s", flush=True)
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
