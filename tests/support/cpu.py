"""`pytest --cpu`: processor seconds by folder, and of the tests that take the most.

Processes that a test starts count once they have ended. A busy machine hardly changes them, unlike `--durations`.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

N_SHOWN = 60


def spent() -> float:
    """Return the seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class CpuReport:
    """Counts in each worker; adds up and prints in the process that reports."""

    def __init__(self) -> None:
        self._last = 0.0
        self._tests: Counter[str] = Counter()

    def pytest_runtest_logstart(self) -> None:
        self._last = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[Any]:
        report = yield
        now = spent()
        report.user_properties.append(("cpu", now - self._last))
        self._last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost = [value for name, value in report.user_properties if name == "cpu"]
        self._tests[report.nodeid] += cost[-1] if cost else 0.0

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        folders: Counter[str] = Counter()
        files: Counter[str] = Counter()
        for name, seconds in self._tests.items():
            file = name.partition("::")[0]
            files[file] += seconds
            folders[file.rpartition("/")[0] if file.startswith("tests/") else "src (doctests)"] += seconds
        for title, counted in (("folder", folders), ("file", files), ("test", self._tests)):
            terminalreporter.section(f"processor seconds by {title}")
            for name, seconds in counted.most_common(N_SHOWN):
                terminalreporter.write_line(f"{seconds:8.2f}  {name}")
        terminalreporter.write_line(f"{sum(folders.values()):8.2f}  in all, {len(self._tests)} tests")
