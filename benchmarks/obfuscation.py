"""Which competitions `--obfuscate full` can rename, and whether submissions then score the same, bit for bit.

    .venv/bin/python benchmarks/obfuscation.py [ID]... [--size SIZE] [--data DIR]

Prepares synthetic data of every competition (or of those named) unless DIR has them, renames them, and grades the
perfect submission and five changed ones, as they are and after their way into other names and back. Prints a line for
each competition: how many of the verdicts are equal, or why it cannot be renamed. Exit code 1: a verdict differs.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from _measure import scratch
from mlecore_testing.renamed import compare

import mlecore
from mlecore.competitions import Competition, installed
from mlecore.data import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.errors import MlecoreError, UsageError
from mlecore.obfuscation.tables import rename_tables


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--size", type=float, default=0.1)
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    wrong = 0
    with scratch() as folder:
        for found in installed():
            if not asked.ids or found.id in asked.ids:
                wrong += not judge(found, DataDirs.of([asked.data or folder / "data"]), asked.size, folder)
    raise SystemExit(1 if wrong else 0)


def judge(found: Competition, dirs: DataDirs, size: float, folder: Path) -> bool:
    """False if a verdict differs."""
    try:
        prepared = dirs.find(found.id, "v1", True) or prepare(found, dirs, Synthetic(size=size)).prepared
        begun = time.perf_counter()
        names = rename_tables(found.facts, prepared.public, folder / found.id, seed=b"1")
        seconds = time.perf_counter() - begun
    except UsageError as error:
        print(f"{found.id}: no: {error.message.partition(': ')[2]}", flush=True)
        return True
    except MlecoreError as error:
        print(f"{found.id}: ERROR {error}", flush=True)
        return False
    pairs = list(compare(mlecore.competition(found.id), prepared.root, names, folder))
    same = sum(before == after for _, before, after in pairs)
    scores = len({before for _, before, _ in pairs})
    print(f"{found.id}: {same} of {len(pairs)} equal, {scores} verdicts, renamed in {seconds:.2f} s", flush=True)
    for what, before, after in pairs:
        if before != after:
            print(f"    {what}: {before!r} became {after!r}", flush=True)
    return same == len(pairs)


if __name__ == "__main__":
    main()
