"""A part of `benchmarks/fuzz.py`: it finds nothing, and would find what is broken."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview import FSSMSC, ActiveSet
from anchorview.datasets import hide_labels, make_multiview_subspaces

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
pytestmark = pytest.mark.skipif(not (BENCHMARKS / "fuzzing").is_dir(), reason="benchmarks are not in this installation")
fuzz = pytest.importorskip("fuzz", reason="needs the packages whose objects are read: pandas, polars, mudata, h5py")

ENDLESS = {"child died", "over a minute"}
BAD_TOPICS = tuple(topic for topic in fuzz.TOPICS if topic != "valid")


def run(identities: list[str], seconds: float = 60) -> list[Any]:
    return list(fuzz.run_all(identities, 1, seconds, time.monotonic() + 600))


def test_a_part_of_the_fuzzer_finds_nothing() -> None:
    results = run([f"{topic}:1:{number}" for topic in BAD_TOPICS for number in range(4)])
    assert len(results) == 32
    assert [result for result in results if result[2].kind not in ("clear error", "fine")] == []


def test_the_same_id_is_the_same_case() -> None:
    assert [fuzz.make_case("labels:3:5").what for _ in range(2)] == [fuzz.make_case("labels:3:5").what] * 2
    assert len({fuzz.make_case(f"parameters:0:{n}").what for n in range(40)}) > 30


def test_the_command_asks_for_thousands() -> None:
    cases = fuzz.list_cases(0, 2000, 200)
    assert len(cases) == len(set(cases)) == 2200
    assert {case.split(":")[0] for case in cases} == set(fuzz.TOPICS)


def broken() -> dict[str, str]:
    """Return the ids of cases that come out badly, by how."""
    from support.fuzz_broken import CASES

    number_of: dict[str, str] = {}
    for number in range(150):
        number_of.setdefault(fuzz.make_case(f"support.fuzz_broken:0:{number}").what, f"support.fuzz_broken:0:{number}")
    return {name: number_of[case.what] for name, case in CASES.items()}


def test_what_is_broken_is_noticed() -> None:
    """In this process, but for what would end it, or never end."""
    run_case = sys.modules["fuzzing.pool"].run_case
    found = {name: run_case(identity) for name, identity in broken().items() if name not in ENDLESS}
    assert len(found) == 9
    assert {name: outcome.kind for name, (_, outcome) in found.items()} == {name: name.split(",")[0] for name in found}


@pytest.mark.slow
def test_what_is_broken_is_blamed() -> None:
    """In processes of its own, two of which are replaced."""
    identities = broken()
    assert set(identities) >= ENDLESS
    results = {result[0]: result for result in run(list(identities.values()), seconds=3)}
    for name, identity in identities.items():
        assert results[identity][2].kind == name.split(",")[0], f"{name}: {results[identity]}"
    assert not fuzz.is_reached(list(results.values()))
    good = [result for result in results.values() if result[2].kind in ("clear error", "fine")]
    assert len(good) == 2
    assert fuzz.is_reached(good)


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_random_problems_end_well(part: int) -> None:
    """Without an exception, with planted clusters found, and whatever the order of columns, views and rows."""
    run_case = sys.modules["fuzzing.pool"].run_case
    outcomes = {f"valid:7:{n}": run_case(f"valid:7:{n}") for n in range(25 * part, 25 * part + 25)}
    assert {key: outcome for key, outcome in outcomes.items() if outcome[1].kind != "fine"} == {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of the process from /proc")
def test_two_hundred_fits_leak_nothing() -> None:
    made = make_multiview_subspaces(400, 3, (20, 10), random_state=0, dtype="float64")  # 96 kB
    y = hide_labels(made.target, 0.2, random_state=0)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def fit(times: int) -> None:
        for seed in range(times):
            FSSMSC(n_landmarks=20, random_state=seed, n_jobs=1, solver=ActiveSet(max_iter=3)).fit(
                [v.copy() for v in made.data], y
            )

    fit(50)
    before = resident()
    fit(150)
    assert resident() - before < 6e6  # one view kept per fit would be 9.6 MB


def test_generators_are_seeded() -> None:
    first, second = (sys.modules["fuzzing.problems"].plant(np.random.default_rng(4)) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first.views, second.views, strict=True))
