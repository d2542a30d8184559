"""Memory, told beforehand, and how much there is."""

from __future__ import annotations

import re
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from anchorview import ADMM, FSSMSC, AnchorViewClassifier, Views, datasets
from anchorview.cost.estimate import available_memory, check_memory
from support.processes import run
from support.settled import CHOSEN, settle


def test_a_fit_that_cannot_succeed_is_refused_with_the_numbers() -> None:
    """Between a million landmarks there are 10¹² products, more than any machine holds."""
    data = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)
    model = FSSMSC(landmarks=np.zeros((10**6, 14), dtype=np.float32))
    message = r"needs about \d{6}\.\d GB beyond the input .*; \d+\.?\d* [GM]B are available.*n_landmarks"
    with pytest.raises(MemoryError, match=message):
        model.fit(data.views, data.target)


def test_memory_is_refused_where_it_is_known_and_too_small() -> None:
    estimate = FSSMSC().estimate_memory(100_000, 500)
    check_memory(estimate, estimate.total)
    check_memory(estimate, None)  # where the system does not tell, a fit is tried
    with pytest.raises(MemoryError, match=r"; 0 MB are available.*n_landmarks.*float32.*limit"):
        check_memory(estimate, 10_000)


def test_estimate_grows_with_what_a_fit_holds() -> None:
    small, large = (FSSMSC(n_jobs=1).estimate_memory(n, 500).total for n in (100_000, 1_000_000))
    assert 3.5 * small < large < 10.5 * small
    assert FSSMSC(solver="admm").estimate_memory(100_000, 500).total > 5 * small
    wide = FSSMSC(solver=ADMM(dtype="float64")).estimate_memory(100_000, 500).total
    assert wide == pytest.approx(2 * FSSMSC(solver="admm").estimate_memory(100_000, 500).total, rel=0.1)
    assert FSSMSC(n_jobs=1).estimate_memory(100_000, 500, dtype=np.float64).total > 1.3 * small
    assert FSSMSC(n_jobs=1).estimate_memory(100_000, 500, n_labelled=100_000).total > 1.4 * small
    assert FSSMSC(landmarks=np.ones((20, 500))).estimate_memory(100, 500).total > 0
    with pytest.raises(ValueError, match="Pass n_rows and n_features"):
        FSSMSC().estimate_memory(1000)


def test_an_estimate_from_data_changes_nothing() -> None:
    data = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)
    model = FSSMSC(n_landmarks=20)
    before = dict(vars(model))
    estimate = model.estimate_memory(X=data.views, y=data.target)
    assert vars(model) == before
    assert 0 < estimate.total < 1e8
    with pytest.raises(NotFittedError):
        model.predict(data.views)


CASES = {
    "non-negative": {},
    "float64": {"dtype": np.float64},
    "signed-all-labelled": {"signed": True, "labelled": 1.0, "n_rows": 25_000},
    "sparse": {"is_sparse": True},
    "many-classes": {"n_classes": 30},
    "missing": {"missing": True},
    "codes-in-files": {"memory_limit": 0},
    "admm": {"solver": "admm"},
}
MORE_CASES = {
    "signed": {"signed": True},
    "all-labelled": {"labelled": 1.0},
    "admm-all-labelled": {"solver": "admm", "labelled": 1.0, "n_rows": 25_000},
}


def make_rows(
    n_rows: int,
    *,
    signed: bool = False,
    dtype: type = np.float32,
    labelled: float = 0.02,
    is_sparse: bool = False,
    n_classes: int = 5,
    missing: bool = False,
) -> tuple[Views, np.ndarray]:
    """Return two views and labels."""
    rng = np.random.default_rng(0)
    target = rng.integers(n_classes, size=n_rows)
    if is_sparse:
        arrays = [sparse.random_array((n_rows, 200), density=0.1, dtype=dtype, rng=rng, format="csr") for _ in "ab"]
    else:
        arrays = [rng.standard_normal((n_rows, 10)) + rng.standard_normal((n_classes, 10))[target] for _ in "ab"]
        arrays = [(array if signed else np.abs(array)).astype(dtype) for array in arrays]
    mask = np.ones((n_rows, 2), dtype=bool)
    mask[::3, 0] = False
    y = target if labelled == 1 else datasets.hide_labels(target, labelled, random_state=0)
    return Views(arrays, mask=mask if missing else None), y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.thorough) for case in MORE_CASES)])
def test_a_fit_takes_what_the_estimate_says(case: str) -> None:
    """By the arrays that NumPy allocates; benchmarks/memory.py looks at processes, at sizes where it matters."""
    settings = dict((CASES | MORE_CASES)[case])
    solver = settings.pop("solver", "active_set")
    scaling = {"scaling": "lsa"} if settings.get("is_sparse") else {}
    limit, n_rows = settings.pop("memory_limit", None), settings.pop("n_rows", 50_000)
    options = {**scaling, "solver": solver, "solver__units": "paper", "solver__max_iter": 3}
    options |= {} if limit is None else {"solver__memory_limit": limit}
    model = settle(**options, n_landmarks=40, n_jobs=1, random_state=0)
    views, y = make_rows(n_rows, **settings)
    model.fit(views, y)  # loads everything; kernels for many rows may have to be compiled
    estimate = model.estimate_memory(X=views, y=y)
    tracemalloc.start()
    model.fit(views, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 / 1.25 < estimate.total / taken < 1.25


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str, int | str], None]:
    """Write the files of a system of one's own, with 8 GB free."""

    def write(name: str, content: int | str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")

    write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:  1000 kB\nMemAvailable:    8000000 kB")
    write("proc/self/cgroup", "0::/")
    return write


def test_memory_of_the_machine(machine: Any, tmp_path: Path) -> None:
    assert available_memory(root=tmp_path) == 8_000_000 * 1024
    available = available_memory()
    assert available is None or 10**7 < available < 10**15


def test_memory_of_control_groups_version_2(machine: Any, tmp_path: Path) -> None:
    """The least that is left in the group of the process or in one above it counts; "max" is no limit."""
    machine("proc/self/cgroup", "0::/user/job")
    for group, limit, used in (("", "max", 9000), ("user/", 3000, 1000), ("user/job/", "max", 500)):
        machine(f"sys/fs/cgroup/{group}memory.max", limit)
        machine(f"sys/fs/cgroup/{group}memory.current", used)
    assert available_memory(root=tmp_path) == 2000
    machine("sys/fs/cgroup/user/job/memory.max", 700)
    assert available_memory(root=tmp_path) == 200
    machine("sys/fs/cgroup/user/job/memory.stat", "anon 400\ninactive_file 60\nactive_file 40")
    assert available_memory(root=tmp_path) == 260  # cached files are given back


def test_memory_of_control_groups_version_1(machine: Any, tmp_path: Path) -> None:
    machine("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job/inner\n0::/")
    for group, limit, used in (("", 2**63 - 4096, 9000), ("job/", 5000, 1000), ("job/inner/", 4500, 800)):
        machine(f"sys/fs/cgroup/memory/{group}memory.limit_in_bytes", limit)
        machine(f"sys/fs/cgroup/memory/{group}memory.usage_in_bytes", used)
    assert available_memory(root=tmp_path) == 3700
    machine("sys/fs/cgroup/memory/job/memory.usage_in_bytes", 4000)
    machine("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 30")
    assert available_memory(root=tmp_path) == 1030


def test_a_container_sees_its_group_as_the_top(machine: Any, tmp_path: Path) -> None:
    machine("proc/self/cgroup", "0::/system.slice/docker-0123.scope")
    machine("sys/fs/cgroup/memory.max", 10_000)
    machine("sys/fs/cgroup/memory.current", 4_000)
    assert available_memory(root=tmp_path) == 6_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process(limit: str) -> None:
    import resource

    which = getattr(resource, limit)
    before = resource.getrlimit(which)
    room = 50 * 2**30 if available_memory() is None else available_memory() // 2
    used = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    in_use = int(used["VmSize" if limit == "RLIMIT_AS" else "VmData"].split()[0]) * 1024
    resource.setrlimit(which, (in_use + room, before[1]))
    try:
        assert room - 500 * 2**20 < available_memory() < room + 50 * 2**20
    finally:
        resource.setrlimit(which, before)


@pytest.mark.parametrize(
    ("kind", "signed"),
    [
        (FSSMSC, False),
        (AnchorViewClassifier, True),
        pytest.param(FSSMSC, True, marks=pytest.mark.thorough),
        pytest.param(AnchorViewClassifier, False, marks=pytest.mark.thorough),
    ],
)
def test_wide_rows_take_what_the_estimate_says(kind: Any, signed: bool) -> None:
    """The choice and the search hold wide rows, landmarks and products: more than the codes."""
    rng = np.random.default_rng(0)
    target = rng.integers(4, size=1600)
    lengths = rng.uniform(0.5, 2.0, (1600, 1))  # no embedding, whose rows are all as long
    array = lengths * (rng.standard_normal((1600, 2500)) + rng.standard_normal((4, 2500))[target])
    views = Views([(array if signed else np.abs(array)).astype(np.float32)])
    y = datasets.hide_labels(target, 0.05, random_state=0)
    model = kind(n_landmarks=100, n_jobs=1, random_state=0)
    estimate = model.estimate_memory(X=views, y=y)
    assert model.estimate_memory(*views.shape, 4, n_labelled=80).total == pytest.approx(estimate.total, rel=0.5)
    tracemalloc.start()
    model.fit(views, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.7 < estimate.total / taken < 1.3  # arrays alone: what the allocator keeps comes on top


MEASURED = """
import numpy as np
from anchorview import FSSMSC, AnchorViewClassifier, datasets
from anchorview.bench.process import reset_peak, resident_bytes
from anchorview.cost.estimate import give_back

def make(n_rows, n_features):
    rng = np.random.default_rng(0)
    target = rng.integers(4, size=n_rows)
    rows = rng.standard_normal((n_rows, n_features)) + rng.standard_normal((4, n_features))[target]
    return [np.abs(rows).astype(np.float32)], datasets.hide_labels(target, 0.05, random_state=0)

{kind}(n_landmarks=20, n_jobs=1, random_state=0).fit(*make(300, 60))  # loads and compiles everything
views, y = make({n_rows}, {n_features})
model = {kind}(n_landmarks={n_landmarks}, n_jobs=1, random_state=0)
give_back()
before = reset_peak()
model.fit(views, y)
peak = resident_bytes(peak=True) - before
print(model.estimate_memory(X=views, y=y).total / peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process as Linux tells it")
@pytest.mark.parametrize("shape", [(3000, 3000, 200), (60_000, 30, 200)], ids=["wide", "tall"])
@pytest.mark.parametrize("kind", ["FSSMSC", "AnchorViewClassifier"])
def test_a_process_takes_what_the_estimate_says(kind: str, shape: tuple[int, int, int]) -> None:
    n_rows, n_features, n_landmarks = shape
    script = MEASURED.format(kind=kind, n_rows=n_rows, n_features=n_features, n_landmarks=n_landmarks)
    assert 0.7 < float(run([sys.executable, "-c", script]).stdout) < 1.3


def test_an_estimate_names_the_stage_and_what_takes_the_memory() -> None:
    wide = str(FSSMSC(n_jobs=1).estimate_memory(3000, 8000, n_labelled=150))
    assert "in the stage 'choice'" in wide
    assert "sample of the rows 48 MB" in wide  # 1,500 rows of 8,000 numbers of 4 bytes
    search = str(AnchorViewClassifier(n_jobs=1).estimate_memory(20_000, 784, n_labelled=400))
    assert "products of each scaling 160 MB" in search  # 20,000 rows × 500 landmarks × 4 bytes, for four scalings
    with pytest.raises(ValueError, match="Pass n_rows and n_features"):
        AnchorViewClassifier().estimate_memory(1000)


def test_a_search_that_cannot_succeed_is_refused_with_the_numbers() -> None:
    data = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)
    model = AnchorViewClassifier(n_landmarks=50)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anchorview.fitting.searching.available_memory", lambda n_threads: 10_000)
        with pytest.raises(MemoryError, match=r"beyond the input .*; 0 MB are available.*n_landmarks.*use FSSMSC"):
            model.fit(data.views, data.target)
    assert not hasattr(model, "labels_")


LIMITED = """
import resource, sys
import numpy as np
from anchorview import FSSMSC, AnchorViewClassifier
rng = np.random.default_rng(0)
views, y = [np.abs(rng.standard_normal(({n_rows}, 10), dtype=np.float32))], rng.integers(3, size={n_rows})
{before}
used = {{line.split()[0]: int(line.split()[1]) * 1024 for line in open("/proc/self/status") if "kB" in line}}
resource.setrlimit(resource.{limit}, [used["{field}:"] + {room} * 2**20] * 2)
try:
    {kind}(**{settled}, n_landmarks={n_landmarks}, n_jobs=1, random_state=0).fit(views, y)
    print("fitted")
except MemoryError as error:
    print("MemoryError:", error)
"""


def fit_under(limit: str, room: int, n_rows: int, n_landmarks: int = 40, before: str = "", kind: str = "FSSMSC") -> str:
    """Fit in a process that may have so many MB more, and return what it prints; it must not be killed."""
    field = {"RLIMIT_AS": "VmSize", "RLIMIT_DATA": "VmData"}[limit]
    values = {"n_rows": n_rows, "n_landmarks": n_landmarks, "before": before}
    values |= {"kind": kind, "settled": CHOSEN if kind == "FSSMSC" else {"n_averaged": 2}}
    script = LIMITED.format(limit=limit, field=field, room=room, **values)
    return run([sys.executable, "-c", script]).stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
def test_a_limit_of_the_process_is_honoured() -> None:
    """A clear error, not an abort: before anything is loaded, and when there is room for all but the codes."""
    refused = r"MemoryError: This fit needs about .*; \d+ MB are available.*n_landmarks.*float32.*limit"
    kernels = "import anchorview.solver.kernels, anchorview.features.kernels"
    assert re.match(refused, fit_under("RLIMIT_AS", 30, 2000))
    assert re.match(refused, fit_under("RLIMIT_AS", 130, 200_000, before=kernels))
    assert fit_under("RLIMIT_AS", 900, 2000) == "fitted\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
def test_a_limit_of_the_process_is_honoured_by_the_search() -> None:
    """OpenBLAS ends the process where it gets no memory: the search must not come so far."""
    refused = r"MemoryError: This fit needs about .*; \d+ MB are available.*n_landmarks.*FSSMSC.*limit"
    assert re.match(refused, fit_under("RLIMIT_AS", 30, 600, kind="AnchorViewClassifier"))
    assert re.match(refused, fit_under("RLIMIT_AS", 200, 600, kind="AnchorViewClassifier"))
    assert fit_under("RLIMIT_AS", 900, 600, kind="AnchorViewClassifier") == "fitted\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
def test_memory_that_runs_out_all_the_same_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    data = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)

    def tell(iteration: Any) -> None:
        raise MemoryError("Unable to allocate 3.2 GiB")

    model = FSSMSC(n_landmarks=20)
    monkeypatch.setattr("anchorview.core.progress.Progress.end_round", lambda self, iteration: tell(iteration))
    with pytest.raises(MemoryError, match=r"Unable to allocate 3\.2 GiB; the fit was given up\. Lower n_landmarks"):
        model.fit(data.views, data.target)
