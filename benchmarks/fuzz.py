"""Try bad, odd and random valid input on every public estimator, reader and command, and count what comes of it.

    python benchmarks/fuzz.py --seed 0                  # 2,000 bad or odd inputs, 200 valid problems
    python benchmarks/fuzz.py --only labels:0:17        # one case again, in this process, with its traceback
    python benchmarks/fuzz.py --seed 5 --topic files

Outcomes: *clear error* (raised on purpose by our code or by scikit-learn's checks of X and y, naming the parameter,
view, row, label or file), *fine*, *vague error* (any other error), *silent nonsense* (taken although it must be
refused, or an answer that fails an oracle), *child died*, *over a minute*. Every case that is neither clear nor fine is
listed with its id. The exit code is 1 unless nothing died, nothing took over a minute, nothing was silent nonsense, and
fewer than 1 % of the cases ended in a vague error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from fuzzing.case import DIED, GOOD, NONSENSE, OUTCOMES, SLOW, VAGUE
from fuzzing.pool import SHARES, TOPICS, Result, make_case, run_all


def main() -> int:
    options = read_options()
    if options.only:
        case = make_case(options.only)
        print(f"{options.only}: {case.what}; expected: {case.expect}, an error naming one of {case.names}")
        case.run()
        print("no error")
        return 0
    start = time.monotonic()
    cases = list_cases(options.seed, options.bad, options.valid, options.topic)
    results: list[Result] = []
    for result in run_all(cases, options.workers, 60, start + 60 * options.minutes):
        results.append(result)
        if options.verbose or result[2].kind not in GOOD:
            print(f"{result[2].kind:>15}  {result[0]:<20} {result[1]}: {result[2].detail[:300]}", flush=True)
    print_counts(results, len(cases), time.monotonic() - start)
    return 0 if is_reached(results) and len(results) == len(cases) else 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bad", type=int, default=2000, help="bad or odd inputs")
    parser.add_argument("--valid", type=int, default=200, help="random valid problems")
    parser.add_argument("--topic", choices=TOPICS, action="append", help="only this topic; can be repeated")
    parser.add_argument("--only", help="run one case in this process")
    parser.add_argument("--minutes", type=float, default=30, help="begin no case after so long")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="print every case")
    return parser.parse_args()


def list_cases(seed: int, bad: int, valid: int, topics: list[str] | None = None) -> list[str]:
    """Return the ids of the cases, topics in turn."""
    wanted = {topic: round(bad * share) for topic, share in SHARES.items()} | {"valid": valid}
    cases = [f"{topic}:{seed}:{number}" for topic, count in wanted.items() for number in range(count)]
    return [case for case in cases if topics is None or case.split(":")[0] in topics]


def is_reached(results: list[Result]) -> bool:
    """Tell whether nothing died, was slow or nonsense, and under 1 % was vague."""
    counts = Counter(result[2].kind for result in results)
    return not (counts[DIED] or counts[SLOW] or counts[NONSENSE]) and counts[VAGUE] < 0.01 * len(results)


def print_counts(results: list[Result], asked: int, seconds: float) -> None:
    by_topic = Counter((result[0].split(":")[0], result[2].kind) for result in results)
    print(f"\n{'':<14}" + "".join(f"{kind:>17}" for kind in OUTCOMES))
    for topic in TOPICS:
        print(f"{topic:<14}" + "".join(f"{by_topic[topic, kind]:>17}" for kind in OUTCOMES))
    totals = Counter(result[2].kind for result in results)
    print(f"{'all':<14}" + "".join(f"{totals[kind]:>17}" for kind in OUTCOMES))
    slowest = max(results, key=lambda result: result[3], default=None)
    vague = 100 * totals[VAGUE] / max(len(results), 1)
    print(f"{len(results)} of {asked} cases in {seconds:.0f} s; vague: {vague:.2f} %", end="")
    print(f"; slowest {slowest[0]}: {slowest[3]:.1f} s" if slowest else "")


if __name__ == "__main__":
    raise SystemExit(main())
