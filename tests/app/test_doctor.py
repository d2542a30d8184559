"""`anchorview doctor`: what it finds is true of this machine, and can be read by people and programs."""

from __future__ import annotations

import json
import os
from importlib import metadata
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from anchorview import FSSMSC
from anchorview.app.cli import app
from anchorview.app.doctor import examine
from anchorview.app.doctor_command import sections
from anchorview.app.extras import find_extras
from anchorview.cost.estimate import memory_left


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return examine()


def test_what_is_found_is_so(found: dict[str, Any]) -> None:
    assert found["versions"]["numpy"] == np.__version__
    assert found["machine"]["cores"] == os.cpu_count()
    assert 1 <= found["machine"]["usable_cores"] <= os.cpu_count()
    assert found["blas"]
    assert all(os.path.exists(one["file"]) and one["threads"] >= 1 for one in found["blas"])
    assert json.loads(json.dumps(found)) == found


def test_the_size_that_fits_is_what_the_estimate_says(found: dict[str, Any]) -> None:
    free, threads = found["memory"]["free"], found["machine"]["threads"]
    for one in found["fits"]:
        rows, features = one["rows"], one["features"]
        model = FSSMSC(n_landmarks=one["landmarks"], n_jobs=threads)

        def needed(n_rows: int, features: int = features, model: FSSMSC = model) -> int:
            estimate = model.estimate_memory(n_rows, features, 10, n_labelled=int(0.02 * n_rows))
            return estimate.total + 4 * n_rows * features

        assert needed(rows) <= free < needed(int(1.01 * rows))


def test_wider_data_have_room_for_fewer_rows(found: dict[str, Any]) -> None:
    rows = [one["rows"] for one in found["fits"]]
    assert rows == sorted(rows, reverse=True)


def test_extras_are_those_of_the_package() -> None:
    extras = find_extras()
    assert {"cli", "bench"} <= {one["extra"] for one in extras}
    assert "dev" not in {one["extra"] for one in extras}
    rich = next(one for one in extras if one["package"] == "rich")
    assert (rich["installed"], rich["recent"]) == (metadata.version("rich"), True)


def test_extras_that_are_missing_or_old() -> None:
    texts = [
        "numpy>=1.26",
        'none-such>=2.0; extra == "cloud"',
        'numpy>=999; extra == "cloud"',
        "anchorview[cloud]; extra == 'all'",
        'scipy; python_version >= "3" and extra == "all"',
        'pytest>=9; extra == "dev"',
    ]
    found = {(one["extra"], one["package"]): one for one in find_extras(texts)}
    assert set(found) == {
        ("cloud", "none-such"),
        ("cloud", "numpy"),
        ("all", "none-such"),
        ("all", "numpy"),
        ("all", "scipy"),
    }
    assert found["cloud", "none-such"]["installed"] is None
    assert found["cloud", "none-such"]["command"] == "pip install 'anchorview[cloud]'"
    assert found["cloud", "numpy"]["installed"] == np.__version__
    assert not found["cloud", "numpy"]["recent"]
    assert found["all", "scipy"]["recent"]


@pytest.mark.parametrize(
    ("installed", "least", "recent"),
    [("1.10.0", "1.9", True), ("1.9", "1.10", False), ("2.0", "2", True), ("3.0rc1", "3", True)],
)
def test_versions_are_compared_as_numbers(installed: str, least: str, recent: bool) -> None:
    from anchorview.app.extras import _numbers

    assert (_numbers(installed) >= _numbers(least)) is recent


def test_as_words_and_as_json() -> None:
    plain = CliRunner().invoke(app, ["doctor"])
    assert plain.exit_code == 0
    assert f"  numpy: {np.__version__}" in plain.stdout.splitlines()
    assert "The largest FSSMSC fit for which memory is enough, input included" in plain.stdout
    assert "\x1b" not in plain.stdout
    as_json = CliRunner().invoke(app, ["doctor", "--json"])
    assert json.loads(as_json.stdout)["versions"]["numpy"] == np.__version__


def changed(found: dict[str, Any], **changes: dict[str, Any]) -> str:
    from anchorview.app.doctor import _advice

    return " ".join(_advice({**found, **{name: {**found[name], **parts} for name, parts in changes.items()}}))


def test_advice(found: dict[str, Any]) -> None:
    quiet = {"threads": 2, "usable_cores": 2}
    assert "set OMP_NUM_THREADS=2" in changed(found, machine={"threads": 8, "usable_cores": 2})
    assert "Fits use 1 of 2 cores" in changed(found, machine={"threads": 1, "usable_cores": 2})
    assert "cores" not in changed(found, machine=quiet)
    little = {"free": 10**8, "left_by": {"machine": 10**10, "control group": 10**8}}
    assert "Only 100 MB of memory are left (control group)" in changed(found, memory=little)
    assert "the first fit compiles" in changed(found, kernels={"compiled": 0})
    assert "NUMBA_CACHE_DIR" in changed(found, kernels={"writable": False})


def test_missing_packages_are_shown_with_the_command(found: dict[str, Any]) -> None:
    extras = find_extras(['none-such>=2; extra == "cloud"', 'numpy; extra == "cloud"'])
    lines = dict(dict(sections({**found, "extras": extras}))["Optional packages"])
    assert lines == {"cloud": f"none-such missing, numpy {np.__version__}; pip install 'anchorview[cloud]'"}


def test_a_system_that_tells_nothing(found: dict[str, Any], tmp_path: Any) -> None:
    assert "machine" in memory_left()
    unknown = {**found, "memory": {"free": None, "left_by": {}}, "fits": [], "blas": [], "advice": [], "extras": []}
    words = dict(sections(unknown))
    assert words["Memory"] == [("free", "unknown: the system does not tell")]
    assert words["Advice"] == [("", "nothing to improve")]
