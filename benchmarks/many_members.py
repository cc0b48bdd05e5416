"""Preparing downloads of hundreds of thousands of small files, beside unpacking them with unzip and tar.

    python benchmarks/many_members.py [--files 200000] [--kilobytes 0] [--rounds 1] [ID ...]

The files are synthetic pictures of a kilobyte or so, so it is their number that costs; ``--kilobytes`` adds as many of
noise to each, as real ones have 50 to 150. `mlecore prepare` is the whole command: MD5, unpacking, the competition's
hook, a hash of every file. The aim is twice the time of unpacking, which includes the archives inside.

ext4 is slow to make files for minutes after as many were removed: then both take several times as long.
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _measure import Measured, python, rounds, run, scratch
from prepare import MAKE, MLECORE, pack

UNPACK = """
unzip -q "$0" -d "$1"
find "$1" -name "*.zip" -exec sh -c 'unzip -q "$0" -d "$0.d"' {} \\;
find "$1" -name "*.tar.gz" -exec sh -c 'mkdir "$0.d"; tar xf "$0" -C "$0.d"' {} \\;
"""
LARGER = "import os, sys, mlecore.prepare as p, mlecore.prepare.synthetic as s; encode = p.encode"
LARGER += "; p.encode = s.encode = lambda *words: encode(*words) + os.urandom(1000 * int(sys.argv[4]))"
PICTURES = {  # of synthetic data per size
    "herbarium-2020-fgvc7": 117,
    "herbarium-2021-fgvc8": 117,
    "herbarium-2022-fgvc9": 117,
    "imet-2020-fgvc7": 300,
    "inaturalist-2019-fgvc6": 121,
}


def new(folder: Path, name: str) -> Path:
    """A folder of its own for a round, so that none must be removed before the end."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competitions", nargs="*", metavar="ID", choices=[[], *PICTURES])
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--kilobytes", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    print(f"{'':26} {'':>8} {'':>6} {'unpacking':>14} {'prepare':>14} {'times':>14}")
    print(f"{'':26} {'files':>8} {'MB':>6}" + f" {'s':>7} {'CPU s':>6}" * 2 + f" {'s':>7} {'CPU':>6} {'peak MB':>8}")
    for name in args.competitions or PICTURES:
        with scratch() as folder:
            size = args.files / PICTURES[name]
            run(python(f"{LARGER}; {MAKE}", name, folder / "raw", size, args.kilobytes))
            with ProcessPoolExecutor(max_workers=1) as pool:  # a measured child's peak begins with its parent's size
                mb = pool.submit(pack, folder / "raw", folder / "download.zip").result()

            def unpack(folder: Path = folder) -> Measured:
                return run(["sh", "-c", UNPACK, folder / "download.zip", new(folder, "unpacked")])

            def prepare(folder: Path = folder, name: str = name) -> Measured:
                data = new(folder, "data")
                flags = ["--archive", folder / "download.zip", "--data", data, "--skip-verification", "--json"]
                return run(python(MLECORE, "prepare", name, *flags))

            took = rounds({"unpack": unpack, "prepare": prepare}, args.rounds)
            files = sum(path.is_file() for path in folder.glob("unpacked-*/**/*")) // args.rounds
        unpacked, prepared = took["unpack"], took["prepare"]
        line = f"{name:26} {files:8,} {mb:6.0f} {unpacked.seconds:7.1f} {unpacked.cpu:6.1f}"
        line += f" {prepared.seconds:7.1f} {prepared.cpu:6.1f} {prepared.seconds / unpacked.seconds:7.1f}"
        print(f"{line} {prepared.cpu / unpacked.cpu:6.1f} {prepared.peak_mb:8.0f}", flush=True)


if __name__ == "__main__":
    main()
