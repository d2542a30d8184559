"""Parameters and settings of model files that are older than their names of today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anchorview import ADMM, FSSMSC, ActiveSet, AnchorViewClassifier, load
from anchorview.app.former_names import translate_fitted, translate_parameters, translate_setting
from anchorview.readers.graph import SpreadReader

DATA = Path(__file__).parent / "data"
SHARED = {"max_iter": 5, "tol": 0.1, "units": "data", "omit": ("l1",)}
OLD: dict[str, Any] = {**SHARED, "solver": "active_set", "solver_options": None, "measure_views": True, "l1": 0.1}


def translate(**changes: Any) -> FSSMSC:
    return FSSMSC(**translate_parameters("FSSMSC", {**OLD, "inference": "auto", **changes}))


def test_what_was_of_the_solver_is_its_own() -> None:
    model = translate()
    assert isinstance(model.solver, ActiveSet) and model.l1 == 0.1
    assert model.solver.get_params() == ActiveSet(**SHARED).get_params()
    paper = translate(solver="admm", solver_options={"mode": "released"}).solver
    assert isinstance(paper, ADMM) and paper.get_params() == ADMM(mode="released", **SHARED).get_params()


@pytest.mark.parametrize(
    ("inference", "readers"),
    [("auto", "auto"), ("paper", ("paper",)), ("nearest+linear+graph", ("nearest", "linear", "poisson"))],
)
def test_joined_names_are_readers(inference: str, readers: Any) -> None:
    assert translate(inference=inference).readers == readers


def test_what_has_todays_names_stays() -> None:
    given = FSSMSC(readers="knn").get_params()
    assert translate_parameters("FSSMSC", given) == given
    assert translate_parameters("AnchorViewClassifier", {"n_splits": 4, "measure_views": False}) == {"n_splits": 4}
    fitted = {"chosen_": {"readers": ("knn",), "ridge": 3.0}, "n_iter_": 3}
    assert translate_fitted(fitted) == fitted


def test_settings_of_a_search() -> None:
    old, new = {"head": "graph", "l1": 0.2}, {"head": "spread", "l1": 0.2, "units": "paper"}  # the first had no units
    assert translate_setting(old) == new and translate_setting({"head": "poisson"})["head"] == "poisson"
    table = {"param_head": np.array(["graph", "embedding"]), "params": [old, {"head": "embedding"}], "belief": [1, 2]}
    found = translate_fitted(
        {
            "view_importance_": None,
            "best_params_": {"units": "paper", "inference": "knn", "ridge": 1.0},
            "best_setting_": old,
            "averaged_": [{**old, "weight": 1.0}],
            "cv_results_": table,
        }
    )
    assert found["best_setting_"] == new and found["averaged_"] == [{**new, "weight": 1.0}]
    assert found["cv_results_"]["param_head"].tolist() == ["spread", "embedding"]
    assert found["cv_results_"]["params"] == [new, {"head": "embedding", "units": "paper"}] and found["cv_results_"][
        "belief"
    ] == [1, 2]
    assert FSSMSC(**found["best_params_"]).solver.units == "paper" and found["best_params_"]["readers"] == ("knn",)
    assert "view_importance_" not in found


@pytest.mark.parametrize("version", [1, 2])
def test_kept_files_have_the_names_of_today(version: int) -> None:
    plain, tuned = (load(DATA / f"{name}-{version}.anchorview") for name in ("fssmsc", "fssmsccv"))
    assert set(plain.get_params(deep=False)) == set(FSSMSC().get_params())
    assert plain.readers == plain.chosen_["readers"] == ("knn",)
    assert plain.solver.get_params() == ActiveSet().get_params()
    assert set(tuned.get_params()) == set(AnchorViewClassifier().get_params())
    assert "spread" in tuned.cv_results_["param_head"] and "graph" not in tuned.cv_results_["param_head"]
    assert "shrunk_loss" in tuned.cv_results_ and "belief" not in tuned.cv_results_
    assert any(isinstance(member.reader, SpreadReader) for member in tuned._model.members)
    FSSMSC(**tuned.best_params_)


def test_the_memory_limit_belongs_to_the_solver() -> None:
    assert translate_parameters("FSSMSC", {"solver": "active_set", "memory_limit": None}) == {"solver": "active_set"}
    for solver in ("active_set", ActiveSet(tol=0.5)):
        found = translate_parameters("FSSMSC", {"solver": solver, "memory_limit": 2e9})["solver"]
        assert found.memory_limit == 2e9 and found.tol == (1e-4 if solver == "active_set" else 0.5)
    assert translate(memory_limit=5).solver.memory_limit == 5
