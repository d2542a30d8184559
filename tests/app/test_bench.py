"""`anchorview bench`, as a user types it: on tiny data, interrupted, resumed, limited, and given nonsense."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from anchorview import datasets
from anchorview.app.cli import app
from anchorview.bench.experiments.common import Summary, alike_cells
from anchorview.bench.experiments.label_ratio import label_ratios
from anchorview.bench.jobs import fit_once
from anchorview.bench.methods import METHODS
from anchorview.bench.output import Output
from anchorview.report.document import Section, Table
from anchorview.report.page import make_page
from support.browser import find_browser
from support.processes import run, started

FEW = ["--method", "FSSMSC", "--method", "mvar"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--window-size=1300,900"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tiny data set."""
    folder = tmp_path_factory.mktemp("data")
    made = datasets.make_multiview_subspaces(240, 3, noise=0.1, random_state=0)
    views = {f"v{number}": view for number, view in enumerate(made.data)}
    np.savez(folder / "tiny.npz", y=made.target, view_names=made.view_names, **views)
    return folder


@pytest.fixture(scope="module")
def everything(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of all experiments on tiny data; a test that changes them works on a copy."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "everything"
    out, done = folder / "bench", folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:  # another worker makes them
        deadline = time.monotonic() + 600
        while not done.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
    else:
        try:
            run_everything(data, out)
        finally:
            done.touch()
    assert (out / "report.html").exists()
    return out


def run_everything(data: Path, out: Path) -> None:
    words = ["all", "--data", str(data), *FEW, "--quick", "--repeats", "2", "--labels", "0.1"]
    result = invoke(*words, "--rows", "400", "--rows", "800", "--out", str(out))
    assert result.exit_code == 0, result.output


def invoke(*words: str) -> Any:
    return CliRunner().invoke(app, ["bench", *words])


def lines(out: Path) -> list[str]:
    return (out / "records.jsonl").read_text().splitlines()


def test_all_experiments_leave_tables_figures_and_a_page(everything: Path) -> None:
    names = ["comparison", "sensitivity", "convergence", "label-ratio-tiny", "ablation-parts-fssmsc", "time", "flops"]
    names += ["flops-graphs", "memory", "memory-peak", "scaling", "ablation-coupling-fssmsc"]
    names += ["comparison-lead", "ablation-loss-fssmsc"]
    for name in names:
        assert (everything / "tables" / f"{name}.md").stat().st_size > 100
        tex = (everything / "tables" / f"{name}.tex").read_text()
        assert tex.count(r"\begin{tabular}") == 1
        body = [line for line in tex.splitlines() if " & " in line]
        assert len({line.count(" & ") for line in body}) == 1  # every row has all columns
    figures = [
        "sensitivity-plane-fssmsc",
        "sensitivity-l1-fssmsc",
        "convergence",
        "label-ratio-tiny",
        "time",
        "scaling",
    ]
    for name in figures:
        assert (everything / "figures" / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert "<svg" in (everything / "figures" / f"{name}.svg").read_text()
    page = (everything / "report.html").read_text()
    assert page.count("data:image/png;base64,") == len(figures)
    assert not re.search(r'(src|href)="(?!data:|#)', page)  # self-contained
    environment = json.loads((everything / "environment.json").read_text())
    assert {"cpu", "blas", "versions", "commit"} <= set(environment)
    assert environment["cpu"] in page


def test_scores_are_those_of_the_methods(everything: Path, data: Path) -> None:
    """The cell of the table is the mean of the recorded runs, and these are what a fit gives."""
    found = [json.loads(line) for line in lines(everything)]
    runs = [e for e in found if e["key"].get("task") == "fit" and e["key"]["method"] == "MVAR"]
    runs = [e for e in runs if e["key"]["fraction"] == 0.1 and "n_rows" not in e["key"]]
    assert sorted(e["key"]["seed"] for e in runs) == [0, 1]
    mean = np.mean([e["result"]["value"]["acc"] for e in runs])
    table = (everything / "tables" / "comparison.md").read_text()
    row = next(line for line in table.splitlines() if line.startswith("| tiny, default"))
    assert re.sub(r"[*]|</?u>", "", row.split("|")[2]).split()[0] == f"{mean:.1f}"

    ours = [e for e in found if e["key"].get("task") == "fit" and e["key"]["method"] == "FSSMSC"]
    ours = [e for e in ours if e["key"]["fraction"] == 0.1 and "n_rows" not in e["key"]]
    default = METHODS["FSSMSC"].all_parameters({"scaling": "minmax"})
    ours = [e["result"]["value"]["acc"] for e in ours if e["key"]["parameters"] == default]
    gaps = np.array(ours) - [e["result"]["value"]["acc"] for e in runs]
    table = (everything / "tables" / "comparison-lead.md").read_text()
    assert f"{gaps.mean():+.1f} ± {gaps.std(ddof=1) / np.sqrt(2):.1f}" in table

    again = fit_once(str(data / "tiny.npz"), "MVAR", {}, 1, 0.1)
    assert again["acc"] == next(e["result"]["value"]["acc"] for e in runs if e["key"]["seed"] == 1)
    assert all(e["result"]["environment"] for e in runs)


def test_nothing_is_computed_twice(everything: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    shutil.copytree(everything, out)
    before = lines(out)
    words = ["comparison", "--data", str(data), *FEW, "--quick", "--repeats", "2", "--labels", "0.1"]
    done = invoke(*words, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "0 runs made" in done.output
    assert lines(out) == before
    assert "Ablation" in (out / "report.html").read_text()  # what earlier calls made stays on the page


def test_three_ways_to_choose_parameters(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    words = ["comparison", "--data", str(data), "--method", "MVAR", "--method", "AMGL", "--quick", "--repeats", "2"]
    words += ["--select", "oracle", "--select", "cv", "--select", "default", "--labels", "0.1", "--out", str(out)]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    table = (out / "tables" / "comparison.md").read_text()
    assert [f"tiny, {how}" in table for how in ("oracle", "cv", "default")] == [True] * 3
    entries = [json.loads(line) for line in lines(out)]
    chosen = [e for e in entries if e["key"].get("task") == "choose" and e["key"]["method"] == "MVAR"]
    assert len(chosen) == 2
    for entry in chosen:
        value = entry["result"]["value"]
        assert value["parameters"] in entry["key"]["parameters"]
        assert 0 < value["hidden_acc"] <= 100
    tried = {json.dumps(e["key"]["parameters"], sort_keys=True) for e in entries if e["key"].get("task") == "fit"}
    assert len(tried) >= 4 + 2  # the shortened grid of MVAR, both of AMGL


@pytest.mark.slow
def test_our_tuned_method_stands_beside_the_others(data: Path, tmp_path: Path) -> None:
    """The tuned estimator has a marked column; it does not see evaluation labels, so it has no cell for "oracle"."""
    words = [
        "comparison",
        "--data",
        str(data),
        "--method",
        "FSSMSC",
        "--method",
        "AnchorViewClassifier",
        "--method",
        "MVAR",
    ]
    words += ["--method", "k-means", "--quick", "--repeats", "1", "--select", "default", "--select", "oracle"]
    done = invoke(*words, "--labels", "0.15", "--out", str(tmp_path / "o"))
    assert done.exit_code == 0, done.output
    table = (tmp_path / "o" / "tables" / "comparison.md").read_text()
    header, _, _, default, oracle = table.splitlines()[2:7]
    assert [cell.strip() for cell in header.split("|")[2:6]] == [
        "MVAR",
        "FSSMSC ★",
        "AnchorViewClassifier ★",
        "k-means°",
    ]
    assert re.match(r"\D*\d+\.\d", default.split("|")[4])
    assert oracle.split("|")[4].strip() == "–"
    page = (tmp_path / "o" / "report.html").read_text()
    assert '<th class="ours">AnchorViewClassifier<span class="tag">ours</span></th>' in page
    assert "k-means°" in page


def test_methods_without_labels_are_not_ranked_with_the_others() -> None:
    """They are scored on all rows, and see no draw of labels; so are methods that lack draws."""
    methods = [METHODS[name] for name in ("k-means", "LMVSC", "MVAR", "FSSMSC", "AnchorViewClassifier", "Logistic")]
    means, seeds = (99.9, 90.0, 95.0, 97.0, 96.0, 99.0), ([0, 1],) * 5 + ([0],)
    row = [Summary([{"acc": mean}] * len(some), list(some)) for mean, some in zip(means, seeds, strict=True)]
    marks = [cell.mark for cell in alike_cells(row, methods, "acc")]
    assert marks == ["best", "second", "", "best", "second", ""]


def test_a_quick_look_at_label_ratios_is_a_curve(everything: Path) -> None:
    table = (everything / "tables" / "label-ratio-tiny.md").read_text()
    assert re.findall(r"(?m)^\| (\d+) % ", table) == ["5", "20", "30"] * 3


@pytest.mark.parametrize("n_classes", [2, 10, 100])
@pytest.mark.parametrize("n_rows", [100, 240, 2000, 9_999, 10_000, 100_000])
@pytest.mark.parametrize("quick", [False, True])
def test_every_curve_has_three_points(n_rows: int, n_classes: int, quick: bool) -> None:
    ratios = label_ratios(n_rows, n_classes, quick)
    assert len(ratios) >= 3
    assert list(ratios) == sorted(set(ratios))
    assert ratios[0] > 0 and ratios[-1] < 0.9


# What goes wrong


@pytest.fixture(scope="module")
def infinite(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that can be read but not fitted, with a name to trip over."""
    with np.load(data / "tiny.npz") as stored:
        entries = {key: stored[key] for key in stored.files}
    entries["v0"][3, 1] = np.inf
    path = tmp_path_factory.mktemp("bad") / r"$\frac{$ [red]x_|.npz"
    np.savez(path, **entries)
    return path


def test_every_run_failed(infinite: Path, tmp_path: Path) -> None:
    words = ["--data", str(infinite), *FEW, "--quick", "--repeats", "2", "--out", str(tmp_path / "o")]
    done = invoke("label-ratio", *words)
    assert done.exit_code == 1, done.output
    assert "12 of 12 runs gave no scores (12 with an error)" in done.output
    assert r"$\frac{$ [red]x_| MVAR: ValueError: View 'view0' contains infinity" in done.output
    assert "Traceback" not in done.output
    text = (tmp_path / "o" / "report.md").read_text()
    assert r"\$\\frac{\$ \[red\]x\_\|: scores against" in text
    assert "Failed: ValueError: View 'view0' contains infinity" in text


def test_some_runs_failed(infinite: Path, data: Path, tmp_path: Path) -> None:
    words = ["--data", str(infinite), "--data", str(data), "--method", "MVAR", "--quick", "--repeats", "1"]
    done = invoke("comparison", *words, "--out", str(tmp_path / "o"))
    assert done.exit_code == 3, done.output
    assert "1 of 2 runs gave no scores (1 with an error)" in done.output


def test_two_processes_do_not_work_on_one_folder(data: Path, tmp_path: Path) -> None:
    with Output(tmp_path / "o", ()) as output:
        done = invoke("flops", "--data", str(data), "--out", str(tmp_path / "o"))
        assert done.exit_code == 1
        assert f"in use by another anchorview bench (process {os.getpid()} on" in done.output
        assert len(output.records) == 0


def test_data_is_read_in_the_child(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(place: str) -> None:
        raise AssertionError("read in the parent")

    monkeypatch.setattr("anchorview.bench.sources.load_dataset", fail)
    monkeypatch.setattr("anchorview.bench.jobs.load_dataset", fail)
    large = tmp_path / "large.npz"
    np.savez(large, y=np.arange(20) % 2, v0=np.ones((20, 800_000)))  # 128 MB
    done = invoke("flops", "--data", str(large), "--memory-limit", "0.2", "--out", str(tmp_path / "p"))
    assert done.exit_code == 2
    assert f"{large} cannot be read: it takes more memory than the 0.2 GB allowed" in done.output
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "afile"], "afile is a file"),
        (["--out", "afile/x"], "afile is a file"),
        (["--out", "/proc/nope"], "/proc/nope cannot hold the results"),
        (["--out", "n" * 300], "File name too long"),
        (["--out", "folder"], "Is a directory"),
        (["--out", "blocked"], "blocked cannot hold the results (blocked/figures is a file)"),
        (["--out", "odd"], "line 1, is not a result record"),
        (["--memory-limit", "inf"], "--memory-limit is inf"),
        (["--memory-limit", "nan"], "--memory-limit"),
        (["--labels", "nan"], "--labels"),
        (["--seed", "-1"], "--seed"),
        (["--repeats", "1000000000000"], "--repeats"),
        (["--data", "afile"], "neither a .npz nor a .mat file"),
        (["--data", "flipped.npz"], "flipped.npz cannot be read: Bad CRC-32"),
    ],
)
def test_mistakes_end_in_one_line(
    data: Path, tmp_path: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    Path("afile").write_text("x")
    Path("folder/records.jsonl").mkdir(parents=True)
    for name, text in (("blocked", ""), ("odd", '{"version": 1, "key": 3, "result": {}}\n')):
        Path(name).mkdir()
        Path(name, "records.jsonl").write_text(text)
    Path("blocked/figures").write_text("a file where a folder should be")
    whole = (data / "tiny.npz").read_bytes()
    Path("flipped.npz").write_bytes(whole[:3000] + bytes(8) + whole[3008:])
    done = invoke("flops", *([] if "--out" in words else ["--out", "o"]), *words)
    assert done.exit_code == 2, done.output
    assert message in done.output
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert not Path("o").exists()


def test_methods_without_labels_have_no_curve(data: Path, tmp_path: Path) -> None:
    done = invoke("label-ratio", "--data", str(data), "--method", "k-means", "--out", str(tmp_path / "o"))
    assert done.exit_code == 2
    assert "None of the methods asked for uses labels" in done.output


@pytest.mark.slow
def test_a_killed_run_is_resumed(data: Path, tmp_path: Path) -> None:
    """The real command, killed after its first records; what it left is kept, and nothing of it made again.

    bench/test_kills.py kills the same machinery with shorter jobs.
    """
    out = tmp_path / "o"
    words = ["bench", "comparison", "--data", str(data), "--method", "FSSMSC", "--method", "MVAR", "--repeats", "5"]
    command = [sys.executable, "-c", "from anchorview.app.cli import run; run()", *words, "--out", str(out)]
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not ((out / "records.jsonl").exists() and len(lines(out)) >= 2):
            time.sleep(0.02)
    before = lines(out)
    assert 2 <= len(before) < 11
    run(command)
    after = lines(out)
    whole = [line for line in before if line.endswith("}")]
    assert after[: len(whole)] == whole
    keys = [json.dumps(json.loads(line)["key"], sort_keys=True) for line in after]
    assert len(keys) == len(set(keys))
    assert sum('"task": "fit"' in key for key in keys) == 10
    assert (out / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--data", "EMPTY"], "holds no .npz and no .mat file"),
        (["--data", "nowhere"], "does not exist"),
        (["--data", "DATA/tiny.npz", "--name", "other"], "no data set 'other'; there are tiny"),
        (["--method", "FSSMSK"], "no method 'FSSMSK'; there are FPMVS, LMVSC"),
        (["--select", "best"], "no way to select named 'best'"),
        (["--data", "EMPTY/../cut.mat"], "cannot be read as a MATLAB file"),
        (["--data", "EMPTY/../short.npz"], "has 240 rows but y has 239"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(
    data: Path, tmp_path: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(128, b"\1") + b"\7" * 40)
    with np.load(data / "tiny.npz") as stored:
        np.savez(tmp_path / "short.npz", **{**{key: stored[key] for key in stored.files}, "y": stored["y"][:-1]})
    words = [word.replace("EMPTY", str(tmp_path / "empty")).replace("DATA", str(data)) for word in words]
    done = invoke("comparison", *words, "--out", "o")
    assert done.exit_code == 2, done.output
    assert message in done.output
    assert not (tmp_path / "o").exists()


def test_results_of_others_are_left_alone(data: Path, tmp_path: Path) -> None:
    for content, message in (
        ('{"version": 99, "key": {}, "result": {}}\n', "has version 99"),
        ("not ours\n", "is not a result record"),
    ):
        (tmp_path / "records.jsonl").write_text(content)
        done = invoke("flops", "--out", str(tmp_path))
        assert done.exit_code == 2
        assert message in done.output
        assert (tmp_path / "records.jsonl").read_text() == content
    (tmp_path / "records.jsonl").rename(tmp_path / "thesis.tex")
    done = invoke("flops", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert "holds other files" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_digits_are_built_in_and_stand_beside_the_paper(tmp_path: Path) -> None:
    done = invoke(
        "comparison", "--method", "k-means", "--method", "MVAR", "--repeats", "1", "--out", str(tmp_path / "o")
    )
    assert done.exit_code == 0, done.output
    table = (tmp_path / "o" / "tables" / "comparison.md").read_text()
    assert re.search(r"hw, paper +\| +95.6 ± 2.0", table)


# The page in a real browser


@pytest.fixture
def browse(tmp_path: Path) -> Callable[..., str]:
    """Run chromium with some more words, and return what it prints. Without it: a failure in CI, elsewhere a skip."""
    browser = find_browser()

    def browse(*words: str) -> str:
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [browser, *FLAGS, profile, *words]
        return run(command, seconds=120).stdout

    return browse


def test_the_page_of_results_opens(browse: Callable[..., str], everything: Path, tmp_path: Path) -> None:
    page = (everything / "report.html").as_uri()
    shown = browse("--dump-dom", page)
    assert shown.count("<figure>") == 6
    assert shown.count("<table") >= 10
    assert shown.count('<span class="tag">ours</span>') >= 2
    browse(f"--screenshot={tmp_path / 'page.png'}", page)
    pixels = imread(tmp_path / "page.png")[..., :3]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50  # not a blank page


def test_wide_tables_scroll_and_the_page_does_not(browse: Callable[..., str], everything: Path, tmp_path: Path) -> None:
    table = Table("wide", "Wide", ["Dataset", *(f"Method number {number}" for number in range(40))])
    table.add("x" * 300, *["97.1 ± 0.5"] * 40)
    sections = [Section("wide", "Wide", ["y" * 500], [table])]
    measure = "[document.documentElement.scrollWidth <= window.innerWidth, ...[...document.querySelectorAll('.scroll')]"
    measure += ".map(box => box.scrollWidth > box.clientWidth + 500)].join(' ')"
    script = f"<script>document.title = 'measured ' + {measure}</script></body>"
    page = tmp_path / "page.html"
    made = make_page(sections, tmp_path, {"cpu": "z" * 300}).replace("</body>", script)
    page.write_text(made.replace("Content-Security-Policy", "X-None"))  # which would not let the script run
    assert "<title>measured true true</title>" in browse("--dump-dom", page.as_uri())
