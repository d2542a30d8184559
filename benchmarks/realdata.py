"""What real data throws at the model: missing views, text, wrong labels, uneven classes, pairs instead of labels.

    python benchmarks/realdata.py --data ../shared/data                    everything (text takes most of the time)
    python benchmarks/realdata.py --data ../shared/data --only missing     one part; the others from the records
    python benchmarks/realdata.py --only tables                            nothing new; the tables from the records

Finished runs are kept in benchmarks/results/realdata.jsonl and not computed again; the tables are written to
benchmarks/results/realdata.md.
"""

from __future__ import annotations

from anchorview.bench.scripts import add_draws, make_parser, run_parts
from realdata_labels import balance, noise
from realdata_missing import missing
from realdata_pairs import pairs
from realdata_text import text

PARTS = {"missing": missing, "text": text, "noise": noise, "balance": balance, "pairs": pairs}


def main() -> None:
    help_text = "draws of labels; by default 3 to 20, as the part is slow or fast"
    run_parts(add_draws(make_parser(__doc__, __file__), text=help_text), PARTS, "realdata", "Real data: measured")


if __name__ == "__main__":
    main()
