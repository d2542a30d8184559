"""The cases of `fingerprint.py`: fits that together pass through every way that rows, labels and results can take."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, Any]
SETS = ("hw", "scene15", "msrcv1", "ng20")
BASELINES = ("LMVSC", "FPMVS", "AMGL", "MVAR", "MLAN", "GPSNMF", "CONMF")
_LATER = ("mean_fit_time", "param_view_weights")  # times differ; columns that were first recorded without
REFERENCES = ("ConcatKMeans", "BestViewSpectral", "ConcatLabelSpreading", "ConcatLogisticRegression")


class Data:
    """A data set cut into rows of the fit, 5 % of them labelled (2 % of ng20), and every tenth row as a new one."""

    def __init__(self, folder: Path, name: str, step: int = 1) -> None:
        from anchorview import datasets

        found = datasets.load_npz(folder / f"{name}.npz")
        rows = np.arange(0, len(found.target), step)
        new = rows % (10 * step) == 0
        self.views, self.target = found.views[rows[~new]], found.target[rows[~new]]
        self.new = found.views[rows[new]]
        self.y = datasets.hide_labels(self.target, 0.02 if name == "ng20" else 0.05, random_state=0)
        self.n_classes = len(np.unique(self.target))


class MadeData(Data):
    """Made rows, for cases that need more of them than the sets have: two views, six classes that overlap."""

    def __init__(self, n_rows: int, share: float) -> None:
        from anchorview import datasets

        made = datasets.make_multiview_subspaces(n_rows + 1000, 6, (20, 12), noise=1.0, random_state=0)
        self.views, self.target, self.new = made.views[:n_rows], made.target[:n_rows], made.views[n_rows:]
        self.y = datasets.hide_labels(self.target, share, random_state=0)
        self.n_classes = 6


def _former(text: str) -> str:
    """Return settings as they were first recorded: readers as one text, both that use a graph called by it."""

    def joined(found: re.Match[str]) -> str:
        return found[1].replace("'", "").strip(",").replace(", ", "+").replace("poisson", "graph")

    text = re.sub(r"'readers': \(([^)]*)\)", lambda found: f"'inference': '{joined(found)}'", text)
    text = re.sub(r"readers \(([^)]*)\)", lambda found: f"inference ({joined(found)})", text)
    text = re.sub(r"'solver': ActiveSet\(units=('\w+')\)", r"'units': \1", text)
    text = text.replace(", 'view_weights': None", "").replace(", view_weights (equal)", "")
    return text.replace("'head': 'spread'", "'head': 'graph'")


def _shared(model: Any, new: Any) -> Arrays:
    """Return what both estimators publish of the rows of the fit and answer for new ones."""
    codes, held_out = model.codes_[:], model.held_out_  # of codes in files: all of them
    found: Arrays = {"codes_data": codes.data, "codes_indices": codes.indices, "codes_indptr": codes.indptr}
    found |= {name: getattr(model, name) for name in ("labels_", "confidence_", "embedding_", "landmarks_")}
    found |= {"predict": model.predict(new), "proba": model.predict_proba(new), "transform": model.transform(new)}
    found |= {"suggested": model.suggest_labels(10), "status": np.array(_former(model.status_))}
    if held_out is not None:
        found |= {"held_out_rows": held_out.rows, "held_out_class_ids": held_out.class_ids}
        found["held_out_probabilities"] = held_out.probabilities
    return found


def _of_fssmsc(model: Any, new: Any) -> Arrays:
    found = _shared(model, new) | {"chosen": np.array(_former(repr(model.chosen_)))}
    found |= {name: getattr(model, name) for name in ("objective_history_", "residual_history_", "relabelled_")}
    return found


def _of_cv(model: Any, new: Any) -> Arrays:
    found = _shared(model, new)
    table = {name.replace("shrunk_loss", "belief"): values for name, values in model.cv_results_.items()}  # as it was
    found |= {name: np.array(values) for name, values in table.items() if name not in _LATER}
    found["params"] = np.array([_former(repr(setting)) for setting in model.cv_results_["params"]])
    found["param_head"] = np.where(found["param_head"] == "spread", "graph", found["param_head"])
    found["score"] = np.array([model.best_score_, *model.best_score_interval_])
    return found | {
        "best": np.array(_former(repr(model.best_params_))),
        "averaged": np.array(_former(repr(model.averaged_))),
    }


def _fssmsc(data: Data, *, labels: bool = True, fit: dict[str, Any] | None = None, **parameters: Any) -> Arrays:
    from anchorview import FSSMSC

    model = FSSMSC(random_state=0)
    if "in_files" in parameters:  # a parameter of the solver, where it was one of the estimator
        own = "memory_limit" in model.get_params()
        parameters["memory_limit" if own else "solver__memory_limit"] = int(parameters.pop("in_files"))
    model.set_params(**parameters)
    return _of_fssmsc(model.fit(data.views, data.y if labels else None, **(fit or {})), data.new)


def _with_importance(data: Data, **parameters: Any) -> Arrays:
    """Fit, and measure the views on the rows without a label."""
    from anchorview import FSSMSC
    from anchorview.view_importance import measure_unlabelled

    model = FSSMSC(random_state=0, **parameters).fit(data.views, data.y)
    measured = measure_unlabelled(model, data.views, data.y >= 0)
    return _of_fssmsc(model, data.new) | {"importance": np.array([measured.share, measured.changed])}


def _cv(data: Data, **fit: Any) -> Arrays:
    from anchorview import AnchorViewClassifier

    return _of_cv(AnchorViewClassifier(random_state=0).fit(data.views, data.y, **fit), data.new)


def _baseline(data: Data, name: str) -> Arrays:
    from anchorview import baselines

    kind = getattr(baselines, name)
    number = {"n_clusters": data.n_classes} if "n_clusters" in kind().get_params() else {}
    scaling = {"scaling": "l2"} if data.views.arrays[0].__class__.__name__.startswith("cs") else {}
    model = kind(random_state=0, **number, **scaling).fit(data.views, data.y)
    found = {name: getattr(model, name) for name in ("labels_", "objective_history_") if hasattr(model, name)}
    if hasattr(model, "predict"):
        found["predict"] = model.predict(data.new)
    return found


def _stored(data: Data, parameters: dict[str, Any]) -> Arrays:
    """Fit rows that lie in files; new ones are read from files too."""
    from anchorview import Views, open_rows

    with tempfile.TemporaryDirectory() as folder:
        for part in ("views", "new"):
            views, opened = getattr(data, part), {}
            for name, array in views.items():
                np.save(f"{folder}/{part}-{name}.npy", array)
                opened[name] = open_rows(f"{folder}/{part}-{name}.npy")
            setattr(data, part, Views(opened))
        return _fssmsc(data, **parameters)


def _on_dask(data: Data) -> Arrays:
    """Fit rows that Dask's scheduler works on, in this process."""
    import dask
    import dask.array as da

    from anchorview import Views

    for part, size in (("views", 500), ("new", 70)):
        arrays = getattr(data, part).items()
        setattr(data, part, Views({name: da.from_array(array, chunks=(size, -1)) for name, array in arrays}))
    with dask.config.set(scheduler="synchronous"):
        return _fssmsc(data)


def _elsewhere(data: Data) -> Arrays:
    """Fit both estimators in memory; new rows lie in files, in Dask's blocks, come one by one, or go to files."""
    import dask
    import dask.array as da

    from anchorview import FSSMSC, AnchorViewClassifier, Views, open_rows
    from anchorview.export import predict_to

    found: Arrays = {}
    new = data.new
    on_dask = Views({name: da.from_array(array, chunks=(70, -1)) for name, array in new.items()})
    for kind in (FSSMSC, AnchorViewClassifier):
        model, key = kind(random_state=0).fit(data.views, data.y), kind.__name__
        with dask.config.set(scheduler="synchronous"), tempfile.TemporaryDirectory() as folder:
            opened = {}
            for name, array in new.items():
                np.save(f"{folder}/{name}.npy", array)
                opened[name] = open_rows(f"{folder}/{name}.npy")
            places = {"dask": on_dask, "stored": Views(opened)}
            for place, rows in places.items():
                for call in ("predict", "predict_proba", "transform"):
                    found[f"{key}_{place}_{call}"] = getattr(model, call)(rows)
            result = predict_to(model, places["stored"], f"{folder}/out", block_rows=64, probabilities=True)
            found |= {f"{key}_to_{path.stem}": np.load(path) for path in sorted(result.glob("*.npy"))}
        found[f"{key}_single"] = np.concatenate([model.predict_proba(new[row : row + 1]) for row in range(10)])
        found[f"{key}_quality"] = model.label_quality_
    return found


def _missing(data: Data) -> Data:
    """Hide a third of the cells; every row keeps one."""
    from anchorview import Views

    for name, seed in (("views", 0), ("new", 1)):
        views = getattr(data, name)
        mask = np.random.default_rng(seed).random((len(views), len(views.names))) > 0.3
        mask[:, 0] |= ~mask.any(axis=1)
        setattr(data, name, Views(views, mask=mask))
    return data


def _known(data: Data) -> dict[str, Any]:
    """Pairs by row number, groups and weights."""
    from anchorview import Constraints

    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(data.target), (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = data.target[pairs[:, 0]] == data.target[pairs[:, 1]]
    stated = Constraints.from_pairs(pairs[alike], pairs[~alike], n_rows=len(data.target))
    groups = np.where(np.arange(len(data.target)) < 60, data.target, -1)
    return {
        "constraints": stated + Constraints.from_groups(must=groups),
        "sample_weight": rng.choice([0.5, 1.0, 2.0], len(data.target)),
    }


def cases(folder: Path) -> dict[str, Callable[[], Arrays]]:
    """Everything that is recorded, by name."""

    def load(name: str, step: int = 1) -> Data:
        return Data(folder, name, step)

    found: dict[str, Callable[[], Arrays]] = {}
    for name in SETS:
        found[f"fssmsc/{name}"] = lambda name=name: _fssmsc(load(name))  # type: ignore[misc]
    found["admm/hw"] = lambda: _fssmsc(load("hw"), solver="admm", ridge=0.0)
    found["admm/msrcv1"] = lambda: _fssmsc(
        load("msrcv1"), solver="admm", ridge=0.0, solver__mode="released", scaling="l2"
    )
    found["knn/scene15"] = lambda: _fssmsc(load("scene15"), readers="knn", landmarks="random")
    found["euclidean/msrcv1"] = lambda: _fssmsc(load("msrcv1"), readers="euclidean", solver__omit=("coupling",))
    every = ("nearest", "linear", "poisson")
    for readers in (("linear",), ("poisson",), ("nearest", "linear"), every):
        case = "+".join(readers).replace("poisson", "graph")  # as it was first recorded
        found[f"{case}/hw"] = lambda readers=readers: _fssmsc(load("hw"), readers=readers)  # type: ignore[misc]
    found["graph-missing/hw"] = lambda: _fssmsc(_missing(load("hw")), readers=every)
    found["files/hw"] = lambda: _fssmsc(load("hw"), in_files=True)
    found["stored/hw"] = lambda: _stored(load("hw"), {})
    found["stored-files/scene15"] = lambda: _stored(load("scene15"), {"in_files": True})
    found["dask/hw"] = lambda: _on_dask(load("hw"))
    found["elsewhere/msrcv1"] = lambda: _elsewhere(load("msrcv1"))
    found["grouped/made"] = lambda: _fssmsc(MadeData(20_000, 0.1))  # enough rows and labels to search in groups
    found["weights/hw"] = lambda: _fssmsc(data := load("hw"), fit={"sample_weight": _known(data)["sample_weight"]})
    found["relabel/hw"] = lambda: _with_importance(load("hw"), relabel=0.8, class_balance="balanced")
    found["clusters/hw"] = lambda: _fssmsc(load("hw"), labels=False, n_clusters=10, scaling="standard")
    found["missing/hw"] = lambda: _fssmsc(_missing(load("hw")))
    found["known/hw"] = lambda: _fssmsc(data := load("hw"), fit=_known(data))
    for name in SETS:
        found[f"cv/{name}"] = lambda name=name: _cv(load(name))  # type: ignore[misc]
    found["cv-missing/hw"] = lambda: _cv(_missing(load("hw")))
    found["cv-weights/hw"] = lambda: _cv(data := load("hw"), sample_weight=_known(data)["sample_weight"])
    found["cv-pairs/hw"] = lambda: _cv(data := load("hw"), constraints=_known(data)["constraints"])
    found["cv-sampled/made"] = lambda: _cv(MadeData(24_000, 0.02))  # more rows than the search looks at
    for method in (*BASELINES, *REFERENCES):
        for name in SETS:
            step = 4 if name == "ng20" else 1
            found[f"{method}/{name}"] = lambda method=method, name=name, step=step: _baseline(  # type: ignore[misc]
                load(name, step), method
            )
    return found
