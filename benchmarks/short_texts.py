"""Short texts of many classes, made without any download, in the manner of CLINC150: for benchmarks/search_cost.py.

    python benchmarks/short_texts.py                          what they look like

22,500 requests of 4 to 12 words in 150 classes, which come in ten groups. A word is of its class, of its group, or one
that everybody uses; all three kinds have frequencies by Zipf's law, classes of a group share part of their words, and
words are stems with endings, so that parts of words tell something that whole words do not. The views are counts of
words and of character n-grams, both sparse.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import CountVectorizer

from anchorview import Views

N_TEXTS, N_CLASSES, N_GROUPS = 22_500, 150, 10
COMMON, OF_GROUP, OF_CLASS = 1200, 40, 14  # stems that everybody, a group and a class have
SHARES = (0.5, 0.15, 0.35)  # of the words of a text
SHARED = 0.3  # of the stems of a class: they are stems of another class of its group too
ENDINGS = ("", "", "", "", "s", "s", "ed", "ing")
ONSETS, VOWELS = (
    ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w", "ch", "st", "tr", "pl"),
    tuple("aeiou"),
)


def _make_stems(count: int, rng: np.random.Generator) -> list[str]:
    """Return different stems of one to three syllables, the shorter ones first."""
    stems: dict[str, None] = {}
    while len(stems) < count:
        n_syllables = 1 + (len(stems) > 150) + (len(stems) > 1200)
        syllables = [rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(n_syllables)]
        stems["".join([*syllables, rng.choice(ONSETS)])] = None
    return list(stems)


def _draw(count: int, size: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Draw numbers below `count` by Zipf's law: the first is twice as frequent as the second."""
    reached = np.cumsum(1 / np.arange(1, count + 1))
    return np.searchsorted(reached, reached[-1] * rng.random(size))


def write_texts(seed: int = 0) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return the texts and their classes."""
    rng = np.random.default_rng(seed)
    stems = np.array(_make_stems(COMMON + N_GROUPS * OF_GROUP + N_CLASSES * OF_CLASS, rng))
    common, rest = stems[:COMMON], rng.permutation(stems[COMMON:])
    of_groups, of_classes = rest[: N_GROUPS * OF_GROUP], rest[N_GROUPS * OF_GROUP :].reshape(N_CLASSES, OF_CLASS)
    of_groups = of_groups.reshape(N_GROUPS, OF_GROUP)
    other = np.roll(of_classes, -N_GROUPS, axis=0)  # of the same group
    of_classes = np.where(rng.random(of_classes.shape) < SHARED, other, of_classes)
    classes = rng.permutation(np.repeat(np.arange(N_CLASSES), N_TEXTS // N_CLASSES))
    lengths = rng.integers(4, 13, N_TEXTS)
    owners, n_words = np.repeat(classes, lengths), int(lengths.sum())
    kinds = [
        common[_draw(COMMON, n_words, rng)],
        of_groups[owners % N_GROUPS, _draw(OF_GROUP, n_words, rng)],
        of_classes[owners, _draw(OF_CLASS, n_words, rng)],
    ]
    words = np.choose(rng.choice(3, n_words, p=SHARES), kinds)
    words = np.char.add(words, rng.choice(ENDINGS, n_words))
    return [" ".join(text) for text in np.split(words, np.cumsum(lengths)[:-1])], classes


def make_short_texts(seed: int = 0) -> tuple[Views, npt.NDArray[np.intp]]:
    """Return the texts as two views of counts, and their classes."""
    texts, classes = write_texts(seed)
    counters: dict[str, Any] = {
        "words": CountVectorizer(dtype=np.float32),
        "characters": CountVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=2, dtype=np.float32),
    }
    return Views({name: counter.fit_transform(texts) for name, counter in counters.items()}), classes


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    views, classes = make_short_texts()
    print(f"{views!r}\nentries of a row: {[round(array.nnz / len(views), 1) for array in views.arrays]}")
    texts, _ = write_texts()
    for number in range(3):
        print(number, [text for text, class_id in zip(texts, classes, strict=True) if class_id == number][:3])


if __name__ == "__main__":
    main()
