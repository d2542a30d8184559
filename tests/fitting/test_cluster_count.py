"""The number of clusters where nobody says it: clear on data that have one, and "unclear" on data that have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from anchorview import FSSMSC, datasets
from anchorview.fitting.cluster_count import ClusterCount
from support.command import invoke, quick, refused, reviews, write_csv


@pytest.mark.parametrize("n_clusters", [3, 5])
def test_clusters_that_are_there_are_counted(n_clusters: int) -> None:
    made = datasets.make_multiview_subspaces(400, n_clusters, (12, 10), noise=0.05, random_state=0)
    model = FSSMSC(n_clusters="auto", n_landmarks=60, random_state=0).fit(made.views)
    assert len(model.classes_) == n_clusters
    assert f'n_clusters="auto" chose {n_clusters}' in model.status_
    same = FSSMSC(n_clusters=n_clusters, n_landmarks=60, random_state=0).fit(made.views)
    np.testing.assert_array_equal(model.labels_, same.labels_)


@pytest.mark.parametrize("n_clusters", [3, 5])
def test_groups_far_apart_are_clear(n_clusters: int) -> None:
    rng = np.random.RandomState(0)
    X = np.vstack([np.abs(np.eye(12)[number] + 0.03 * rng.randn(80, 12)) for number in range(n_clusters)])
    model = FSSMSC(n_clusters="auto", n_landmarks=60, random_state=0).fit(X)
    assert f'n_clusters="auto" chose {n_clusters}, which is clear.' in model.status_


def test_noise_is_unclear() -> None:
    X = np.random.RandomState(0).rand(500, 8)
    model = FSSMSC(n_clusters="auto", n_landmarks=60, random_state=0).fit(X)
    assert "that is unclear" in model.status_


def test_another_number_that_would_do_is_named() -> None:
    """Wines of three growers: two of them are nearer to each other, so that 2 would do as well."""
    model = FSSMSC(n_clusters="auto", random_state=0).fit(load_wine().data)
    assert 'n_clusters="auto" chose 3; that is unclear: 2 would do about as well.' in model.status_


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (ClusterCount(4, (), 0.97, 0.6), "chose 4, which is clear."),
        (ClusterCount(4, (2,), 0.97, 0.6), "chose 4; that is unclear: 2 would do about as well."),
        (ClusterCount(9, (2,), 0.31, 0.6), "halves of the rows give other clusters (agreement 0.31 of 1)."),
        (ClusterCount(3, (), 0.95, 0.44), "the clusters run into each other (silhouette 0.44 of 1)."),
    ],
)
def test_the_answer_gives_its_reason(count: ClusterCount, words: str) -> None:
    assert count.describe().endswith(words)


def test_with_labels_their_classes_count() -> None:
    made = datasets.make_multiview_subspaces(120, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, 0.2, random_state=0)
    assert len(FSSMSC(n_clusters="auto", n_landmarks=30, random_state=0).fit(made.views, y).classes_) == 3
    with pytest.raises(ValueError, match="n_clusters must be"):
        FSSMSC(n_clusters="many").fit(made.views)


def test_the_command(tmp_path: Path) -> None:
    rows = reviews()
    path = write_csv(tmp_path / "t.csv", {name: rows[name] for name in ("id", "text")})
    done = invoke("fit", path, "--clusters", "auto", "--config", quick(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code == 0 and 'n_clusters="auto" chose' in done.output, done.output
    again = invoke("fit", "--config", tmp_path / "run" / "run.toml", "-o", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again/labels.csv").read_bytes() == (tmp_path / "run/labels.csv").read_bytes()
    assert invoke("fit", path, "--clusters", "some", "-o", tmp_path / "no").exit_code == 2
    assert "or auto" in refused("fit", path, "-o", tmp_path / "no", code=3)
