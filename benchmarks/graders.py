"""Grading at the real size of the test set, for every competition: rows, seconds, peak memory of the process.

    .venv/bin/python benchmarks/graders.py [ID...]

There are no real data here, so synthetic answers are repeated under new ids until they have as many rows as the real
ones: those of ``[expect]``, else of ``ROWS`` below (from the fact sheets). The perfect one is graded in a fork of
this process, so that no start-up counts, but its memory does. What cannot be repeated stays at its synthetic size
(marked ``*``).
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.metrics  # noqa: F401 - what most graders load
from _measure import forked, scratch
from mlecore_testing.competitions.harness import Harness

from mlecore import competition
from mlecore.registry.discovery import plugins

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
    "tensorflow2-question-answering": 61_476,
    "us-patent-phrase-to-phrase-matching": 3_648,
    "uw-madison-gi-tract-image-segmentation": 11_500,
    "vinbigdata-chest-xray-abnormalities-detection": 1_500,
}


def repeated(table: pd.DataFrame, id: str, copies: int) -> pd.DataFrame:
    """``table`` so many times, each under new ids."""
    width = int(table[id].map(len).max())
    made = [table]
    for k in range(1, copies):
        ids = [str(int(old) + k * 10**width) if old.isdecimal() else f"{k}{old}" for old in table[id]]
        made.append(table.assign(**{id: ids}))
    return pd.concat(made, ignore_index=True)


def repeat_questions(answers: Path, copies: int) -> None:
    """Of tensorflow2-question-answering, whose answers are lines of JSON."""
    records = [json.loads(line) for line in answers.read_text().splitlines()]
    with answers.open("w") as file:
        for k in range(copies):
            for record in records:
                id = f"{k or ''}{record['example_id']}"
                file.write(json.dumps({**record, "example_id": id}) + "\n")


def large_mask(answers: Path, submission: Path) -> int:
    """Of vesuvius-challenge-ink-detection: one mask of 100 megapixels in 200,000 runs."""
    cell = " ".join(f"{start} 100" for start in np.arange(1, 100_000_000, 500))
    truth = pd.DataFrame({"Id": ["a"], "Predicted": [cell], "width": [10_000], "height": [10_000]})
    truth.to_csv(answers, index=False)
    truth[["Id", "Predicted"]].to_csv(submission, index=False)
    return 1


def read(path: Path) -> Any:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def lay_out(name: str, folder: Path) -> None:
    """Large answers in ``folder/data``, and ``folder/submission.csv``; in ``folder/rows`` how many, or * if too few."""
    rows, real = enlarge(name, folder)
    shutil.rmtree(folder / "data" / "prepared" / "public")  # its small sample would limit the submission's size
    (folder / "rows").write_text(f"{rows:,}{' ' if real else '*'}")


def enlarge(name: str, folder: Path) -> tuple[int, bool]:
    """How many rows the answers have now, and whether that is the real size."""
    found = competition(name)
    harness = Harness(found, folder / "data")
    harness.make_raw(harness.raw)
    found.prepare(harness.raw, harness.public, harness.private)
    answers, submission = harness.prepared / found.facts.answers, folder / "submission.csv"
    submission.write_bytes(harness.perfect)
    if name == "vesuvius-challenge-ink-detection":
        return large_mask(answers, submission), True
    said = read(submission)
    expected = found.facts.expect.get(found.facts.answers)
    rows = ROWS.get(name) or (expected and expected.get("rows"))
    id = found.facts.submission.id
    if not rows or rows <= len(said) or id not in said:
        return len(said), bool(rows) and rows <= len(said)
    copies = -(-rows // len(said))
    if answers.suffix == ".jsonl":
        repeat_questions(answers, copies)
    elif answers.suffix == ".csv" and id in (truth := read(answers)):
        repeated(truth, id, copies).to_csv(answers, index=False)
    else:
        return len(said), False
    repeated(said, id, copies).to_csv(submission, index=False)
    return copies * len(said), True


def main() -> None:
    names = sys.argv[1:] or sorted((plugin.name for plugin in plugins("competition")), key=str.lower)
    print(f"{'competition':62} {'rows':>11} {'seconds':>8} {'CPU s':>8} {'peak MB':>8}")
    for name in names:
        with scratch() as folder:
            forked(lay_out, name, folder)
            took = forked(competition(name).grade, folder / "submission.csv", folder / "data" / "prepared" / "private")
            rows = (folder / "rows").read_text()
        print(f"{name:62} {rows:>11} {took.seconds:8.2f} {took.cpu:8.2f} {took.peak_mb:8.0f}", flush=True)


if __name__ == "__main__":
    main()
