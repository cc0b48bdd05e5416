"""How long check and the sandbox's validate take on the heaviest submissions that the size limit allows.

    python benchmarks/heavy_submissions.py [--seconds 20]

Exit code 1 if one of them takes more CPU time than that.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROWS = 3000  # of the sample
CHECK = """
import json, sys
from pathlib import Path
from mlecore.submissions import Format, Table, generic_check
from mlecore.submissions.guard import guard
folder = Path(sys.argv[1])
guard(folder / "submission.csv")
generic_check(Format.parse(json.loads(sys.argv[2])), Table(folder / "submission.csv"), Table(folder / "sample.csv"))
"""
ONE = {"id": "id", "columns": {"y": {"type": "number"}}}
ANY = {"id": "id", "ids": "subset", "rows": "any", "columns": {"y": {"type": "number"}}}


def submissions() -> Iterator[tuple[str, dict[str, object], str]]:
    """Name, ``[submission]`` table, text."""
    wide = f"id,{','.join(f'c{number}' for number in range(9997))},y\n"
    for cell in ("0", "a", ""):
        row = f"{cell}," * 9997
        yield f"3,000 rows of 9,999 cells {cell!r}", ONE, wide + "".join(f"{id},{row}0\n" for id in range(ROWS))
    yield "the same without names", ONE, "id,y\n" + ("0," * 9998 + "0\n") * ROWS
    yield "15 million rows for 3,000", ONE, "id,y\n" + "1,1\n" * 15_000_000
    yield "60 million blank lines", ONE, "id,y\n" + "\n" * 60_000_000
    yield "9 million quoted line ends", ONE, "id,y\n" + '"\n",1\n' * 9_000_000
    yield "15 million rows, any number allowed", ANY, "id,y\n" + "1,1\n" * 15_000_000
    yield "2 million quoted rows, any allowed", ANY, "id,y\n" + '"1","0.50000001"\n' * 1_990_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    limit = parser.parse_args().seconds
    import mlecore
    from mlecore.submissions import Format

    slowest = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        validate = Path(shutil.copy(Path(mlecore.__file__).parent / "sandbox" / "validate", folder))
        (folder / "sample.csv").write_text("id,y\n" + "".join(f"{id},0.5\n" for id in range(ROWS)))
        for what, table, text in submissions():
            (folder / "submission.csv").write_text(text)
            (folder / "submission.json").write_text(Format.parse(table).to_json(own_check=False))
            checked = cpu([sys.executable, "-c", CHECK, str(folder), json.dumps(table)])
            validated = cpu([sys.executable, str(validate), str(folder / "submission.csv")])
            slowest = max(slowest, checked, validated)
            print(f"{what:38} check {checked:6.2f} s, validate {validated:6.2f} s", flush=True)
    print(f"at most {slowest:.2f} s CPU; the limit is {limit:g} s")
    return int(slowest > limit)


def cpu(argv: list[str]) -> float:
    """Seconds of CPU that a program takes, whatever it answers."""
    before = os.times()
    subprocess.run(argv, capture_output=True, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
