"""Texts that share most of their phrases: MinHash and locality-sensitive hashing (Broder 1997) on words in threes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

SAME_PHRASES = 0.8  # Jaccard similarity of the sets of phrases
FEWEST_WORDS = 8  # of a text: shorter ones are alike by chance
_MOST_WORDS = 5_000  # of a text that are read
_PERMUTATIONS = 64
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+")  # Chinese and Japanese have no blanks between words

K = TypeVar("K", bound=Hashable)


def near_texts(test: Iterable[tuple[K, str]], train: Iterable[tuple[K, str]]) -> Iterator[tuple[K, K]]:
    """Pairs (key of a test text, key of a train text), each test text with the most similar train text.

    Memory is linear in the test texts; train texts are read once, as a stream. Texts of fewer than ``FEWEST_WORDS``
    words are left out.
    """
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=SAME_PHRASES, num_perm=_PERMUTATIONS)
    phrases_of: dict[K, frozenset[bytes]] = {}
    for key, phrases, sketch in _sketches(test):
        if key not in phrases_of:
            phrases_of[key] = phrases
            index.insert(key, sketch)
    best: dict[K, tuple[float, K]] = {}
    for key, phrases, sketch in _sketches(train):
        for found in index.query(sketch):
            one = phrases_of[found]
            similarity = len(one & phrases) / len(one | phrases)  # Jaccard's
            if similarity >= SAME_PHRASES and similarity > best.get(found, (0.0, key))[0]:
                best[found] = similarity, key
    yield from ((key, other) for key, (_, other) in best.items())


def phrases_of(text: str) -> frozenset[bytes]:
    """Its words in threes, lower case, without marks; empty for a short text."""
    words = [match[0].encode() for _, match in zip(range(_MOST_WORDS), _WORD.finditer(text.lower()), strict=False)]
    if len(words) < FEWEST_WORDS:
        return frozenset()
    return frozenset(b" ".join(three) for three in zip(words, words[1:], words[2:], strict=False))


def _sketches(texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, frozenset[bytes], object]]:
    from datasketch import MinHash

    empty = MinHash(num_perm=_PERMUTATIONS, hashfunc=zlib.crc32)
    for key, text in texts:
        if phrases := phrases_of(text):
            sketch = empty.copy()
            sketch.update_batch(phrases)
            yield key, phrases, sketch
