"""Pictures: what is drawn where."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from anchorview import AnchorViewClassifier, datasets
from anchorview.plotting.ranks import cliques, critical_distance, mean_ranks, plot_ranks
from anchorview.plotting.search import plot_search


def searched() -> Any:
    """Stand for a fitted AnchorViewClassifier with five settings, best first, of which two are averaged."""
    params = [
        {"scaling": scaling, "head": head, "ridge": ridge}
        for scaling, head, ridge in (
            ("l2", "nearest", 1.0),
            ("minmax", "codes", 1.0),
            ("l2", "nearest", 3.0),
            ("l2", "codes", 1.0),
            ("minmax", "nearest", 1.0),
        )
    ]
    results = {
        "params": params,
        "param_scaling": np.array([p["scaling"] for p in params]),
        "param_head": np.array([p["head"] for p in params]),
        "mean_test_loss": np.array([0.1, 0.2, 0.3, 0.4, 0.5]),
        "mean_test_score": np.array([0.95, 0.9, 0.9, 0.8, 0.7]),
    }
    model = AnchorViewClassifier()
    model.cv_results_, model.averaged_ = results, [{**setting, "weight": 1.0} for setting in params[:2]]
    return model


def dots(axes: Any) -> list[tuple[float, str, bool]]:
    """Return value, row and whether it is averaged (has a black rim), of each dot."""
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    return [
        (round(float(x), 6), names[round(float(y))], collection.get_alpha() == 1.0)
        for collection in axes.collections
        for x, y in collection.get_offsets()
        if np.isfinite(x)
    ]


def test_search_draws_each_setting_once_and_marks_the_averaged() -> None:
    axes = plot_search(searched())
    assert sorted(dots(axes)) == [
        (0.1, "nearest", True),
        (0.2, "codes", True),
        (0.3, "nearest", False),
        (0.4, "codes", False),
        (0.5, "nearest", False),
    ]
    assert axes.get_xlabel() == "log loss on hidden labels"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["l2", "minmax", "averaged (2)"]


def test_search_by_accuracy_on_given_axes() -> None:
    given = matplotlib.figure.Figure().gca()
    assert plot_search(searched(), measure="accuracy", ax=given) is given
    assert sorted(value for value, _, _ in dots(given)) == [70, 80, 90, 90, 95]


def test_search_of_a_fitted_model() -> None:
    made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, 0.3, random_state=0)
    model = AnchorViewClassifier(n_landmarks=30, scaling=["l2", "minmax"], n_averaged=4, n_repeats=1, random_state=0)
    with pytest.raises(NotFittedError):
        plot_search(model)
    found = dots(plot_search(model.fit(made.views, y)))
    assert len(found) == len(model.cv_results_["params"])
    assert sum(used for _, _, used in found) == len(model.averaged_) >= 4
    with pytest.raises(ValueError, match="measure='f1' is not known; choose one of 'loss', 'accuracy'"):
        plot_search(model, measure="f1")


def test_ranks_share_ties_and_a_failure_is_last() -> None:
    assert mean_ranks([[3.0, 3.0, 1.0, -np.inf], [1.0, 2.0, 3.0, 4.0]]).tolist() == [2.75, 2.25, 2.5, 2.5]


@pytest.mark.parametrize(("n_methods", "quantile"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_distance_is_that_of_the_published_table(n_methods: int, quantile: float) -> None:
    """Demšar 2006, table 5a."""
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert critical_distance(n_methods, 14) == pytest.approx(expected, abs=1e-3)


def test_cliques_are_the_largest_groups_only() -> None:
    assert cliques([1.0, 2.0, 3.0, 6.0], 2.0) == [(1.0, 3.0)]
    assert cliques([1.0, 3.0, 5.0], 1.0) == []
    assert cliques([4.0, 1.0, 2.5], 1.5) == [(1.0, 2.5), (2.5, 4.0)]


def test_ranks_are_drawn_at_their_place() -> None:
    axes = plot_ranks({"slow": 2.8, "best": 1.1, "other": 2.1}, 0.9)
    places = {round(float(line.get_xdata()[0]), 6) for line in axes.lines if len(line.get_xdata()) == 3}
    assert places == {1.1, 2.1, 2.8}
    joined = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3.5]
    assert len(joined) == 1  # 2.1 and 2.8
    assert joined[0][0] < 2.1 < 2.8 < joined[0][1]
    axes.figure.canvas.draw()
