"""Counts of words and n-grams: those of scikit-learn, whatever the texts, and from one reading of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from anchorview import TableViews
from anchorview.data import text_counts
from anchorview.data.text_counts import GramIndex, WordIndex, choose_grams, choose_words

TEXTS = [
    "The C compiler, and R.",
    "",
    "a",
    "  blanks \t and\u00a0others\u2003here \n",
    "Straße ÉCOLE İstanbul naïve",
    "漢字とかな 漢字",
    "🙂🙃 🙂",
    "a-b_c d9 9d",
    "\ud800 alone",
    "the the the",
]
KINDS = {
    "words": (choose_words, WordIndex, {"token_pattern": r"(?u)\b\w+\b"}),
    "characters": (choose_grams, GramIndex, {"analyzer": "char_wb", "ngram_range": (2, 4)}),
}


def random_texts(n_texts: int, seed: int) -> list[str]:
    rng = np.random.RandomState(seed)
    letters = list("abcdeABCDE  \tß漢🙂.-_9")
    return ["".join(rng.choice(letters, rng.randint(0, 30))) for _ in range(n_texts)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("texts", [TEXTS, random_texts(300, 0)], ids=["odd", "random"])
def test_same_terms_and_counts_as_scikit_learn(
    kind: str, least: int, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_counts, "_BLOCK_CHARACTERS", 500)
    choose, index, options = KINDS[kind]
    wanted = CountVectorizer(min_df=least, dtype=np.float32, **options).fit(texts)
    found = choose(texts, least, 10**6, 2)
    assert found.terms == sorted(wanted.vocabulary_)
    for counted in (found, index(found.terms).count(texts, 2)):
        np.testing.assert_array_equal(counted.counts.toarray(), wanted.transform(texts).toarray())
        assert counted.counts.dtype == np.float32 and counted.counts.has_canonical_format
    assert found.n_seen == sum(len(wanted.build_analyzer()(text)) for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_terms_are_not_counted(kind: str) -> None:
    choose, index, options = KINDS[kind]
    known = choose(["red green", "green blue"], 1, 100, 1).terms
    found = index(known).count(["green 漢字 \U0010ffff", "xyzzy", "", "bluegreen"])
    wanted = CountVectorizer(vocabulary=known, dtype=np.float32, **options)
    np.testing.assert_array_equal(found.counts.toarray(), wanted.transform(["green", "", "", "bluegreen"]).toarray())
    assert found.n_seen > found.counts.sum()


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_alone_is_counted_as_among_others(kind: str) -> None:
    choose, index, _ = KINDS[kind]
    known = index(choose(TEXTS, 1, 10**6, 1).terms)
    together = known.count(TEXTS).counts
    for row, text in enumerate(TEXTS):
        alone = known.count([text]).counts
        for part in ("data", "indices"):
            expected = getattr(together[[row]], part)
            np.testing.assert_array_equal(getattr(alone, part), expected, strict=True)
        assert alone.shape == (1, together.shape[1]) and alone.has_canonical_format


@pytest.mark.parametrize("kind", KINDS)
def test_most_frequent_terms_are_kept(kind: str) -> None:
    choose, _, _ = KINDS[kind]
    texts = ["aa bb cc"] * 3 + ["aa bb"] * 3 + ["aa"] * 3
    every = choose(texts, 1, 100, 1)
    kept = choose(texts, 1, 2, 1)
    totals = dict(zip(every.terms, np.asarray(every.counts.sum(axis=0)).ravel().tolist(), strict=True))
    assert len(kept.terms) == 2 and kept.terms == sorted(kept.terms)
    assert min(totals[term] for term in kept.terms) == sorted(totals.values())[-2]
    assert kept.counts.sum() == sum(totals[term] for term in kept.terms)


def test_n_grams_with_nul_are_left_out() -> None:
    """NUL ends text in NumPy, so it is in no alphabet."""
    assert choose_grams(["a\0b"], 1, 100, 1).terms == [" a", "b "]


def test_too_many_characters_keep_the_frequent_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_counts, "_MOST_CHARACTERS", 3)
    assert choose_grams(["ab ab ab", "z"], 1, 100, 1).terms == [" a", " ab", " ab ", "ab", "ab ", "b "]


def test_no_texts_at_all() -> None:
    for choose, index, _ in KINDS.values():
        assert choose(["", " "], 1, 10, 1).terms == []
        assert index([]).count(["some text"]).counts.shape == (1, 0)


def test_texts_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    cut = text_counts._padded
    monkeypatch.setattr(text_counts, "_padded", lambda texts: read.extend(texts) or cut(texts))
    texts = [f"text number {row} of a table" for row in range(60)]
    TableViews(text_encoder=None).fit_transform(pd.DataFrame({"text": texts, "size": range(0, 120, 2)}))
    assert sorted(read) == sorted(texts)
