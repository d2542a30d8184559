"""Read data sets in a child process, under its memory limit: a file too large for the machine ends the child only."""

from __future__ import annotations

from collections.abc import Sequence

from .settings import JOBS
from .sources import EMBEDDED, Description, Source
from .worker import Worker


def read_descriptions(sources: Sequence[Source], worker: Worker) -> list[tuple[Source, Description]]:
    """Read every data set and return it with its sizes; ValueError for the first that cannot be read.

    Examples
    --------
    >>> from anchorview.bench.sources import find_sources
    >>> with Worker() as worker:
    ...     [(_, about)] = read_descriptions(find_sources([]), worker)
    >>> about.n_rows, about.n_classes
    (2000, 10)
    """
    return [(source, read_description(source, worker)) for source in sources]


def read_description(source: Source, worker: Worker) -> Description:
    """Read one data set, however long it takes, and return its sizes."""
    limit, worker.time_limit = worker.time_limit, None
    try:
        job = worker.run(f"{JOBS}:describe_data", {"name": source.name, "place": source.place})
    finally:
        worker.time_limit = limit
    if job.status == "ok":
        return Description(**{**job.value, "view_sizes": tuple(job.value["view_sizes"])})
    place = "the built-in digits" if source.place == EMBEDDED else source.place
    if job.status == "memory":
        allowed = "" if worker.memory_limit is None else f" than the {worker.memory_limit / 1e9:.2g} GB allowed"
        raise ValueError(f"{place} cannot be read: it takes more memory{allowed}.")
    kind, _, text = (job.message.strip().splitlines() or ["unknown error"])[-1].partition(": ")
    if source.place in text:  # the reader's own words
        raise ValueError(text)
    raise ValueError(f"{place} cannot be read ({kind}{': ' if text else ''}{text}).")
