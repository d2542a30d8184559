"""What a figure was measured on: machine, libraries, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from ..core.versions import package_versions


def describe_environment() -> dict[str, Any]:
    """Return machine, threads, library versions and commit."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "blas": sorted({f"{p['internal_api']} {p['version']} ({p['num_threads']} threads)" for p in threadpool_info()}),
        "versions": package_versions(),
        "commit": _commit(),
    }


def environment_line() -> str:
    """Return the same on one line, for the foot of a table."""
    about = describe_environment()
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return f"{about['cpu']}, {about['cores']} cores; Python {about['python']}; {versions}; commit {about['commit']}"


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
