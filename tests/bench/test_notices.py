"""What a fit says of itself is recorded with its scores, and seen in the report."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from anchorview import ADMM, FSSMSC, datasets
from anchorview.baselines import ConcatKMeans
from anchorview.bench import jobs
from anchorview.bench.experiments.common import Summary, alike_cells
from anchorview.bench.experiments.comparison import run_comparison
from anchorview.bench.methods import METHODS
from anchorview.bench.notices import footnotes, listen, trouble, worst
from anchorview.bench.protocol import average, cluster_once, run_once
from anchorview.bench.records import Records
from anchorview.bench.runner import Runner
from anchorview.bench.settings import Settings
from anchorview.bench.sources import Description, Source
from anchorview.core.progress import Outcome
from anchorview.report.markup import to_latex, to_markdown
from support.settled import CHOSEN


@pytest.fixture(scope="module")
def data() -> Any:
    return datasets.make_multiview_subspaces(120, 3, noise=0.3, random_state=0)


# What is recorded


def test_a_run_keeps_what_the_fit_said(data: Any) -> None:
    cut_short = FSSMSC(**CHOSEN, n_landmarks=30, solver=ADMM(max_iter=1, units="data"), random_state=0)
    short = run_once(cut_short, data.views, data.target, 0, 0.2)
    assert Outcome.MAX_ITER.value in short["fit_status"]
    assert trouble(short) == "†"
    whole = run_once(FSSMSC(**CHOSEN, n_landmarks=30, random_state=0), data.views, data.target, 0, 0.2)
    assert whole["fit_status"].startswith("converged") and whole["warnings"] == [] and trouble(whole) == ""
    assert average([whole, short])["acc"][0] == pytest.approx((whole["acc"] + short["acc"]) / 2)
    clustered = cluster_once(ConcatKMeans(3, random_state=0), data.views, data.target)
    assert clustered["fit_status"] == "" and clustered["warnings"] == []


def test_a_job_keeps_what_the_fit_said() -> None:
    told = jobs.fit_once("synthetic:150", "AMGL", {"max_iter": 1}, 0, 0.2)
    assert any(line.startswith("ConvergenceWarning: AMGL stopped at max_iter=1") for line in told["warnings"])
    assert trouble(told) == "†"
    fewer = jobs.fit_once("synthetic:150", "FSSMSC", {"n_landmarks": 30, "n_clusters": 12}, 0, 0.2)
    assert "UserWarning" in fewer["warnings"][0] and trouble(fewer) == "§"
    assert Outcome.FEWER_CLASSES.value in fewer["fit_status"]


def test_each_message_once_and_none_about_code() -> None:
    def fit() -> None:
        for _ in range(3):
            warnings.warn("rows are few", UserWarning, stacklevel=1)
        warnings.warn("will be renamed", FutureWarning, stacklevel=1)

    assert listen(fit)[1]["warnings"] == ["UserWarning: rows are few"]


def test_a_diverged_fit_is_worse_than_one_that_only_stopped() -> None:
    diverged = {"acc": 40.0, "fit_status": Outcome.DIVERGED.value, "warnings": []}
    stopped = {"acc": 50.0, "fit_status": "", "warnings": [f"{ConvergenceWarning.__name__}: no end"]}
    assert (trouble(diverged), trouble(stopped), trouble({"acc": np.nan})) == ("‡", "†", "‡")
    assert worst([stopped, diverged, {}]) == "‡" and worst([{}, stopped]) == "†" and worst([{"acc": 1.0}]) == ""


# What the report shows


def test_marks_stand_beside_the_scores_and_change_no_rank() -> None:
    stopped = {"acc": 90.0, "warnings": ["ConvergenceWarning: no end"]}
    row = [Summary([{"acc": 95.0}, stopped], [0, 1]), Summary([{"acc": 99.0}, {"acc": 98.0}], [0, 1])]
    cells = alike_cells(row, [METHODS["MVAR"], METHODS["FSSMSC"]], "acc")
    assert [cell.text for cell in cells] == ["92.5 ± 2.5 †", "98.5 ± 0.5"]
    assert [cell.mark for cell in cells] == ["second", "best"]


def test_the_comparison_marks_and_explains_fits_that_did_not_go_well(tmp_path: Path) -> None:
    """Two fits of MVAR diverged, FSSMSC warned once; records made before this was kept stay readable."""
    source, about = Source("made", "nowhere"), Description("made", 100, (5,), 3, "0" * 8, False)
    settings = Settings([(source, about)], methods=["MVAR", "FSSMSC", "AMGL"], repeats=2)
    records = Records(tmp_path / "records.jsonl")
    scores = {"acc": 50.0, "nmi": 40.0, "ari": 30.0, "seconds": 1.0, "graph_seconds": 0.0, "fit_bytes": 1}
    said: dict[str, list[dict[str, Any]]] = {
        "MVAR": 2 * [{"fit_status": Outcome.DIVERGED.value, "warnings": []}],
        "FSSMSC": [{"fit_status": "converged.", "warnings": ["UserWarning: <odd> rows"]}, {"warnings": []}],
        "AMGL": [{}, {}],
    }
    for method in settings.choose():
        for seed, more in enumerate(said[method.name]):
            run = settings.fit(source, about, method, {}, seed)
            records.add(run.key, {"status": "ok", "seconds": 1.0, "value": scores | more})
    with Runner(Records(records.path), 10.0, 2**30, Console(file=io.StringIO())) as runner:
        section = run_comparison(settings, runner, tmp_path)
        assert runner.n_made == 0
    first = next(row for row in section.tables[0].rows if row[0].text == "made, default")
    assert [cell.text for cell in first[1:]] == ["50.0 ± 0.0 ‡", "50.0 ± 0.0", "50.0 ± 0.0 §"]
    notes = [line for line in section.text if line[0] in "†‡§"]
    assert notes == [
        "‡ diverged: MVAR, made (default) (2 of 2 fits).",
        "§ warned: FSSMSC, made (default) (1 of 2 fits). “UserWarning: <odd> rows”",
    ]
    assert "50.0 ± 0.0 ‡" in to_markdown(section.tables[0])
    assert r"$\ddagger$" in to_latex(section.tables[0]) and r"\S{}" in to_latex(section.tables[0])


def test_long_messages_are_cut() -> None:
    line = footnotes({"MVAR": [{"warnings": ["UserWarning: " + 50 * "long "]}]})[0]
    assert len(line) < 260 and line.endswith("…”")
