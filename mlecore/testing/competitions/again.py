"""A second process that makes and prepares the same data, as it were a year later: see ``data.py``.

python -m mlecore.testing.competitions.again ID EDITION SEED SIZE FOLDER
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from mlecore.competitions import competition
from mlecore.testing.competitions.bench import Bench
from mlecore.testing.trees import tree

_LATER = 400 * 24 * 3600.0  # seconds


def main(id: str, edition: str, seed: str, size: str, folder: str) -> None:
    now = time.time
    time.time = lambda: now() + _LATER  # what writes the time of day into its bytes is found out
    bench = Bench(competition(id, edition), Path(folder), seed=int(seed), size=float(size))
    bench.make_raw(bench.raw_again)
    bench.after_again.write_text(json.dumps(tree(bench.raw_again)))  # before preparing, which may change it
    bench.competition.prepare(bench.raw_again, bench.prepared_again / "public", bench.prepared_again / "private")


if __name__ == "__main__":
    main(*sys.argv[1:])
