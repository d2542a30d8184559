"""benchmarks/accuracy.py from a folder of files to its tables, and the rivals in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

from anchorview.bench.child import load_target
from anchorview.datasets import hide_labels, make_multiview_subspaces

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"
FEW = ["FSSMSC", "AnchorViewClassifier", "KNeighborsClassifier"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the script, and return what it prints."""
    main = load_target(f"{SCRIPT}:main")

    def call(*options: str) -> str:
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--only", "table", "--labels", "0.1", *options])
        main()
        return capsys.readouterr().out

    return call


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "accuracy.jsonl").read_text().splitlines()]


def save(path: Path, first: Any, second: Any, target: Any) -> None:
    np.savez(path, v0=first.astype(np.float32), v1=second.astype(np.float32), y=target, view_names=["a", "b"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_multiview_subspaces(120, 3, (8, 6), noise=0.4, random_state=0)
    save(tmp_path / "small.npz", *made.data, made.target)
    # Neither methods that fail nor files that cannot be read may end the run.
    save(tmp_path / "broken.npz", np.full((120, 4), np.nan), made.data[1], made.target)
    (tmp_path / "empty.npz").write_bytes(b"")
    return tmp_path


def test_from_a_folder_to_tables_and_on(run: Callable[..., str], folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    said = run("--out", str(out), "--data", str(folder), "--draws", "1", "--methods", *FEW)
    assert "broken 10.0% KNeighborsClassifier seed 0: error" in said
    assert "empty is left out: " in said
    runs = lines(out)
    assert [(r["key"]["data"], r["key"]["method"]) for r in runs] == [("small", method) for method in FEW]
    assert all(r["key"]["seed"] == 0 and r["key"]["fraction"] == 0.1 and r["key"]["parameters"] for r in runs)
    assert all(50 < r["result"]["value"]["acc"] <= 100 and "ece" in r["result"]["value"] for r in runs)

    said = run("--out", str(out), "--data", str(folder), "--sets", "small", "--draws", "2", "--methods", *FEW[1:])
    assert "seed 1" in said
    assert "seed 0" not in said  # not computed again
    assert lines(out)[:3] == runs
    acc = {(r["key"]["method"], r["key"]["seed"]): r["result"]["value"]["acc"] for r in lines(out)}
    assert len(acc) == 5

    summary = json.loads((out / "accuracy.json").read_text())
    neighbours = [acc["KNeighborsClassifier", seed] for seed in (0, 1)]
    found = summary["scores"]["small"]["KNeighborsClassifier"]
    assert found["acc"] == pytest.approx([np.mean(neighbours), np.std(neighbours)])
    (gap,) = summary["against_best_rival"]
    assert gap["rival"] == "KNeighborsClassifier"
    assert gap["gap"] == pytest.approx(
        np.mean([acc["AnchorViewClassifier", seed] for seed in (0, 1)]) - np.mean(neighbours)
    )
    assert sum(summary["mean_ranks"].values()) == pytest.approx(6)  # 1 + 2 + 3, ties shared
    table = (out / "accuracy.md").read_text()
    assert f"{np.mean(neighbours):.1f} ± {np.std(neighbours):.1f}" in table
    assert f"{acc['FSSMSC', 0]:.1f} ± 0.0" in table
    assert "(1)" in table  # FSSMSC has one draw of two
    assert all(f"## {title}" in table for title in ("ACC", "NMI", "ARI", "Mean ranks", "Seconds"))
    assert (out / "accuracy.png").stat().st_size > 1000


def rivals(name: str) -> Any:
    return load_target(f"{SCRIPT.with_name('rivals.py')}:{name}")


@pytest.fixture(scope="module")
def data() -> Any:
    made = make_multiview_subspaces(150, 3, (20, 30), noise=0.4, random_state=1)
    return made, hide_labels(made.target, 0.15, random_state=0)


@pytest.mark.parametrize("kind", ["LogisticRegression", "SVC", "LabelSpreading", "KNeighborsClassifier"])
def test_rivals_learn_and_choose(kind: str, data: Any) -> None:
    made, y = data
    model = rivals("Rival")(kind, 0).fit(made.views, y + 5 * (y >= 0))
    hidden = y == -1
    assert np.mean(model.labels_[hidden] == made.target[hidden] + 5) > 0.6
    assert (model.labels_[~hidden] == y[~hidden] + 5).all()
    assert len(model.best_params_["scaling"]) == 2
    assert hasattr(model, "confidence_") == (kind != "SVC")


def test_shortcuts_of_the_rivals_change_nothing(data: Any) -> None:
    """One graph for all settings, and features within the span of the labelled rows."""
    made, y = data
    everything, scaling = np.arange(len(y)), ["minmax", "minmax"]
    features = rivals("scale")(made.views, scaling, 0)
    spread = next(
        choice
        for choice in rivals("label_spreading")(made.views, y, [], 0)
        if choice.setting == {"scaling": scaling, "n_neighbors": 10, "alpha": 0.8}
    )
    expected = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.8, max_iter=50).fit(features, y)
    np.testing.assert_allclose(spread.predict(y, everything), expected.label_distributions_, atol=1e-12)

    labelled = np.flatnonzero(y >= 0)
    inside = rivals("within_span")(features, labelled)
    assert inside.shape[1] <= len(labelled) < features.shape[1]
    shown = labelled[::2]  # a fold learns from some of them
    a, b = (
        LogisticRegression(C=10, tol=1e-9, max_iter=9999).fit(rows[shown], y[shown]).predict_proba(rows)
        for rows in (inside, np.asarray(features, dtype=float))
    )
    np.testing.assert_allclose(a, b, atol=1e-3)


def test_most_hidden_labels_win_then_the_likelihood() -> None:
    choice, codes = rivals("Choice"), np.array([0, 1, 0, 1, -1])
    sure, unsure, wrong = (np.array([[p, 1 - p], [1 - p, p]]) for p in (0.9, 0.6, 0.3))

    def told(name: str, probabilities: Any) -> Any:
        return choice({"name": name}, lambda shown, rows: probabilities)

    choices = [told("wrong", wrong), told("unsure", unsure), told("sure", sure), told("late", sure)]
    splits = [np.array([0, 1]), np.array([2, 3])]
    assert rivals("choose")(choices, codes, splits).setting["name"] == "sure"
    assert rivals("choose")(choices, codes, []).setting["name"] == "wrong"  # nothing to judge by: the first


def test_our_own_models_that_are_ahead_are_named() -> None:
    own_text = load_target(f"{SCRIPT.with_name('accuracy_tables.py')}:own_text")
    cell = load_target(f"{SCRIPT.with_name('accuracy_results.py')}:Cell")

    def cells(plain: float, tuned: float) -> dict[str, Any]:
        scores = {"FSSMSC": plain, "AnchorViewClassifier": tuned, "SVC": 99.0}
        return {name: cell({seed: {"acc": score + seed} for seed in range(2)}) for name, score in scores.items()}

    assert own_text({"easy": cells(80, 90), "hard": cells(80, 70)}).endswith(": FSSMSC on hard (by 10.00 ± 0.00).")
    assert own_text({"easy": cells(80, 90)}) == ""
