"""A second process that makes and prepares the same data, a year later by its clock: see ``data.py``.

python -m mlecore_testing.competitions.again ID EDITION SEED SIZE FOLDER
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from mlecore import competition
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.shared_data import create_raw
from mlecore_testing.trees import tree

_LATER = 400 * 24 * 3600.0  # seconds


def main(id: str, edition: str, seed: str, size: str, folder: str) -> None:
    now = time.time
    time.time = lambda: now() + _LATER  # so that a date in the bytes is noticed
    harness = Harness(competition(id, edition), Path(folder), seed=int(seed), size=float(size))
    create_raw(harness.competition, harness.raw_again, harness.seed, harness.size)
    harness.after_again.write_text(json.dumps(tree(harness.raw_again)))  # before preparing, which may change it
    harness.competition.prepare(
        harness.raw_again, harness.prepared_again / "public", harness.prepared_again / "private"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
