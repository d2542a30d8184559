"""Tasks on Dask: sent, waited for, and explained where they fail.

Everything goes through `dask.persist`: to the cluster of the current `dask.distributed` client, or where there is none
to Dask's own scheduler for this process. Tasks are pure functions of what the graph holds, so that Dask can compute
again what is lost with a worker, and the result is the same.
"""

from __future__ import annotations

import re
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ...core.progress import Ticker
from .optional import load_optional

_AT_ONCE = 16  # results fetched together
_LARGE_GRAPH = "1GB"  # before Dask warns: what all blocks share (landmarks, m×m matrices) is sent with the graph, once
_OWN_PACKAGES = ("anchorview", "numba", "scipy", "numpy", "sklearn", "threadpoolctl")


class ClusterError(RuntimeError):
    """Work that a Dask cluster could not do: workers that run out of memory, or a scheduler that is gone."""


class Box:
    """What travels as it is: Dask does not look into it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def open_box(box: Box) -> Any:
    """Return what is in it."""
    return box.value


class TaskGroup:
    """Tasks of the same kind, with one name on Dask's dashboard: that of what they do."""

    def __init__(self, function: Any) -> None:
        self.name = task_name(function)
        self._token, self._count = uuid.uuid4().hex, 0

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task; arguments may be tasks, or lists of them."""
        self._count += 1
        key = f"anchorview-{self.name}-{self._token}-{self._count}"
        return load_optional("dask", "dask", "Work on Dask").delayed(function, pure=False)(
            *arguments, dask_key_name=key
        )


def share(value: Any) -> Any:
    """Return a task with a value that many others need: it is sent once, and computed again if it is lost.

    What `Client.scatter` sends is gone with the workers that hold it.
    """
    return TaskGroup("shared state").call(open_box, Box(value))


def task_name(function: Any) -> str:
    """Return a name for the dashboard: words of letters, as Dask groups tasks by them.

    Examples
    --------
    >>> task_name(partial(partial, task_name)), task_name("shared state")
    ('partial', 'shared-state')
    """
    while isinstance(function, partial) or hasattr(function, "function"):
        function = function.func if isinstance(function, partial) else function.function
    name = function if isinstance(function, str) else getattr(function, "__name__", type(function).__name__)
    words = re.findall("[A-Z]?[a-z]+", name)
    return "-".join(words).lower() or "work"


def keep(tasks: Sequence[Any]) -> list[Any]:
    """Start tasks whose results stay where they are computed, and return them; use `wait` for those."""
    dask = load_optional("dask", "dask", "Work on Dask")
    # Only where distributed is loaded: it would not read its defaults any more afterwards.
    larger = {"distributed.admin.large-graph-warning-threshold": _LARGE_GRAPH} if "distributed" in sys.modules else {}
    with explained([]), dask.config.set(larger):
        return list(dask.persist(*tasks))


def wait(kept: Sequence[Any], name: str) -> None:
    """Wait for tasks that `keep` has started, and raise what went wrong in any of them."""
    futures = _futures(kept)
    ticker = Ticker(name.replace("-", " "), len(futures))
    with explained(futures):
        if futures:
            for future in load_optional("distributed", "dask", "A Dask client").as_completed(futures):
                if future.status != "finished":
                    future.result()
                ticker.done()


def result_of(task: Any) -> Any:
    """Compute one task and return its result."""
    return next(iter_results([task]))


def iter_results(tasks: Sequence[Any], name: str | None = None) -> Iterator[Any]:
    """Compute tasks and return their results in order; those not yet fetched wait on the workers.

    With a `name`, who watches (`core.progress`) is told now and then how many are done.
    """
    kept = keep(tasks)
    futures = _futures(kept)
    ticker = Ticker(None if name is None else name.replace("-", " "), len(kept))
    with explained(futures):
        while kept:
            group, kept = kept[:_AT_ONCE], kept[_AT_ONCE:]
            if futures:
                results = futures[0].client.gather(futures[: len(group)])
                del futures[: len(group)]
            else:
                results = load_optional("dask", "dask", "Work on Dask").compute(*group)
            for result in results:
                ticker.done()
                yield result


def _futures(kept: Sequence[Any]) -> list[Any]:
    """Return the futures behind tasks that were started, in their order; none where this process has computed them."""
    if "distributed" not in sys.modules:
        return []
    futures = sys.modules["distributed"].futures_of(list(kept))
    if futures and futures[0].client.asynchronous:
        raise ClusterError("The current Dask client is asynchronous; connect one with Client(..., asynchronous=False).")
    return list(futures)


@contextmanager
def explained(futures: Sequence[Any]) -> Iterator[None]:
    """Cancel the futures if anything goes wrong, and say in plain words what did."""
    try:
        yield
    except BaseException as error:
        _cancel(futures)
        reason = _explain(error)
        if reason is None:
            raise
        raise ClusterError(reason) from error


def _cancel(futures: Sequence[Any]) -> None:
    if futures and futures[0].client.status == "running":
        with suppress(Exception):  # the error that brought us here is the one to tell
            futures[0].client.cancel(list(futures))


def _explain(error: BaseException) -> str | None:
    """Say what has happened to the cluster; None for an error that is not the cluster's."""
    kind = type(error).__name__
    if kind == "KilledWorker":
        return (
            f"Workers of the Dask cluster died {getattr(error, 'allowed_failures', 3) + 1} times at the same block "
            f"(task {getattr(error, 'task', '')}), most likely because they ran out of memory. Use smaller chunks of "
            "rows (array.rechunk({0: rows, 1: -1})), fewer threads per worker, or give workers more memory "
            "(memory_limit= of the cluster); the workers' logs tell more (client.get_worker_logs())."
        )
    if isinstance(error, MemoryError):
        return (
            f"A worker of the Dask cluster ran out of memory ({error}). Use smaller chunks of rows "
            "(array.rechunk({0: rows, 1: -1})), or give workers more memory (memory_limit= of the cluster)."
        )
    if kind in ("CancelledError", "FutureCancelledError", "CommClosedError", "FuturesCancelledError"):
        return (
            f"The connection to the Dask cluster was lost, or the work was cancelled there ({error}). Nothing was "
            "written. Check that the scheduler runs, connect a client, and start again."
        )
    if "Missing dependency" in str(error):
        return (
            "The Dask cluster that held the rows or the codes is gone, and what was kept there with it. Connect a "
            "client to a cluster that runs, read the rows again, and fit again."
        )
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _OWN_PACKAGES:
        return (
            f"The workers of the Dask cluster cannot import {error.name}: install the same versions there as here, "
            'with pip install "anchorview[dask]" (or client.register_plugin(PipInstall([...]))).'
        )
    return None


class WorkerWatch:
    """Workers that were lost since the watch began, by the scheduler's own log."""

    def __init__(self) -> None:
        self._client = _current_client()
        events = self._events()
        self._since = events[-1][0] if events else 0.0

    def describe(self) -> str:
        """Say how many workers were lost, and what was computed again; nothing if none was."""
        lost = [
            event
            for stamp, event in self._events()
            if stamp > self._since and event.get("action") == "remove-worker" and not event.get("expected")
        ]
        if not lost:
            return ""
        n_again = sum(len(event[part]) for event in lost for part in ("processing-tasks", "lost-computed-tasks"))
        workers = "a worker was" if len(lost) == 1 else f"{len(lost)} workers were"
        return (
            f"{workers} lost during the fit ({', '.join(event['worker'] for event in lost[:5])}): {n_again} tasks were "
            "computed again, with the same result."
        )

    def _events(self) -> Any:
        if self._client is None or self._client.status != "running":
            return ()
        with suppress(OSError):
            return self._client.get_events("all")
        return ()


def _current_client() -> Any:
    if "distributed" not in sys.modules:
        return None
    with suppress(ValueError):
        client = sys.modules["distributed"].Client.current()
        return None if client.asynchronous else client
    return None
