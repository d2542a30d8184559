"""How long the default fit takes: its choice, beside the same fit with each scaling given, and beside former defaults.

    python benchmarks/default_time.py --data ../shared/data --sets hw scene15 agnews_emb

For each data set, one draw: seconds of the whole default fit and of its choice; seconds with everything given, for the
scaling that is fastest (weights in units of the data, ridge and must-link weight 3, nearest labelled row); seconds of
the former defaults (FSSMSC-constants of benchmarks/accuracy.py). Fits run one after the other in this process, on as
many threads as BLAS may use; nothing is recorded.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from anchorview import FSSMSC, datasets
from anchorview.bench.protocol import label_fraction
from anchorview.bench.scripts import DataSets, environment_line, make_parser, warm_up
from anchorview.core.arrays import is_sparse
from anchorview.report.tables import markdown_table

GIVEN: dict[str, Any] = {"ridge": 3.0, "must_link_weight": 3.0, "inference": "nearest"}
FORMER: dict[str, Any] = {"units": "paper", "inference": "nearest"}


def seconds_of(views: Any, y: Any, **parameters: Any) -> tuple[float, FSSMSC]:
    model = FSSMSC(random_state=0, **parameters)
    start = time.perf_counter()
    model.fit(views, y)
    return time.perf_counter() - start, model


def main() -> None:
    parser = make_parser(__doc__, __file__)
    parser.add_argument("--sets", nargs="+", default=[], help="only these data sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warm_up(FSSMSC(random_state=0))
    rows, sets = [], DataSets(options.data, options.sets)
    for source in sets.readable():
        data = sets.load(source.name)
        target = np.unique(data.target, return_inverse=True)[1]
        y = datasets.hide_labels(target, label_fraction(len(target)), random_state=0)
        has_text = any(map(is_sparse, data.views.arrays))
        whole, model = seconds_of(data.views, y)
        given = {}
        for scaling in ("lsa", "l2", "tfidf") if has_text else ("minmax", "symmetric", "standard", "l2"):
            given[scaling] = seconds_of(data.views, y, scaling=scaling, **GIVEN)[0]
        former, _ = seconds_of(data.views, y, scaling="lsa" if has_text else "minmax", **FORMER)
        fastest = min(given, key=given.__getitem__)
        choice = model.stage_seconds_["choice"]
        shown = [whole, choice, given[fastest], whole / given[fastest], former, former / whole]
        rows.append([source.name, *(f"{value:.2f}" for value in shown), fastest, f"{model.nonzeros_:.0f}"])
        print("  ".join(rows[-1]), flush=True)
    header = ["data", "default s", "of it choice", "fastest given", "ratio", "former s", "former / default"]
    print(f"\n{environment_line()}\n\n{markdown_table([*header, 'fastest', 'non-zeros'], rows)}")


if __name__ == "__main__":
    main()
