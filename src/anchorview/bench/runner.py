"""Run what is asked for and not yet recorded, and show how long it will take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..core.printable import printable
from .environment import describe_environment
from .process import JobResult
from .records import Records, record_key
from .worker import Worker


@dataclass(frozen=True)
class Run:
    """One job, and the key under which its result is kept.

    ``key`` has at least "task", "data", "method", "parameters" and "seed"; ``arguments`` go to the function ``target``
    and can hold more, such as where a data set lies on this machine. ``fresh`` asks for a process of its own.
    """

    target: str
    key: dict[str, Any]
    arguments: dict[str, Any]
    fresh: bool = False

    @property
    def group(self) -> str:
        """The key without its seed: runs that cost about the same, and break limits alike."""
        return _group(self.key)


class Runner:
    """Makes runs, keeps their results, and never makes one twice; to be used in a ``with`` statement.

    Parameters
    ----------
    records : Records
        Where results are kept.
    time_limit : float
        Seconds of one run; a run that takes longer is "OT".
    memory_limit : int
        Bytes of one run; a run that takes more is "OM". After either, no other seed is tried.
    console : Console
        For progress.
    worker : Worker, optional
        Makes the runs, with these limits; by default one that lives as long as this.
    """

    def __init__(
        self,
        records: Records,
        time_limit: float,
        memory_limit: int,
        console: Console,
        worker: Worker | None = None,
    ) -> None:
        self.records, self.time_limit, self.memory_limit, self.console = records, time_limit, memory_limit, console
        self.errors: dict[str, str] = {}  # message by group; not recorded, so that they are tried again
        self.outcomes: dict[str, str] = {}  # of every run that was asked for, by its key: "ok", "OM", "OT" or "error"
        self.messages: list[str] = []  # one line for every group that failed, in whatever experiment
        self.n_made = 0
        self._broken: dict[str, str] = {}
        self._costs: dict[str, float] = {}
        self._worker = Worker(time_limit, memory_limit) if worker is None else worker
        self._own = worker is None
        for key, result in records:
            if {"status", "seconds"} <= result.keys():
                self._learn(_group(key), result)

    def __enter__(self) -> Self:
        if self._own:
            self._worker.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._own:
            self._worker.__exit__(*error)

    def value(self, run: Run) -> dict[str, Any] | None:
        """Return what a run gave, None if it was not made or broke a limit."""
        result = self.records.get(run.key)
        return result.get("value") if result is not None and result.get("status") == "ok" else None

    def broken(self, run: Run) -> str | None:
        """Return "OM", "OT" or "error" if a run of the same group ended so."""
        return "error" if run.group in self.errors else self._broken.get(run.group)

    def run(self, runs: Sequence[Run], title: str) -> None:
        """Make all runs that are missing, one after the other so that times mean something."""
        missing = [run for run in runs if self._is_missing(run)]
        if missing:
            self._make(missing, title)
        for run in runs:
            done = self.value(run) is not None
            self.outcomes[record_key(run.key)] = "ok" if done else self.broken(run) or "error"

    def _make(self, missing: Sequence[Run], title: str) -> None:
        environment = self._record_environment()
        with _make_progress(self.console) as progress:
            task = progress.add_task(title, total=len(missing), left=self._time_left(missing), now="")
            for number, run in enumerate(missing):
                progress.update(task, now=f"{run.key['data']} {run.key['method']}")
                if self._is_missing(run):  # an earlier seed may have broken a limit
                    self._keep(run, self._worker.run(run.target, run.arguments, fresh=run.fresh), environment)
                progress.update(task, advance=1, left=self._time_left(missing[number + 1 :]))

    def _is_missing(self, run: Run) -> bool:
        return self.records.get(run.key) is None and self.broken(run) is None

    def _keep(self, run: Run, job: JobResult, environment: str) -> None:
        self.n_made += 1
        if job.status == "error":
            message = job.message.strip() or "ended without a message"
            self.errors[run.group] = message
            self.messages.append(f"{run.key['data']} {run.key['method']}: {message.splitlines()[-1]}")
            told = f"{run.key['data']} {run.key['method']}: {message}"
            self.console.print(printable(told, keep="\n"), style="red", markup=False, highlight=False, soft_wrap=True)
            return
        result = job.as_dict() | {"environment": environment}
        if job.status != "ok":
            result |= {"time_limit": self.time_limit, "memory_limit": self.memory_limit}
        self.records.add(run.key, result)
        self._learn(run.group, result)

    def _learn(self, group: str, result: dict[str, Any]) -> None:
        """Remember cost and limits; a limit raised since then is worth another try."""
        self._costs[group] = result["seconds"]
        if result["status"] == "memory" and self.memory_limit <= 1.05 * result.get("memory_limit", 0):
            self._broken[group] = "OM"
        elif result["status"] == "time" and self.time_limit <= 1.05 * result.get("time_limit", 0):
            self._broken[group] = "OT"

    def _time_left(self, missing: Sequence[Run]) -> str:
        """Estimate the seconds to go from runs of the same group, else from all."""
        if not self._costs:
            return "?"
        mean = sum(self._costs.values()) / len(self._costs)
        seconds = sum(self._costs.get(run.group, mean) for run in missing)
        return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min" if seconds >= 3600 else _short(seconds)

    def _record_environment(self) -> str:
        about = describe_environment()
        name = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8]
        if self.records.get({"environment": name}) is None:
            self.records.add({"environment": name}, about)
        return name


def _group(key: dict[str, Any]) -> str:
    return record_key({name: value for name, value in key.items() if name != "seed"})


def _short(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _make_progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left about {task.fields[left]}"),
        TextColumn("{task.fields[now]}", style="dim", markup=False),
        console=console,
        transient=not console.is_terminal,
    )
