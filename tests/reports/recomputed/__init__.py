"""Every figure of a report, computed once more from the files of runs.

Nothing here uses mlecore. It reads run.json, grade.json, snapshots.json and findings/ of each run, and the
competition.toml of each package.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from recomputed.comparison import comparison
from recomputed.matching import differences
from recomputed.page import page_differences
from recomputed.published import own, published
from recomputed.runs import Run, read_group
from recomputed.setups import setup

__all__ = ["differences", "page_differences", "read_group", "report"]


def report(groups: Sequence[Sequence[Run]], *, against_published: bool = False) -> dict[str, Any]:
    """What a report on groups of one agent each must say, with the names of its JSON."""
    setups = [setup(runs) for runs in groups]
    return {
        "setups": setups,
        "comparisons": [comparison(a, b) for a, b in itertools.combinations(groups, 2)],
        "published": published() if against_published else [],
        "own": own(setups) if against_published else [],
    }
