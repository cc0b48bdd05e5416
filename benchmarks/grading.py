"""Grading a submission of 1 million rows beside pandas' own reading of the same file, in one run.

    .venv/bin/python benchmarks/grading.py [ROWS]

Uses the competition tabular-playground-series-may-2022 (AUROC, ids matched); each figure is the best of three.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import mlecore


def best(call: Callable[[], object]) -> float:
    """Seconds of the fastest of three calls."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        private = Path(folder) / "private"
        private.mkdir()
        ids = rng.permutation(rows)
        pd.DataFrame({"id": ids, "target": rng.integers(0, 2, rows)}).to_csv(private / "test.csv", index=False)
        orders = {"same order": ids, "shuffled": rng.permutation(rows)}
        competition = mlecore.competition("tabular-playground-series-may-2022")
        print(f"{rows:,} rows         read both   grade   grade / read")
        for name, order in orders.items():
            path = Path(folder) / "submission.csv"
            pd.DataFrame({"id": order, "target": rng.random(rows)}).to_csv(path, index=False)

            def read(path: Path = path) -> None:
                for file in (path, private / "test.csv"):
                    pd.read_csv(file, float_precision="round_trip")

            reading = best(read)
            grading = best(lambda path=path: competition.grade(path, private))
            print(f"{name:15} {reading:9.2f} s {grading:7.2f} s {grading / reading:8.2f}")


if __name__ == "__main__":
    main()
