"""A fit on a Dask cluster of local processes: time with one worker and with two, and the bytes that move.

    python benchmarks/dask_scale.py                                    480,000 rows, some minutes
    python benchmarks/dask_scale.py --rows 40000 --repeats 1           a small run

Clusters of one and of two workers (processes of one thread each) are up side by side, and fits on them alternate, as
the machine may do other work. The rows are generated on the workers and kept there. Besides wall-clock time the script
gives the processor time of the busiest worker, which other work on the machine does not change: the speed-up that is
left when each worker has a core of its own. `path` adds that of the client and the scheduler, which are one process
here, as if they never worked at the same time as the workers. With `coupling=1` there are several rounds.

Bytes are those of Dask's own counters: what workers sent to each other and to the client (their logs of transfers), and
what scheduler and client sent with tasks (`BatchedSend.byte_count`). Records are in
`benchmarks/results/dask_scale.jsonl`, keyed by all options, the commit and the defaults; the table is dask_scale.md.
"""

from __future__ import annotations

import argparse
import logging
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import numpy as np

from anchorview import FSSMSC
from anchorview.bench.environment import environment_line
from anchorview.bench.records import Records, record_key
from anchorview.bench.scripts import DataSets, Runs, write_report
from anchorview.bench.tables import table_source
from anchorview.report.tables import markdown_table

N_CLASSES, N_LABELLED = 10, 1000
RESULTS = Path(__file__).parent / "results"


def make_block(number: int, n_rows: int, n_features: int, view: int) -> np.ndarray:
    """Return rows around the centres of ten classes, four groups each; the same for the same numbers."""
    centres = np.random.default_rng(view).standard_normal((4 * N_CLASSES, n_features)).astype(np.float32)
    noise = np.random.default_rng([1, number, view]).standard_normal((n_rows, n_features), dtype=np.float32)
    rows: np.ndarray = np.abs(centres[groups_of(number, n_rows)] + noise)
    return rows


def groups_of(number: int, n_rows: int) -> np.ndarray:
    return np.random.default_rng([2, number]).integers(4 * N_CLASSES, size=n_rows)


def make_views(args: argparse.Namespace) -> list[Any]:
    """Return three views as dask arrays, one chunk a block."""
    import dask.array as da

    size, widths = args.rows // args.blocks, [args.features - 2 * (args.features // 3), *2 * [args.features // 3]]
    return [
        da.concatenate(
            [
                da.from_delayed(dask.delayed(make_block)(number, size, width, view), (size, width), np.float32)
                for number in range(args.blocks)
            ]
        )
        for view, width in enumerate(widths)
    ]


def labels(args: argparse.Namespace) -> np.ndarray:
    target = np.concatenate([groups_of(number, args.rows // args.blocks) for number in range(args.blocks)]) % N_CLASSES
    y = np.full(len(target), -1)
    shown = np.random.default_rng(0).choice(len(target), N_LABELLED, replace=False)
    y[shown] = target[shown]
    return y


def processor_seconds(client: Any) -> dict[str, float]:
    found: dict[str, float] = client.run(time.process_time)
    return found


def moved_bytes(cluster: Any, client: Any) -> dict[str, int]:
    """Return the bytes sent so far, by who sent them."""
    logs = client.run(lambda dask_worker: sum(entry["total"] for entry in dask_worker.transfer_outgoing_log))
    return {
        "workers": sum(logs.values()),
        "scheduler": sum(stream.byte_count for stream in cluster.scheduler.stream_comms.values()),
        "client": client.scheduler_comm.byte_count,
    }


class Rounds(logging.Handler):
    """Reads the counters when encoding begins and after each round."""

    def __init__(self, cluster: Any, client: Any) -> None:
        super().__init__()
        self.cluster, self.client = cluster, client
        self.seen: list[dict[str, int]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Look at what a fit says."""
        if any(word in record.getMessage() for word in (" solving", " round ", " reading labels")):
            self.seen.append(moved_bytes(self.cluster, self.client))


def fit(args: argparse.Namespace, cluster: Any, client: Any, views: list[Any], y: np.ndarray) -> dict[str, Any]:
    """Fit once, and return times and bytes."""
    log, counters = logging.getLogger("anchorview"), Rounds(cluster, client)
    model = FSSMSC(
        n_landmarks=args.landmarks, scaling="minmax", ridge=3.0, must_link_weight=3.0, readers="nearest",
        coupling=1.0, random_state=0, verbose=True,
    )  # fmt: skip
    with client.as_current():
        before, here, start = processor_seconds(client), time.process_time(), time.perf_counter()
        first = moved_bytes(cluster, client)
        log.addHandler(counters)
        try:
            model.fit(views, y)
        finally:
            log.removeHandler(counters)
        seconds, here = time.perf_counter() - start, time.process_time() - here
        after = processor_seconds(client)
        last = moved_bytes(cluster, client)
    busiest = max(after[worker] - before[worker] for worker in after)
    totals = [sum(found.values()) for found in counters.seen]  # at solving, after each round, at the labels
    return {
        "workers": len(after),
        "seconds": seconds,
        "busiest": busiest,
        "client": here,
        "path": busiest + here,
        "solver": model.stage_seconds_["solver"],
        "n_iter": model.n_iter_,
        "nonzeros": model.nonzeros_,
        "bytes": {name: last[name] - first[name] for name in last},
        "bytes_encoding_and_round_1": totals[1] - totals[0],
        "bytes_per_round": float(max(np.diff(totals[1:-1]), default=0)) if len(totals) > 3 else None,
        "labels": model.labels_,
    }


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Fit in turn on clusters of each number of workers."""
    from distributed import Client, LocalCluster, wait

    y, runs = labels(args), []
    with ExitStack() as stack:
        places = []
        for n_workers in args.workers:
            options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": "4GB"}
            cluster = stack.enter_context(LocalCluster(n_workers=n_workers, silence_logs=logging.ERROR, **options))
            client = stack.enter_context(Client(cluster, set_as_default=False))
            with client.as_current():
                views = [array.persist() for array in make_views(args)]
                wait(views)
            places.append((cluster, client, views))
        few = argparse.Namespace(**{**vars(args), "rows": 64 * args.blocks})
        for cluster, client, _ in places:  # loads the kernels on the workers
            fit(few, cluster, client, make_views(few), labels(few))
        for _ in range(args.repeats):
            runs += [fit(args, *place, y) for place in places]
    same = all((run["labels"] == runs[0]["labels"]).all() for run in runs)
    for run in runs:
        del run["labels"]
    return {"environment": environment_line(), "same_labels": bool(same), "runs": runs}


def table_of(runs: list[dict[str, Any]]) -> str:
    """Return the fastest times with each number of workers, and how many times as fast as the first they are."""
    counts = list(dict.fromkeys(run["workers"] for run in runs))
    rows: list[list[str]] = []
    for n_workers in counts:
        own = [run for run in runs if run["workers"] == n_workers]
        best = min(own, key=lambda run: run["seconds"])
        times = []
        for what in ("seconds", "solver", "busiest", "path"):
            fastest = [min(run[what] for run in runs if run["workers"] == n) for n in (counts[0], n_workers)]
            times.append(f"{fastest[1]:.1f} s ({fastest[0] / fastest[1]:.2f})")
        per_round = f"{best['bytes_per_round'] / 1e3:.0f} KB" if best["bytes_per_round"] else ""
        rows.append([str(n_workers), *times, f"{sum(best['bytes'].values()) / 1e6:.1f} MB", per_round])
    header = [
        "workers",
        "clock (speed-up)",
        "solver",
        "busiest worker, CPU",
        "with client, CPU",
        "moved",
        "a round",
    ]
    return markdown_table(header, rows)


def write_tables(records: Records) -> str:
    """Write the newest record of every setting as a table, and return the text."""
    parts = []
    for key, result in {record_key(_settings(key)): (key, result) for key, result in records}.values():
        options = ", ".join(f"{name} {value}" for name, value in _settings(key).items())
        same = "the same labels" if result["same_labels"] else "OTHER LABELS"
        source = f"{options}: {same} with every number of workers; {table_source(records, [key])}."
        parts += [table_of(result["runs"]), source]
    return write_report(RESULTS / "dask_scale.md", "A fit on local Dask clusters", parts)


def _settings(key: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name != "code"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=480_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--blocks", type=int, default=24)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fresh", action="store_true", help="measure again what is already recorded")
    args = parser.parse_args()
    records = Records(RESULTS / "dask_scale.jsonl")
    key = {name: value for name, value in vars(args).items() if name != "fresh"}
    Runs(records, DataSets([]), fresh=args.fresh).get(key, lambda: measure(args))
    print(write_tables(records))


if __name__ == "__main__":
    main()
