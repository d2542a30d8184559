"""How long the default fit takes: its choice, beside the same fit with each scaling given, and beside former defaults.

    python benchmarks/default_time.py --data ../shared/data --sets hw scene15 agnews_emb

For each data set, one draw of labels: the default fit and its choice; the fit with everything given, for the scaling
that is fastest (weights in units of the data, ridge and must-link weight 3, nearest labelled row); the former defaults
(FSSMSC-constants of benchmarks/accuracy.py). Seconds stand beside CPU seconds, which a busy machine disturbs less;
ratios are those of CPU seconds. Those of the choice are what the default fit takes more than a fit with what it chose.
Fits run one after the other in this process, on as many threads as BLAS may use. The table is
benchmarks/results/default_time.md.
"""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from anchorview import FSSMSC, ActiveSet, datasets
from anchorview.bench.protocol import label_fraction
from anchorview.bench.scripts import DataSets, make_parser, warm_up, write_report
from anchorview.core.arrays import is_sparse
from anchorview.report.tables import markdown_table

GIVEN: dict[str, Any] = {"ridge": 3.0, "must_link_weight": 3.0, "readers": "nearest"}
FORMER: dict[str, Any] = {"solver": ActiveSet(units="paper"), "readers": "nearest"}
NOTE = """One fit each, first draw of labels. "Fastest": the fit with the fastest scaling given and the nearest labelled
row; ratios are those of CPU seconds. Load: processes that wanted to run, on average over the last minute; above the
number of cores, seconds are those of a busy machine."""


@dataclass(frozen=True)
class Timed:
    """A fit and what it took."""

    model: FSSMSC
    seconds: float
    cpu: float


def timed_fit(views: Any, y: Any, **parameters: Any) -> Timed:
    model = FSSMSC(random_state=0, **parameters)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(views, y)
    return Timed(model, time.perf_counter() - start, time.process_time() - cpu)


def row_of(name: str, data: Any) -> list[str]:
    """Return a row of the table."""
    target = np.unique(data.target, return_inverse=True)[1]
    y = datasets.hide_labels(target, label_fraction(len(target)), random_state=0)
    has_text = any(map(is_sparse, data.views.arrays))
    default = timed_fit(data.views, y)
    chosen = timed_fit(data.views, y, **default.model.chosen_)
    given = {
        scaling: timed_fit(data.views, y, scaling=scaling, **GIVEN)
        for scaling in (("lsa", "l2", "tfidf") if has_text else ("minmax", "symmetric", "standard", "l2"))
    }
    former = timed_fit(data.views, y, scaling="lsa" if has_text else "minmax", **FORMER)
    fastest = min(given, key=lambda scaling: given[scaling].cpu)
    choice = default.model.stage_seconds_["choice"], default.cpu - chosen.cpu
    numbers = [default.seconds, default.cpu, *choice, given[fastest].cpu, default.cpu / given[fastest].cpu]
    numbers += [former.cpu, former.cpu / default.cpu]
    cells = [name, *(f"{value:.2f}" for value in numbers), fastest, f"{default.model.nonzeros_:.0f}"]
    return [*cells, "+".join(default.model.chosen_["readers"]), f"{os.getloadavg()[0]:.0f}"]


def main() -> None:
    parser = make_parser(__doc__, __file__)
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for readers in ("auto", ("nearest", "linear", "poisson")):
        warm_up(FSSMSC(readers=readers, random_state=0))
    rows, sets = [], DataSets(options.data, options.sets)
    header = ["data", "default s", "default CPU s", "choice s", "choice CPU s", "fastest CPU s", "default / fastest"]
    header += ["former CPU s", "former / default", "fastest", "non-zeros", "readers", "load"]
    text = ""
    for source in sets.readable():
        rows.append(row_of(source.name, sets.load(source.name)))
        print("  ".join(rows[-1]), flush=True)
        parts = [NOTE, markdown_table(header, rows)]  # written each time: a run cut short leaves a table
        text = write_report(options.out / "default_time.md", "Time of the default fit", parts)
    print(f"\n{text}")


if __name__ == "__main__":
    main()
