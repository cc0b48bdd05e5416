"""Grading at the real size of the test set, for every competition: rows, seconds, peak memory of the process.

    .venv/bin/python benchmarks/graders.py [ID...]

There are no real data here, so synthetic answers are repeated under new ids until they have as many rows as the real
ones: those of ``[expect]``, else of ``ROWS`` below (from the fact sheets). The perfect one is graded in a process
of its own, whose start counts. Answers that are no single table stay at their synthetic size (marked ``*``).
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from _measure import python, run, scratch

from mlecore.competitions import competition
from mlecore.registry import plugins
from mlecore.testing.competitions.harness import Harness

ROWS = {
    "3d-object-detection-for-autonomous-vehicles": 4_536,
    "billion-word-imputation": 303_000,
    "champs-scalar-coupling": 466_000,
    "detecting-insults-in-social-commentary": 2_647,
    "facebook-recruiting-iii-keyword-extraction": 603_420,
    "h-and-m-personalized-fashion-recommendations": 70_000,
    "herbarium-2020-fgvc7": 210_000,
    "herbarium-2021-fgvc8": 450_000,
    "hms-harmful-brain-activity-classification": 10_680,
    "hotel-id-2021-fgvc8": 9_756,
    "icecube-neutrinos-in-deep-ice": 13_200_000,
    "inaturalist-2019-fgvc6": 32_200,
    "iwildcam-2020-fgvc7": 48_000,
    "kuzushiji-recognition": 361,
    "lmsys-chatbot-arena": 5_748,
    "multi-modal-gesture-recognition": 99,
    "rsna-2022-cervical-spine-fracture-detection": 14_536,
    "rsna-breast-cancer-detection": 2_384,
    "rsna-miccai-brain-tumor-radiogenomic-classification": 59,
    "seti-breakthrough-listen": 6_000,
    "us-patent-phrase-to-phrase-matching": 3_648,
    "uw-madison-gi-tract-image-segmentation": 11_500,
}
GRADE = """
import sys
import mlecore
from pathlib import Path
mlecore.competition(sys.argv[1]).grade(Path(sys.argv[2]), Path(sys.argv[3]))
"""


def repeated(table: pd.DataFrame, id: str, rows: int) -> pd.DataFrame:
    """``table`` under new ids until it has ``rows`` rows."""
    copies = []
    for k in range(-(-rows // len(table))):
        copy = table.copy()
        if k:
            copy[id] = [str(int(old) + k * 10 ** len(old)) if old.isdecimal() else f"{k}{old}" for old in copy[id]]
        copies.append(copy)
    return pd.concat(copies, ignore_index=True).head(rows)


def lay_out(name: str, folder: Path) -> tuple[int, bool]:
    """Large answers in ``folder/data``, and ``folder/submission.csv``; how many rows, whether repeated."""
    found = competition(name)
    harness = Harness(found, folder / "data")
    harness.make_raw(harness.raw)
    found.prepare(harness.raw, harness.public, harness.private)
    answers, submission = harness.prepared / found.facts.answers, folder / "submission.csv"
    submission.write_bytes(harness.perfect)
    said = pd.read_csv(submission, dtype=str, keep_default_na=False)
    expected = found.facts.expect.get(found.facts.answers)
    rows = ROWS.get(name) or (expected and expected.get("rows"))
    id = found.facts.submission.id
    if answers.suffix != ".csv" or not rows:
        return len(said), False
    truth = pd.read_csv(answers, dtype=str, keep_default_na=False)
    if len(said) != len(truth) or id not in truth or id not in said or rows <= len(truth):
        return len(said), False
    repeated(truth, id, rows).to_csv(answers, index=False)
    repeated(said, id, rows).to_csv(submission, index=False)
    return rows, True


def main() -> None:
    names = sys.argv[1:] or sorted((plugin.name for plugin in plugins("competition")), key=str.lower)
    print(f"{'competition':62} {'rows':>11} {'seconds':>8} {'CPU s':>8} {'peak MB':>8}")
    for name in names:
        with scratch() as folder:
            with ProcessPoolExecutor(max_workers=1) as pool:  # of its own: a child's peak begins with its parent's size
                rows, scaled = pool.submit(lay_out, name, folder).result()
            took = run(python(GRADE, name, folder / "submission.csv", folder / "data" / "prepared" / "private"))
        mark = " " if scaled else "*"
        print(f"{name:62} {rows:>10,}{mark} {took.seconds:8.2f} {took.cpu:8.2f} {took.peak_mb:8.0f}", flush=True)


if __name__ == "__main__":
    main()
