"""Running time and peak memory of each check of `mlecore audit`, at a million rows and at 100,000 small images.

    python benchmarks/audit.py                                 both, each check in a process of its own
    python benchmarks/audit.py --rows 10000 --images 500

The table has 20 columns of numbers, two of words and one of short texts; a tenth of its rows are test rows. The images
are PNGs of 32 x 32 pixels, a fifth of them of test rows. Neither has a flaw: findings above a caution are false, and
counted. `start-up` is the interpreter, the competition's module, and the list of files.
"""

from __future__ import annotations

import argparse
import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from _measure import Measured, fresh, python, rounds, run, scratch, table
from PIL import Image

CHECKS = ("answers", "tells", "twins", "groups", "labels", "grader")
ID = "optical-digits"  # whose form the data have: id, digit; accuracy
CHECK = f"""
import json, sys
from pathlib import Path
import mlecore
from mlecore.data.prepared import Prepared
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject
root, check, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
subject = Subject(mlecore.competition("{ID}"), Prepared(competition="{ID}", synthetic=True, root=root))
found = [finding.to_json() for finding in findings(subject, check)] if check else list(subject.names) and []
assert not subject.unexamined, subject.unexamined
out.write_text(json.dumps(found))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    with scratch() as folder:
        for name, count, create in (("rows", args.rows, create_rows), ("images", args.images, create_images)):
            root = fresh(folder / name)
            create(root, count)
            out = folder / "findings.json"
            serious: list[str] = []

            def step(check: str, root: Path = root, out: Path = out, serious: list[str] = serious) -> Measured:
                measured = run(python(CHECK, root, check, out))
                serious += [
                    one["evidence"] for one in json.loads(out.read_text()) if one["level"] in ("answer", "leak")
                ]
                return measured

            size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 1e6
            print(f"{count:,} {name}, {size:.1f} MB")
            measured = rounds({check or "start-up": partial(step, check) for check in ("", *CHECKS)}, args.rounds)
            print(table(measured))
            print("seconds of CPU:", ", ".join(f"{check} {one.cpu:.1f}" for check, one in measured.items()), flush=True)
            print(f"findings above a caution, all false: {len(serious)}", *serious, sep="\n  ")


def create_rows(root: Path, count: int) -> None:
    """A table without signal, but for one column that tells a little of the digit."""
    rng = np.random.default_rng(0)
    digit = rng.integers(0, 10, count)
    columns = {f"x{n}": rng.normal(size=count).round(4) for n in range(20)}
    columns["x0"] = (columns["x0"] + 0.1 * digit).round(4)
    columns |= {name: rng.choice([f"{name}{n}" for n in range(40)], count) for name in ("town", "make")}
    words = rng.choice([f"word{n}" for n in range(3000)], (count, 10))
    frame = pd.DataFrame({"id": ids(rng, count), **columns, "text": [" ".join(row) for row in words], "digit": digit})
    write(root, frame)


def create_images(root: Path, count: int) -> None:
    """A blurred pattern in each, and a table of ids and digits alone."""
    from scipy.ndimage import zoom

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": ids(rng, count), "digit": rng.integers(0, 10, count)})
    for n, id in enumerate(frame["id"]):
        grey = zoom(rng.normal(size=(12, 12)), 32 / 12, order=1) * 50 + 128
        path = root / "public" / ("test" if n % 5 == 0 else "train") / id[:2] / f"{id}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(buffer, "png")
        path.write_bytes(buffer.getvalue())
    write(root, frame, 5)


def ids(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct, in an order that tells nothing."""
    return [f"{number:010x}" for number in rng.permutation(16 * count)[:count] * 17]


def write(root: Path, frame: pd.DataFrame, step: int = 10) -> None:
    public, private = root / "public", root / "private"
    public.mkdir(exist_ok=True)
    private.mkdir()
    is_test = np.arange(len(frame)) % step == 0
    test = frame[is_test]
    frame[~is_test].to_csv(public / "train.csv", index=False)
    test.drop(columns="digit").to_csv(public / "test.csv", index=False)
    test[["id", "digit"]].to_csv(private / "test.csv", index=False)
    test[["id"]].assign(digit=0).to_csv(public / "sample_submission.csv", index=False)


if __name__ == "__main__":
    main()
