"""Work in threads: as map does it, and never far ahead."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from mlecore_toolkit.prepare.threads import in_threads


def test_results_come_in_order_and_few_items_are_taken_ahead() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(1, 1001):
            taken = number
            yield number

    for number, result in enumerate(in_threads(str, items()), 1):
        assert result == str(number)
        assert taken <= number + 2 * (os.cpu_count() or 1)
    assert taken == 1000


def test_errors_of_the_work_and_of_the_items_are_raised_in_their_turn() -> None:
    results = in_threads(int, ["1", "two"])
    assert next(results) == 1
    with pytest.raises(ValueError, match="two"):
        next(results)

    def items() -> Iterator[str]:
        yield "1"
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        list(in_threads(int, items()))
