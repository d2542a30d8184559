"""Every constant of the search of `AnchorViewClassifier`, with its reason, and the rows that fits look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..core.checks import Number, check_choice, check_number
from ..features.auto import SCALINGS

POWERS = (1.0, 2.0)  # of how much better than chance a view is that may be its weight; above 2 one view is all there is


# With next to no labels the nearest row and the graph are hard to beat, and regressions have little to go by.
_PRIOR_LOSSES = {"nearest": 0.0, "spread": 0.0, "poisson": 0.0, "embedding": 0.1, "knn": 0.2}
_PRIOR_LOSSES |= {"features": 0.4, "views": 0.4, "codes": 0.5}
# Labels choose by chance until there are two for each setting compared: till then the nearest row is steadier. Poisson
# learning is as good with a label or two per class, but gains less by more of them (it has half of this, and less and
# less); late fusion is best where views tell different things, and poor where they do not.
_STEADY_ROWS = {"nearest": 80.0, "poisson": 40.0, "views": 20.0}


@dataclass(frozen=True)
class SearchOptions:
    """The constants; `AnchorViewClassifier(search_options={...})` changes some of them.

    Examples
    --------
    >>> SearchOptions().n_finalists
    2
    """

    # what is tried
    dense_scalings: tuple[str, ...] = ("minmax", "symmetric", "standard", "l2")
    count_zeros: float = 0.9  # a non-negative view with a larger part of zeros may be counts of words
    feature_strengths: tuple[float, ...] = (1.0, 10.0, 100.0)  # C of the regressions on features
    view_strengths: tuple[float, ...] = (100.0,)  # C of those on single views, which know less each
    graph_strengths: tuple[float, ...] = (0.8, 0.95)  # how far labels spread
    poisson_strengths: tuple[float, ...] = (0.99,)  # how little the potential is damped: walks of some 100 edges count
    ridges: tuple[float, ...] = (1.0, 10.0)  # besides the default; these weights are in units of the data
    l1s: tuple[float, ...] = (0.03,)
    must_link_weights: tuple[float, ...] = (0.3, 30.0)
    heavy_ridges: tuple[float, ...] = (30.0, 100.0)  # the next one where the last was best

    # how far the search goes
    few_labels: int = 50  # below this, one round of folds judges too noisily: there are two
    enough_judged: int = 50  # rows; with fewer, no scaling is given up on their word
    n_hopeful: int = 3  # scalings for which codes are computed, the default besides
    n_finalists: int = 2  # scalings that are searched further
    dense_codes: int = 100  # non-zeros per row above which no denser codes are tried: a row costs their cube
    max_search_rows: int = 20_000  # without a label, up to which the search looks at all rows
    n_sampled: int = 10_000  # of more rows it looks at so many: 20,000 chose no better and took twice as long
    max_search_labels: int = 3000  # that settings are judged by: accuracies are then right to a point; fits hear all
    n_coded: int = 10_000  # rows, besides those told of, whose codes judge settings; 2,000 lost 3 points on texts
    max_sources: int = 2  # scalings in the average, where there are more rows: each is a product of all rows
    max_encoders: int = 2  # sets of codes in the average, where there are more rows: each costs about a fit
    max_graph_rows: int = 50_000  # exact neighbours take time by the square of the rows
    n_kept: int = 20  # settings whose scalings stay in memory
    cache_bytes: int = 2**30  # of E, which several settings of one scaling use

    # how settings are judged
    prior_rows: float = 20.0  # judged rows at which evidence and prior weigh the same
    prior_losses: Mapping[str, float] = field(default_factory=_PRIOR_LOSSES.copy)  # of each head, in units of log loss
    change_loss: float = 0.1  # prior doubt for each value that is not the default's

    # what is averaged
    max_compared: int = 40  # settings that the average is put together from
    steady_rows: Mapping[str, float] = field(default_factory=_STEADY_ROWS.copy)  # judged labels that steady heads weigh
    picks_per_setting: int = 2  # half of the picks go to the best settings of different kinds
    second_fit: bool = True  # fit once more with the rows that the average is sure of
    sure_share: float = 0.8  # of the rows that are given a class, those it is surest of count as labelled
    max_sure: int = 2500  # of them; 5,000 found no more rows right (two data sets), and cost wide regressions far more


_NUMBERS: dict[str, Number] = {
    "count_zeros": Number(0),
    "feature_strengths": Number(0, strict=True),
    "view_strengths": Number(0, strict=True),
    "graph_strengths": Number(0, strict=True),
    "poisson_strengths": Number(0, strict=True),
    "ridges": Number(0),
    "l1s": Number(0),
    "must_link_weights": Number(0),
    "heavy_ridges": Number(0),
    "few_labels": Number(0, integer=True),
    "enough_judged": Number(0, integer=True),
    "n_hopeful": Number(1, integer=True),
    "n_finalists": Number(1, integer=True),
    "dense_codes": Number(0, integer=True),
    "max_search_rows": Number(1, integer=True),
    "n_sampled": Number(1, integer=True),
    "max_search_labels": Number(2, integer=True),
    "n_coded": Number(1, integer=True),
    "max_sources": Number(1, integer=True),
    "max_encoders": Number(1, integer=True),
    "max_graph_rows": Number(0, integer=True),
    "n_kept": Number(0, integer=True),
    "cache_bytes": Number(0, integer=True),
    "prior_rows": Number(0),
    "prior_losses": Number(0),
    "change_loss": Number(0),
    "max_compared": Number(1, integer=True),
    "steady_rows": Number(0),
    "picks_per_setting": Number(1, integer=True),
    "sure_share": Number(0),
    "max_sure": Number(1, integer=True),
}


_AT_MOST_ONE = ("count_zeros", "sure_share")


def make_options(changes: Mapping[str, Any] | None) -> SearchOptions:
    """Return the options with some of them changed, or raise an error that names what is not one, or cannot be."""
    if changes is not None and not isinstance(changes, Mapping):
        raise ValueError(f"search_options must be a dict of options by name, or None; got {changes!r}.")
    known = {option.name for option in fields(SearchOptions)}
    unknown = sorted(map(str, set(changes or {}) - known))
    if unknown:
        raise ValueError(f"search_options {unknown} are not known; there are {', '.join(sorted(known))}.")
    for name, value in (changes or {}).items():
        _check_option(name, value)
    return SearchOptions(**(changes or {}))


def _check_option(name: str, value: Any) -> None:
    label, default = f"search_options[{name!r}]", getattr(SearchOptions(), name)
    if isinstance(default, Mapping):
        if not isinstance(value, Mapping) or set(value) != set(default):
            raise ValueError(f"{label} must be a dict with a number for each of {sorted(default)}; got {value!r}.")
        items = list(value.values())
    elif isinstance(default, tuple):
        if not isinstance(value, list | tuple):
            raise ValueError(f"{label} must be a list or a tuple; got {value!r}.")
        items = list(value)
        if name == "dense_scalings" and not items:
            raise ValueError(f"{label} is empty; name at least one scaling.")
    else:
        items = [value]
    for item in items:
        if name == "dense_scalings":
            check_choice(label, item, tuple(kind for kind in SCALINGS if kind != "auto"))
        elif name == "second_fit":
            check_choice(label, item, (False, True))
        else:
            rule = _NUMBERS[name]
            check_number(label, item, rule.low, integer=rule.integer, strict=rule.strict)
            if (name in _AT_MOST_ONE and item > 1) or (name in ("graph_strengths", "poisson_strengths") and item >= 1):
                raise ValueError(f"{label} must be {'at most' if name in _AT_MOST_ONE else 'below'} 1; got {item!r}.")


SAMPLE_ROWS = 1500  # on which `FSSMSC` chooses what is "auto"
SAMPLE_LANDMARKS = 100  # with 1,500 rows; 200, or all rows and landmarks, chose no better (docs/lab/accuracy.md)
MOST_LABELLED = 750  # of the sample: the others show what unlabelled rows are like
JUDGED_LABELS = 10_000  # of which the regression learns that judges labels
JUDGED_GRAPH = 2000  # rows of its graph, fewer: labels are judged in every fit, and neighbours cost their square
JUDGED_TOGETHER = 4096  # labels
JUDGED_FOLDS = 5  # that hide them
