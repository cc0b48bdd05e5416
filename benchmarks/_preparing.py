"""Preparing one competition from an archive of synthetic data, beside unzip and md5sum of it; then grading.

Tables must be parsed and written again, which ``polars`` does with all that the archive holds.
"""

from __future__ import annotations

import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from _measure import Measured, fresh, python, run

START = "import sys, mlecore; c = mlecore.competition(sys.argv[1]); c.loaded"
MLECORE = "import os, sys; sys.stderr = open(os.devnull, 'w'); from mlecore.cli import main; main()"
UNZIP = 'unzip -q "$0" -d "$1"; find "$1" -name "*.zip" -exec sh -c \'unzip -q "$0" -d "$0.d"\' {} \\;'
MAKE = f"{START}; from pathlib import Path; c.make_raw(Path(sys.argv[2]), size=float(sys.argv[3]))"
PERFECT = (
    f"{START}; from pathlib import Path; data = mlecore.open_data(c, Path(sys.argv[2])); "
    "c.perfect(data.private).to_csv(sys.argv[3], index=False)"
)
TABLES = """
import sys
from pathlib import Path
import polars
for path in sorted(Path(sys.argv[1]).rglob("*.csv")):
    try:
        table = polars.read_csv(path, infer_schema_length=10_000)
    except polars.exceptions.PolarsError:  # a type that is not that of the first rows
        table = polars.read_csv(path, infer_schema=False, truncate_ragged_lines=True)
    table.write_csv(sys.argv[2])
"""
LIMIT = ("unzip", "md5sum")  # what any tool must do that unpacks the download and verifies it


def steps(competition: str, size: float, folder: Path) -> dict[str, Callable[[], Measured]]:
    """Makes the archive in ``folder``; what to measure then: the steps of LIMIT, `prepare` and `grade`."""
    raw, archive, data, submission = (folder / name for name in ("raw", "download.zip", "data", "submission.csv"))
    run(python(MAKE, competition, raw, size))
    pack(raw, archive)

    def prepare() -> Measured:
        shutil.rmtree(data, ignore_errors=True)
        flags = ["--archive", archive, "--data", data, "--skip-verification", "--json"]
        return run(python(MLECORE, "prepare", competition, *flags))

    def grade() -> Measured:
        """The perfect submission, from the preparation before."""
        if not submission.exists():
            run(python(PERFECT, competition, data, submission))
        return run(python(MLECORE, "grade", submission, competition, "--data", data))

    return {
        "unzip": lambda: run(["sh", "-c", UNZIP, archive, fresh(folder / "unzipped")]),
        "md5sum": lambda: run(["md5sum", archive]),
        "polars": lambda: run(python(TABLES, folder / "unzipped", folder / "copy.csv")),
        "mlecore prepare": prepare,
        "mlecore grade": grade,
    }


def megabytes(folder: Path) -> float:
    """Total size of the files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def pack(raw: Path, archive: Path) -> None:
    """Zip a folder as Kaggle does."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for path in sorted(raw.rglob("*")):
            if path.is_file():
                opened.write(path, path.relative_to(raw))


def noise(smallest: int, largest: int) -> Iterator[bytes]:
    """Contents of files without end, which deflate by a tenth, as pictures do: noise with some repetition."""
    draw = random.Random(0)
    source = draw.randbytes(4 << 20)
    while True:
        size = draw.randint(smallest, largest)
        begin = draw.randrange(len(source) - size)
        yield source[begin : begin + size * 9 // 10] + b"\0\1\2abc" * (size // 60)
