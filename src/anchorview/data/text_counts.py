"""Counts of words and of character n-grams: what scikit-learn's `CountVectorizer` gives, many times faster.

Texts are cut into terms once, whether terms are being chosen or only counted. N-grams are handled as numbers: the
characters of all texts in one array, each as its place in an alphabet, so that up to four of them fit into 64 bits. The
order of these numbers is that of the n-grams as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..engine.blocks import map_blocks

_WORD = re.compile(r"(?u)\b\w+\b")  # one letter is a word too: "C", "R"
_SIZES = (2, 3, 4)  # of n-grams, as `char_wb` has them: within a word with a blank before and behind it
_MOST_CHARACTERS = 2**16 - 1  # of an alphabet; place 0 is for what is not in it
_BLOCK_CHARACTERS = 2**18  # counted together: some 40 MB while they are

Keys = npt.NDArray[np.uint64]


class Counted(NamedTuple):
    """Terms, sorted, and how often each text has them."""

    terms: list[str]
    counts: sparse.csr_array
    n_seen: int  # terms of all texts, each as often as it is there, known or not


class WordIndex:
    """Counts known words, in the order of the columns."""

    def __init__(self, terms: list[str]) -> None:
        self._terms, self._place = terms, {term: place for place, term in enumerate(terms)}

    def count(self, texts: Sequence[str], n_threads: int = 1) -> Counted:
        """Return how often each text has each word."""
        found = [_WORD.findall(text.lower()) for text in texts]
        places, n_seen = [[self._place.get(word, -1) for word in words] for words in found], sum(map(len, found))
        return Counted(self._terms, _matrix(places, len(self._terms)), n_seen)


def choose_words(texts: Sequence[str], least: int, most: int, n_threads: int = 1) -> Counted:
    """Return the words that are in so many texts at least, the most frequent if they are many, and their counts.

    Examples
    --------
    >>> counted = choose_words(["to be or not", "not to be", "why"], 2, 10)
    >>> counted.terms, counted.counts.toarray().tolist()
    (['be', 'not', 'to'], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    """
    place: dict[str, int] = {}
    places = [[place.setdefault(word, len(place)) for word in _WORD.findall(text.lower())] for text in texts]
    names = list(place)
    order = sorted(range(len(names)), key=names.__getitem__)
    counts = sparse.csr_array(_matrix(places, len(names))[:, order])
    counts.sort_indices()
    kept = _frequent(_document_frequency(counts), np.asarray(counts.sum(axis=0)).ravel(), least, most)
    n_seen = sum(map(len, places))
    return Counted([names[order[column]] for column in kept], sparse.csr_array(counts[:, kept]), n_seen)


def _matrix(places: list[list[int]], n_terms: int) -> sparse.csr_array:
    """Return the counts of terms by their places, row by row; −1 is no term."""
    rows = np.repeat(np.arange(len(places)), [len(row) for row in places])
    columns = np.fromiter((place for row in places for place in row), np.intp, len(rows))
    return count_pairs(rows[columns >= 0], columns[columns >= 0], (len(places), n_terms))


def count_pairs(rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], shape: tuple[int, int]) -> sparse.csr_array:
    """Return how often each pair is there."""
    if shape[0] == 1:  # a row at a time: without the overhead of SciPy's conversions
        found, counts = np.unique(columns, return_counts=True)
        return sparse.csr_array((counts.astype(np.float32), found, np.array([0, len(found)])), shape=shape)
    result = sparse.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    result.sum_duplicates()
    return result


def _document_frequency(counts: sparse.csr_array) -> npt.NDArray[np.intp]:
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _frequent(
    n_texts: npt.NDArray[np.intp], totals: npt.NDArray[np.floating], least: int, most: int
) -> npt.NDArray[np.intp]:
    """Return the terms that are in so many texts at least, the most frequent if they are many; ascending."""
    kept = np.flatnonzero(n_texts >= least)
    if len(kept) > most:
        kept = np.sort(kept[np.argsort(-totals[kept], kind="stable")[:most]])
    return kept


class GramIndex:
    """Counts known n-grams, of up to four characters, in the order of the columns."""

    def __init__(self, terms: list[str]) -> None:
        self._terms = terms
        codes = np.array(terms, dtype="<U4").view(np.uint32).reshape(-1, 4)
        self._alphabet = _Alphabet(np.unique(codes))
        keys = _join(list(self._alphabet.places(codes.ravel()).reshape(-1, 4).T))
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def count(self, texts: Sequence[str], n_threads: int = 1) -> Counted:
        """Return how often each text has each n-gram."""
        if len(texts) == 1:  # a row at a time: without the overhead of threads
            return Counted(self._terms, *self._count(_padded(texts)))
        parts = map_blocks(lambda block: self._count(_padded(block)), list(_blocks(texts)), n_threads)
        return Counted(self._terms, _stack([part for part, _ in parts]), sum(n_seen for _, n_seen in parts))

    def _count(self, padded: list[str]) -> tuple[sparse.csr_array, int]:
        rows, keys, n_seen = _grams(padded, self._alphabet)
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        known = self._keys[places] == keys
        return count_pairs(rows[known], self._order[places[known]], (len(padded), len(self._terms))), n_seen


def choose_grams(texts: Sequence[str], least: int, most: int, n_threads: int = 1) -> Counted:
    """Return the n-grams that are in so many texts at least, the most frequent if they are many, and their counts.

    Examples
    --------
    >>> counted = choose_grams(["ab", "a"], 1, 10)
    >>> counted.terms
    [' a', ' a ', ' ab', ' ab ', 'a ', 'ab', 'ab ', 'b ']
    >>> counted.counts.toarray()[1].tolist()
    [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    blocks = map_blocks(_padded, list(_blocks(texts)), n_threads)
    alphabet = _Alphabet(_characters(blocks))

    def of_block(padded: list[str]) -> tuple[Keys, sparse.csr_array, int]:
        rows, keys, n_seen = _grams(padded, alphabet)
        found = np.sort(keys)
        found = found[np.diff(found, prepend=found[:1] ^ np.uint64(1)) != 0]
        return found, count_pairs(rows, np.searchsorted(found, keys), (len(padded), len(found))), n_seen

    parts = map_blocks(of_block, blocks, n_threads, "reading text")
    keys = np.unique(np.concatenate([found for found, _, _ in parts]))
    n_texts, totals = np.zeros(len(keys), dtype=np.intp), np.zeros(len(keys))
    for found, counts, _ in parts:
        places = np.searchsorted(keys, found)
        n_texts[places] += _document_frequency(counts)
        totals[places] += np.asarray(counts.sum(axis=0)).ravel()
    keys = keys[_frequent(n_texts, totals, least, most)]

    def of_part(part: tuple[Keys, sparse.csr_array, int]) -> sparse.csr_array:
        found, counts, _ = part
        kept = np.flatnonzero(np.isin(found, keys, assume_unique=True))
        some = sparse.csr_array(counts[:, kept])
        columns = np.searchsorted(keys, found[kept])[some.indices]
        return sparse.csr_array((some.data, columns, some.indptr), shape=(some.shape[0], len(keys)))

    counted = _stack(map_blocks(of_part, parts, n_threads))
    return Counted(alphabet.texts(keys), counted, sum(n_seen for _, _, n_seen in parts))


class _Alphabet:
    """Characters by their places, from 1 on, in the order of their code points; 0 for any other."""

    def __init__(self, characters: npt.NDArray[np.uint32]) -> None:
        self._characters = np.concatenate([np.zeros(1, np.uint32), characters[characters > 0]])
        self._places = np.zeros(int(self._characters.max()) + 2, dtype=np.uint64)  # the last is for those beyond
        self._places[self._characters] = np.arange(len(self._characters))

    def places(self, codes: npt.NDArray[np.uint32]) -> Keys:
        """Return the places of characters."""
        return self._places[np.minimum(codes, len(self._places) - 1)]

    def texts(self, keys: Keys) -> list[str]:
        """Return n-grams as text."""
        shifts = np.array([48, 32, 16, 0], dtype=np.uint64)
        places = (keys[:, None] >> shifts) & np.uint64(0xFFFF)
        return np.ascontiguousarray(self._characters[places]).view("<U4").ravel().tolist()


def _characters(blocks: list[list[str]]) -> npt.NDArray[np.uint32]:
    """Return all characters of texts, sorted; of too many for an alphabet, the most frequent."""
    if not blocks:
        return np.empty(0, dtype=np.uint32)
    counts = np.zeros(0x110000, dtype=np.intp)
    for padded in blocks:
        counts += np.bincount(_codes(padded), minlength=0x110000)
    found = np.flatnonzero(counts)
    if len(found) > _MOST_CHARACTERS:
        found = np.sort(found[np.argsort(-counts[found], kind="stable")[:_MOST_CHARACTERS]])
    return found.astype(np.uint32)


def _codes(padded: list[str]) -> npt.NDArray[np.uint32]:
    return np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.uint32)


def _grams(padded: list[str], alphabet: _Alphabet) -> tuple[npt.NDArray[np.intp], Keys, int]:
    """Return the n-grams of texts, whose characters are all in an alphabet, the row of each, and how many there are."""
    codes = _codes(padded)
    places, is_blank = alphabet.places(codes), codes == 32
    row = np.repeat(np.arange(len(padded)), [len(text) for text in padded])
    rows, keys, n_seen = [], [], 0
    for size in _SIZES:
        n_starts = max(len(codes) - size + 1, 0)
        parts = [places[first : first + n_starts] for first in range(size)]
        # An n-gram lies within a word: blanks are at its ends only. Where one text ends and the next begins are two.
        is_gram = ~(is_blank[:n_starts] & is_blank[1 : n_starts + 1])
        for inner in range(1, size - 1):
            is_gram &= ~is_blank[inner : inner + n_starts]
        n_seen += int(np.count_nonzero(is_gram))
        for part in parts:
            is_gram &= part > 0
        rows.append(row[:n_starts][is_gram])
        keys.append(_join([part[is_gram] for part in parts]))
    return np.concatenate(rows), np.concatenate(keys), n_seen


def _join(places: Sequence[Keys]) -> Keys:
    """Return up to four places as one number."""
    result = np.zeros(len(places[0]), dtype=np.uint64)
    for number, each in enumerate(places):
        result |= each << np.uint64(48 - 16 * number)
    return result


def _padded(texts: Sequence[str]) -> list[str]:
    """Return texts in lower case, with one blank before and behind each word."""
    return [f" {' '.join(words)} " if (words := text.lower().split()) else "" for text in texts]


def _blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut texts into blocks of about as many characters; at least one block."""
    start, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= _BLOCK_CHARACTERS:
            yield texts[start : number + 1]
            start, size = number + 1, 0
    if start < len(texts) or not start:
        yield texts[start:]


def _stack(parts: list[sparse.csr_array]) -> sparse.csr_array:
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))
