"""A large table of numbers split and written, beside polars that reads and writes as much and shuffles nothing.

python benchmarks/prepare_numbers.py --rows 2000000
"""

from __future__ import annotations

import argparse

from _measure import fresh, python, rounds, run, scratch, table

COMPETITION = "tabular-playground-series-dec-2021"
START = f"import sys, mlecore; from pathlib import Path; c = mlecore.competition({COMPETITION!r})"
MAKE = f"{START}; c.make_raw(Path(sys.argv[1]), size=int(sys.argv[2]) / 3000)"
HOOK = f"{START}; c.prepare(*map(Path, sys.argv[1:]))"
POLARS = """
import sys, polars as pl
raw, out = sys.argv[1:]
rows = pl.read_csv(f"{raw}/train.csv")
count = len(rows) // 10
rows[count:].write_csv(f"{out}/train.csv")
test = rows[:count]
test.write_csv(f"{out}/answers.csv")
test.drop("Cover_Type").write_csv(f"{out}/test.csv")
test.select("Id", pl.lit(2)).write_csv(f"{out}/sample_submission.csv")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with scratch() as folder:
        raw = folder / "raw"
        run(python(MAKE, raw, args.rows))
        size = (raw / "train.csv").stat().st_size / 1e6
        steps = {
            "polars": lambda: run(python(POLARS, raw, fresh(folder / "polars"))),
            "the hook": lambda: run(python(HOOK, raw, fresh(folder / "public"), fresh(folder / "private"))),
        }
        print(f"{args.rows:,} rows, {size:.0f} MB; best of {args.rounds} rounds")
        print(table(rounds(steps, args.rounds), limit=["polars"], mb=size))


if __name__ == "__main__":
    main()
