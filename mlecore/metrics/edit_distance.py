"""Levenshtein's distance between two sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The least number of insertions, deletions and substitutions that turn ``a`` into ``b``: texts or lists.

    Bit-parallel (Myers 1999, in Hyyrö's form): one column of the table is one Python integer, so a pair costs about a
    microsecond per item of the longer one, and memory in proportion to the shorter one.
    """
    if a == b:
        return 0
    if len(a) < len(b):
        a, b = b, a
    start, end = 0, len(b)
    while start < end and a[start] == b[start]:
        start += 1
    cut = len(a) - len(b)
    while end > start and a[end + cut - 1] == b[end - 1]:
        end -= 1
    a, b = a[start : end + cut], b[start:end]
    if not b:
        return len(a)
    places: dict[Hashable, int] = {}
    for place, item in enumerate(b):
        places[item] = places.get(item, 0) | 1 << place
    ones, last = (1 << len(b)) - 1, 1 << (len(b) - 1)
    up, down, distance = ones, 0, len(b)  # where the column rises and falls by one from cell to cell
    for item in a:
        equal = places.get(item, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        right_up = down | (ones & ~(horizontal | up))
        right_down = up & horizontal
        if right_up & last:
            distance += 1
        elif right_down & last:
            distance -= 1
        right_up = (right_up << 1) | 1
        right_down <<= 1
        up = ones & (right_down | ~(vertical | right_up))
        down = ones & right_up & vertical
    return distance
