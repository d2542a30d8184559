"""What users are told when rows do not fit: the cause, and what to do."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from anchorview import FSSMSC, Views, load, save
from anchorview.core.notebooks import in_notebook
from anchorview.engine.sources.dask_tasks import ClusterError, explained
from support.models import labels, made, quick


def test_a_raw_table_is_sent_to_table_views() -> None:
    frame = pd.DataFrame({"text": ["good and cheap", "slow"] * 20, "size": range(40)})
    with pytest.raises(ValueError, match=r"row 0 holds 'good and cheap', which is text\. TableViews turns raw tables"):
        FSSMSC().fit(frame, [0, 1] * 20)
    frame["text"] = frame["text"].astype("category")
    with pytest.raises(ValueError, match=r"make_pipeline\(TableViews\(\), FSSMSC\(\)\)"):
        FSSMSC().fit(frame, [0, 1] * 20)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("cells", "words"),
    [({3: np.nan}, "NaN"), ({3: -np.inf}, "infinity"), ({3: np.nan, 7: np.inf}, "NaN and infinity")],
)
def test_what_is_not_finite_is_said(form: object, cells: dict[int, float], words: str) -> None:
    array = made().data[0].copy()
    for row, value in cells.items():
        array[row, 2] = value
    with pytest.raises(ValueError, match=rf"contains {words} in rows? 3"):
        quick().fit([form(array), made().data[1]], labels())  # type: ignore[operator]


def test_the_same_features_cut_otherwise() -> None:
    model = quick().fit(made().views, labels())
    X = np.hstack(made().data)
    with pytest.raises(ValueError, match="X has 14 features, as in the fit, but they are cut into other views: view"):
        model.predict([X[:, :6], X[:, 6:]])
    with pytest.raises(ValueError, match="X has 13 features, but FSSMSC is expecting 14"):
        model.predict([X[:, :7], X[:, 8:]])


def test_views_of_some_columns_of_an_array(tmp_path: object) -> None:
    X, y = np.hstack([*made().data, np.full((60, 3), 7.0)]), labels()
    model = quick(views={"a": slice(0, 8), "b": [8, 9, 12]}).fit(X, y)
    cut = Views({"a": X[:, :8], "b": X[:, [8, 9, 12]]})
    expected = quick().fit(cut, y).predict(cut)
    assert (model.predict(X) == expected).all()
    assert (model.predict(X.tolist()) == expected).all()
    assert (model.predict(sparse.csr_array(X)) == expected).all()
    save(model, f"{tmp_path}/model")
    assert (load(f"{tmp_path}/model").predict(X) == expected).all()
    for other in (X[:, :-1], np.hstack([X, X])):
        with pytest.raises(ValueError, match=f"X has {other.shape[1]} features, but FSSMSC is expecting 17"):
            model.predict(other)
    with pytest.raises(ValueError, match="X has 11 features, but FSSMSC is expecting 17"):
        model.predict(X[:, :11])  # as many as its views take
    again = model.fit(X[:, :13], y)  # another array: what was known of the first is forgotten
    assert again.predict(X[:, :13]).shape == (60,)
    whole = again.set_params(views=[slice(0, 8), slice(8, 14)]).fit(X[:, :14], y)
    assert whole.predict(X[:, :14]).shape == (60,)
    with pytest.raises(ValueError, match="X has 13 features, but FSSMSC is expecting 14"):
        whole.predict(X[:, :13])


def test_a_notebook_gets_one_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    logger = logging.getLogger("anchorview")
    handlers, level = logger.handlers[:], logger.level
    monkeypatch.setattr(logger, "propagate", False)
    logger.handlers.clear()
    try:
        quick(verbose=True).fit(made().views, labels())
        shown = capsys.readouterr()
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)
    assert shown.err == ""
    assert shown.out.count("\r") > 5
    assert shown.out.count("\n") == 1
    assert shown.out.endswith("\n")


def test_a_cluster_that_is_gone() -> None:
    with (
        pytest.raises(ClusterError, match="that held the rows or the codes is gone.* fit again"),
        explained([]),
    ):
        raise RuntimeError("Missing dependency anchorview-keep-work-1 for dependents {'anchorview-work-2'}")
