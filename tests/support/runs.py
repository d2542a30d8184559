"""Small fitted models and their summaries, for tests of reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anchorview import FSSMSC, TableViews, datasets
from anchorview.report.run_summary import RunSummary, summarise_run

WEIGHTS: dict[str, Any] = {"view_weights": None, "ridge": 3.0, "must_link_weight": 3.0}
SETTLED: dict[str, Any] = {"scaling": "l2", **WEIGHTS, "readers": "nearest"}
NASTY = ["<script>document.title='run'</script>", "</script>", '"><img src=x onerror=document.title=1>']


def fit_small(n_rows: int = 120, share: float = 0.3, **parameters: Any) -> tuple[FSSMSC, np.ndarray, Any]:
    """Return a model of three classes, the labels it was given, and the data."""
    made = datasets.make_multiview_subspaces(n_rows, 3, (8, 6), random_state=0)
    y = datasets.hide_labels(made.target, share, stratified=True, random_state=0)
    parameters = {"n_landmarks": 30, "random_state": 0, **SETTLED, **parameters}
    return FSSMSC(**parameters).fit(made.views, y), y, made


def grid(n_rows: int) -> np.ndarray:
    """Return places that are well apart."""
    side = int(np.ceil(np.sqrt(n_rows)))
    return np.column_stack(np.divmod(np.arange(n_rows), side)).astype(float)


def text_summary(n_classes: int = 18, n_rows: int = 540) -> RunSummary:
    """Return a summary of a table of texts and numbers: many classes, some wrong labels, names of any length."""
    rng = np.random.RandomState(0)
    truth = rng.randint(n_classes, size=n_rows)
    kinds = [f"{'a rather long name of ' * (number % 3)}kind{number}" for number in range(n_classes)]
    kinds = [kind.replace(" ", "_") if number % 2 else kind for number, kind in enumerate(kinds)]
    texts = [
        " ".join(
            [f"word{number}", *(f"extra{one}" for one in rng.randint(40, size=6)), f"thing{rng.randint(n_classes)}"]
        )
        for number in truth
    ]
    table = pd.DataFrame(
        {"text": texts, "size": truth * 10.0 + rng.rand(n_rows), "colour": [f"c{n % 4}" for n in truth]}
    )
    y = np.where(np.arange(n_rows) % 4 == 0, truth, -1)
    wrong = np.flatnonzero(y >= 0)[::25]
    y[wrong] = (y[wrong] + 1) % n_classes
    views = TableViews(text_encoder=None).fit_transform(table)
    settled = {**SETTLED, "scaling": ["lsa", "lsa", "standard", "lsa"]}
    model = FSSMSC(n_landmarks=90, random_state=0, on_empty="drop", **settled).fit(views, y)
    return summarise_run(
        model,
        y,
        X=views,
        rows=table,
        names=kinds,
        xy=grid(n_rows),
        where=lambda rows: [f"t.csv, line {r + 2}" for r in rows],
    )


def nasty_summary() -> RunSummary:
    """Return a summary with text in it that would run, or break the page, if it were not escaped."""
    model, y, made = fit_small()
    places = grid(120)
    places[7] = np.nan
    return summarise_run(
        model,
        y,
        X=made.views,
        ids=[f"{NASTY[row % 3]} {row}" for row in range(120)],
        rows=pd.DataFrame({NASTY[0]: [f"{NASTY[2]} text of row {row}" for row in range(120)]}),
        where=lambda rows: [f"{NASTY[1]}.csv, line {row}" for row in rows],
        xy=places,
        names=[*NASTY[:2], "名前 — " + "اسم طويل " * 30],
        title=NASTY[0],
        command=f"anchorview fit '{NASTY[1]}'",
        files={NASTY[2]: NASTY[0]},
    )
