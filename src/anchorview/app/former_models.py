"""Models of files of the first two versions, whose parts had other classes, as models of today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..features.products import landmark_gram
from ..fitting.searching import SearchState
from ..model.model import Branch, Embedder, Member, Model
from ..readers.graph import PoissonReader, SpreadReader
from ..readers.linear import FoldedReader, LinearReader
from ..readers.nearest import LabelledNeighbours
from ..readers.plain_neighbours import PlainNeighbours
from ..solver.elastic_net import ElasticNetEncoder
from ..solver.grams import PatternGrams
from .former_names import translate_fitted

_SPACES = {"nearest": "unit_embedding", "knn": "unit_embedding", "embedding": "unit_embedding", "codes": "unit_codes"}


@dataclass(frozen=True)
class _Readings:
    neighbours: Any
    on_products: Any
    temperature: float = 1.0


@dataclass(frozen=True)
class _LinearReading:
    space: Any
    intercept: Any
    strength: float
    temperature: float


@dataclass(frozen=True)
class _GraphReading:
    rows: Any
    potential: Any
    temperature: float


@dataclass(frozen=True)
class _Expert:
    setting: Any
    head: Any
    temperature: float
    embedding: Any
    weight: float = 1.0
    saw_sure_rows: bool = False


@dataclass
class _ExpertGroup:
    scaler: Any
    landmarks: Any
    on_codes: Any = field(default_factory=list)
    on_features: Any = field(default_factory=list)
    on_graph: Any = field(default_factory=list)
    fitted_rows: Any = None
    completion: Any = None


@dataclass(frozen=True)
class _LinearHead:
    coefficients: Any
    intercept: Any
    classes: Any
    n_classes: int
    converged: bool = True


@dataclass(frozen=True)
class _NeighbourHead:
    rule: Any


@dataclass(frozen=True)
class _WeightedNeighbours:
    reference: Any
    class_ids: Any
    weights: Any
    n_neighbors: int


@dataclass(frozen=True)
class _GraphHead:
    shares: Any


@dataclass(frozen=True)
class _PoissonHead:
    potential: Any


@dataclass(frozen=True)
class _ViewImportance:
    names: Any
    reconstruction: Any
    share: Any
    changed: Any
    accuracy_drop: Any
    n_rows: int


FORMER: dict[Any, type] = {
    kind.__name__[1:]: kind
    for kind in (
        _Readings,
        _LinearReading,
        _GraphReading,
        _Expert,
        _ExpertGroup,
        _LinearHead,
        _NeighbourHead,
        _WeightedNeighbours,
        _GraphHead,
        _PoissonHead,
        _ViewImportance,
    )
}


def upgrade_judgement(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a judgement by their names of today."""
    return {"shrunk_loss" if name == "belief" else name: value for name, value in body.items()}


def upgrade_fitted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fitted attributes of an estimator as those of today have them."""
    found = translate_fitted(given)
    scaler, encoder = found.pop("_scaler"), found.pop("_encoder")
    landmarks, embedding = found["landmarks_"], found["landmark_embedding_"]
    embedder = Embedder(scaler, landmarks, encoder, embedding)
    if "_groups" in found:
        branches = tuple(map(_to_branch, found.pop("_groups")))
        temperature = found.pop("_temperature")
    else:
        rule = found.pop("_rule")
        members, temperature = _members_of(rule, encoder, embedding)
        completer = None if temperature is None else encoder
        branches = (Branch(scaler, landmarks, members, completer),)
    found["_model"] = Model(branches, temperature, found["classes_"], found.pop("_class_order", None), embedder)
    if "_judged" in found:
        names = ("_judged", "_folds", "_seed", "_sampled", "_data_fingerprint")
        found["_search"] = SearchState(*(found.pop(name) for name in names))
    table = found.get("cv_results_")
    if table is not None and "belief" in table:
        found["cv_results_"] = {"shrunk_loss" if name == "belief" else name: table[name] for name in table}
    return found


def _members_of(rule: Any, encoder: Any, embedding: Any) -> tuple[tuple[Member, ...], float | None]:
    """Return the members that one setting has, and the temperature of their mean."""
    if not isinstance(rule, _Readings):
        return (Member(rule, encoder=encoder, embedding=embedding),), None
    members = []
    for reading in rule.on_products:
        if isinstance(reading, _LinearReading):
            members.append(
                Member(FoldedReader(reading.space, reading.intercept, reading.strength, reading.temperature))
            )
        else:
            reader = PoissonReader(reading.potential, reading.temperature, is_double=True)
            members.append(Member(reader, graph=reading.rows))
    if rule.neighbours is not None:
        members.append(Member(rule.neighbours, encoder=encoder, embedding=embedding))
    return tuple(members), rule.temperature


def _to_branch(group: _ExpertGroup) -> Branch:
    members = [_to_member(expert, encoder) for encoder, experts in group.on_codes for expert in experts]
    members += [replace(_to_member(expert, None), graph=group.fitted_rows) for expert in group.on_graph]
    members += [_to_member(expert, None) for expert in group.on_features]
    return Branch(group.scaler, group.landmarks, tuple(members), _completer(group))


def _completer(group: _ExpertGroup) -> ElasticNetEncoder | None:
    """Return what completes rows that lack views, for readers of the graph."""
    if group.completion is None or not group.on_graph:
        return None
    known = [encoder.grams for encoder, _ in group.on_codes if encoder.grams is not None]
    gram, weights = landmark_gram(group.landmarks), group.scaler.view_weights
    made = known or [PatternGrams(group.landmarks, group.scaler.sizes, gram, weights)]
    return ElasticNetEncoder(made[0].complete, group.completion[1], group.completion[0], made[0])


def _to_member(expert: _Expert, encoder: Any) -> Member:
    head, temperature = expert.head, expert.temperature
    reader: Any
    if isinstance(head, _LinearHead):
        space: Any = _SPACES.get(expert.setting.head, "features")
        values = head.coefficients, head.intercept, head.classes, head.n_classes, head.converged
        reader = LinearReader(*values, space, temperature)
    elif isinstance(head, _NeighbourHead):
        reader = PlainNeighbours(head.rule, None, temperature)
    elif isinstance(head, _WeightedNeighbours):
        labelled = LabelledNeighbours(head.reference, head.class_ids, "knn", head.n_neighbors)
        reader = PlainNeighbours(labelled, head.weights, temperature)
    elif isinstance(head, _GraphHead):
        reader = SpreadReader(head.shares, temperature)
    else:
        reader = PoissonReader(head.potential, temperature)
    return Member(reader, expert.weight, encoder, expert.embedding, None, expert.saw_sure_rows)
