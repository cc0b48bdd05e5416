"""`mlecore prepare` of one competition from its archive, beside unzip and md5sum of the same archive.

python benchmarks/prepare.py aerial-cactus-identification --size 35                      17,500 images
python benchmarks/prepare.py text-normalization-challenge-english-language --size 100    2 million tokens
python benchmarks/prepare.py denoising-dirty-documents --size 500                        pages of the real size

The archive is made of synthetic data of that size, deflated as Kaggle's are. The limit is what any tool must do that
unpacks the download, archives inside it included, and verifies it. `mlecore prepare` is the whole command in a process
of its own: MD5, unpacking, the competition's hook, a hash of every file. `of it: the hook` is the hook alone from
unpacked data, `of it: start-up` the interpreter and the competition's module, whatever the size.
"""

from __future__ import annotations

import argparse

from _measure import Measured, fresh, python, rounds, run, scratch, table
from _preparing import LIMIT, START, megabytes, steps

HOOK = f"{START}; from pathlib import Path; c.prepare(*map(Path, sys.argv[2:]))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competition")
    parser.add_argument("--size", type=float, default=1.0, help="of the synthetic data")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with scratch() as folder:

        def hook() -> Measured:
            into = [fresh(folder / part) for part in ("public", "private")]
            return run(python(HOOK, args.competition, folder / "raw", *into))

        measured = rounds(
            {
                **steps(args.competition, args.size, folder),
                "of it: the hook": hook,
                "of it: start-up": lambda: run(python(START, args.competition)),
            },
            args.rounds,
        )
        packed, unpacked = (folder / "download.zip").stat().st_size / 1e6, megabytes(folder / "unzipped")
        print(f"{args.competition} at size {args.size:g}: {packed:.1f} MB packed, {unpacked:.1f} MB with all unpacked")
        print(f"best of {args.rounds} rounds; MB/s of what is unpacked")
        print(table(measured, limit=LIMIT, mb=unpacked))


if __name__ == "__main__":
    main()
