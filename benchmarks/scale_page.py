"""The page of `scale.py`: one run as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anchorview.bench.records import Records
from anchorview.bench.tables import table_source
from anchorview.report.tables import markdown_table
from scale_model import CostModel

N_CLASSES = 10


def write_page(records: Records, path: Path) -> None:
    """Write the tables of the newest fits and the newest predictions."""
    lines = ["# Rows from disk", ""]
    for part, describe in (("fits", _fits), ("predictions", _predictions)):
        made = [(key, result) for key, result in records if key["part"] == part]
        if made:
            key, result = made[-1]
            source = table_source(records, [key])
            lines += [f"## {part.capitalize()}", "", _setting(key, result), "", *describe(key, result["runs"]), ""]
            given = {name: value for name, value in key.items() if name not in ("part", "code")}
            options = " ".join(f"--{name.replace('_', '-')} {value:.0f}" for name, value in given.items())
            lines += [f"`python benchmarks/scale.py {options}`, {source}.", ""]
    path.write_text("\n".join(lines))


def _setting(key: dict[str, Any], result: dict[str, Any]) -> str:
    return (
        f"{result['environment']}. {key['features']} features in three views (float32), "
        f"m = {key['landmarks']}, 10 classes, 1,000 labels."
    )


def _fits(key: dict[str, Any], fits: dict[str, Any]) -> list[str]:
    model = CostModel(key["features"], key["landmarks"], N_CLASSES)
    pairs = [
        [name, _amount(name, pair["model"]), _amount(name, pair["measured"]), f"{pair['model'] / pair['measured']:.2f}"]
        for name, pair in model.compare(fits).items()
    ]
    return [
        _table({"in memory, before": fits["before"], "from disk": fits["disk"], "in memory, after": fits["memory"]}),
        "",
        f"Time per row from disk: {_ratio(fits, 'seconds'):.2f} times that in memory on the clock, "
        f"{_ratio(fits, 'cpu_seconds'):.2f} times in processor time; codes were "
        f"{'in files' if fits['disk']['in_files'] else 'in memory'}, with {fits['disk']['nonzeros']:.0f} non-zeros; "
        f"{fits['disk']['rounds']} rounds; accuracy {fits['disk']['accuracy']:.3f} from disk, "
        f"{fits['memory']['accuracy']:.3f} in memory.",
        "",
        markdown_table(["of the fit from disk", "model", "measured", "model / measured"], pairs),
    ]


def _predictions(key: dict[str, Any], runs: dict[str, Any]) -> list[str]:
    killed = runs["killed"]
    return [
        _table({"in memory, before": runs["before"], "from disk": runs["disk"], "in memory, after": runs["memory"]}),
        "",
        f"Speed from disk: {1 / _ratio(runs, 'seconds'):.2f} times that in memory on the clock, "
        f"{1 / _ratio(runs, 'cpu_seconds'):.2f} times by processor time. Killed {killed['kills']} times on the way, it "
        f"ended with {'the same bytes' if killed['equal'] else 'ANOTHER RESULT'}; the three processes together took "
        f"{killed['seconds'] / runs['disk']['seconds']:.2f} times as long as the one.",
    ]


def _ratio(runs: dict[str, Any], what: str) -> float:
    """Time per row from disk, to the mean of those in memory before and after it."""
    per_row = {name: run[what] / run["rows"] for name, run in runs.items() if name != "killed"}
    return per_row["disk"] / ((per_row["memory"] + per_row["before"]) / 2)


def _amount(name: str, value: float) -> str:
    return f"{value:.0f} s" if "time" in name else f"{value / 1e9:.2f} GB"


def _table(runs: dict[str, dict[str, Any]]) -> str:
    rows = []
    for name, run in runs.items():
        per_row = 1e6 / run["rows"]
        rows.append(
            [
                name,
                f"{run['rows']:,}",
                f"{run['seconds'] * per_row:.1f}",
                f"{run['cpu_seconds'] * per_row:.1f}",
                f"{run['peak'] / 1e9:.2f}",
                f"{run['read'] / 1e9:.1f}",
            ]
        )
    return markdown_table(["", "rows", "µs a row", "µs of processor a row", "peak, GB", "read, GB"], rows)
