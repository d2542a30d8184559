"""The classes that a model file may hold: nothing else is ever made from one.

To store one more class, enter its name and module here. Dataclasses are stored by their fields, enumerations by the
names of their members, estimators by their parameters and fitted attributes; all of these may hold numbers, text,
lists, dicts, arrays and other classes of the table.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

LAST_STEPS = ("FSSMSC", "AnchorViewClassifier")

_OF_THIS_MACHINE = ("text_encoder", "text_cache", "image_encoder", "image_folder", "unreadable_")
_PLACES = ("_coordinates", "_code_space", "_unlikeness", "_kept")  # of rows, and what other labels need
_NEVER = ("_metadata_request", "_stop_words_id")


@dataclass(frozen=True)
class Storable:
    """A class of the table.

    Parameters
    ----------
    module : str
        Where it is, imported when it is needed.
    version : int
        Of what is stored of it. When that changes it grows by one, and `former_models` learns to read the older one.
    rows : tuple of str
        Attributes that are stored only with the rows of the fit, besides those about single rows (`model.rows`).
    without : tuple of str
        Parameters and attributes that are never stored.
    times : tuple of str
        Attributes, or keys of attributes that are dicts, that say how long something took. They are stored as unknown:
        times differ from fit to fit, and the same fit is to give the same file.
    """

    module: str
    version: int = 1
    rows: tuple[str, ...] = ()
    without: tuple[str, ...] = _NEVER
    times: tuple[str, ...] = ()


def _ours(**modules: str) -> dict[str, Storable]:
    return {name: Storable(f"anchorview.{module}") for name, module in modules.items()}


def _sklearn(**modules: str) -> dict[str, Storable]:
    named = {name: f"sklearn.{module}" for name, module in modules.items()}
    return {name: Storable(module) for name, module in named.items()}


TABLE: dict[str, Storable] = {
    "FSSMSC": Storable("anchorview.fssmsc", 3, _PLACES, times=("stage_seconds_",)),
    "AnchorViewClassifier": Storable(
        "anchorview.classifier",
        2,
        (*_PLACES, "_kept_plain", "_search"),
        times=("stage_seconds_", "cv_results_.mean_fit_time"),
    ),
    "Judgement": Storable("anchorview.tuning.judging", 2, times=("seconds",)),
    "Pipeline": Storable("sklearn.pipeline", without=(*_NEVER, "memory")),  # a folder of pickles is not to be trusted
    # Encoders are named by the encoders of columns, with their fingerprints; folders are those of one machine.
    "TableViews": Storable("anchorview.data.table_views", without=(*_NEVER, *_OF_THIS_MACHINE)),
    **_ours(
        PerView="data.per_view",
        ImageColumn="data.image_column",
        TextVectors="data.text_vectors",
        ColumnKind="data.column_kinds",
        TextEncoder="data.column_encoders",
        ListEncoder="data.column_encoders",
        NumberColumn="data.number_encoder",
        NumberEncoder="data.number_encoder",
        CategoryEncoder="data.column_encoders",
        TagEncoder="data.tag_encoder",
        DenseScaler="features.scaled",
        ViewsScaler="features.scaled",
        TextScaler="features.text",
        Directions="features.directions",
        ElasticNetEncoder="solver.elastic_net",
        PatternGrams="solver.grams",
        RowModel="solver.admm.step",
        Push="solver.admm.step",
        ReplayEncoder="solver.admm.step",
        Model="model.model",
        Branch="model.model",
        Member="model.model",
        Embedder="model.model",
        LabelledNeighbours="readers.nearest",
        PlainNeighbours="readers.plain_neighbours",
        ClusterCentres="readers.clusters",
        LinearReader="readers.linear",
        FoldedReader="readers.linear",
        ViewRegressions="readers.view_regressions",
        SpreadReader="readers.graph",
        PoissonReader="readers.graph",
        FittedRows="readers.graph",
        GraphSpace="readers.graph",
        HeldOutLabels="readers.base",
        CodeSpace="readers.code_space",
        Unlikeness="readers.unlikeness",
        KeptFit="fitting.kept_fit",
        Conflict="supervision.conflicts",
        Contradiction="supervision.conflicts",
        ConstraintViolations="supervision.conflicts",
        ActiveSet="solvers",
        ADMM="solvers",
        Setting="tuning.settings",
        SearchState="fitting.searching",
    ),
    **_sklearn(
        CountVectorizer="feature_extraction.text",
        HashingVectorizer="feature_extraction.text",
        TfidfTransformer="feature_extraction.text",
        TfidfVectorizer="feature_extraction.text",
        PCA="decomposition",
        TruncatedSVD="decomposition",
        SimpleImputer="impute",
        MaxAbsScaler="preprocessing",
        MinMaxScaler="preprocessing",
        Normalizer="preprocessing",
        OneHotEncoder="preprocessing",
        OrdinalEncoder="preprocessing",
        QuantileTransformer="preprocessing",
        RobustScaler="preprocessing",
        StandardScaler="preprocessing",
    ),
}


RENAMED = {"FSSMSCCV": "AnchorViewClassifier"}  # classes that had other names in older files


def class_named(name: Any) -> type:
    """Return a class of the table; an error for any other name."""
    name = RENAMED.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in TABLE:
        raise ValueError(f"{name!r:.80} is not a class that a model file may hold")
    found: type = getattr(importlib.import_module(TABLE[name].module), name)
    return found


def storable_name(kind: type) -> str | None:
    """Return the name that a class has in the table; None if it is not there. Subclasses are other classes."""
    name = kind.__name__
    return name if name in TABLE and class_named(name) is kind else None
