"""Rule: names, ids, orders, sizes and times of test items do not tell their labels, as far as the audit can tell.

Files that are linked from raw data count as ``mlecore prepare`` leaves them.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlecore_audit import tells

from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.leaks import serious
from mlecore_testing.rules import Broken


def order(harness: Harness) -> Iterator[Broken]:
    return serious(harness, tells)
