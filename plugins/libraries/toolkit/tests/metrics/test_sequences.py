"""MAP@k and edit distance, against slow and plain versions."""

import math
import random
import time

import pytest

from mlecore_toolkit import edit_distance, map_at_k, word_jaccard


def table_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def test_edit_distance_equals_the_table():
    rng = random.Random(0)
    for _ in range(400):
        a, b = ("".join(rng.choices("abcé", k=rng.choice([0, 1, 3, 9, 70, 130]))) for _ in range(2))
        assert edit_distance(a, b) == edit_distance(b, a) == table_distance(a, b)


def test_edit_distance_of_lists():
    assert edit_distance([2, 4, 11], [2, 11]) == 1
    assert edit_distance([], [1, 1]) == 2
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("𝒳", "x") == 1
    assert edit_distance([-1, 7], [-2, 7]) == 1  # which have the same hash


def test_edit_distance_of_lists_equals_the_table():
    rng = random.Random(1)
    for _ in range(200):
        a, b = (rng.choices(range(-3, 3), k=rng.choice([0, 1, 9, 70])) for _ in range(2))
        assert edit_distance(a, b) == table_distance(a, b)


def test_a_hostile_text_takes_time_in_proportion():
    begun = time.process_time()
    assert edit_distance("right" * 20, "x" * 3 * 10**7) == 3 * 10**7
    assert edit_distance(list("right"), ["x"] * 10**6) == 10**6
    assert time.process_time() - begun < 5


def test_map_at_k():
    assert map_at_k(["a"], ["b a"], k=5) == 0.5
    assert map_at_k(["a"], ["b b b b b a"], k=5) == 0
    assert map_at_k(["a b"], ["a a b"], k=12) == pytest.approx((1 + 2 / 3) / 2)
    assert map_at_k(["a b c", "a"], ["a b", ""], k=2) == 0.5
    assert map_at_k(["a", "a"], [" a", "a\tb"], k=2) == 1
    assert map_at_k(["a", "a"], [" a", "a\tb"], k=2, single=True) == 0.25


def test_case_does_not_count_in_any_alphabet():
    texts = ["A b", "", "ÄÖ\0", "ΣΑΣ ΑΣ", "İ", "a\0B"]
    for some in (texts, ["A b", "", "c D"], ["a\0B", "A b"], []):
        assert word_jaccard(some, [text.lower() for text in some]) == pytest.approx(
            [1.0 if text.split() else math.nan for text in some], nan_ok=True
        )


def test_words_are_sets():
    assert word_jaccard(["One  two two"], ["ONE\tthree"]) == [1 / 3]
    assert word_jaccard(["one, two"], ["one two"]) == [1 / 3]
    assert word_jaccard(["", "a\x1cb"], ["one", "b\u2003a"]) == [0, 1]
    assert math.isnan(word_jaccard([" "], [""])[0])
