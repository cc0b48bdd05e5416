"""ALASKA2 Image Steganalysis: does a JPEG image hide a message?"""

from __future__ import annotations

import random
from pathlib import Path

from mle_comp_alaska2_image_steganalysis.weighted import weighted_auc
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, copy_file, ensure, link_files, split, write_csv

ALGORITHMS = ["JMiPOD", "JUNIWARD", "UERD"]
TEST_IMAGES = 5000


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    covers = [path.name for path in sorted((raw / "Cover").glob("*.jpg"))]
    train, test = split(covers, test_size=TEST_IMAGES, seed=42)
    renamed = {old: f"{number:05}.jpg" for number, old in enumerate(train, 1)}
    for folder in ("Cover", *ALGORITHMS):
        count = link_files(raw / folder, public / folder, renamed)
        ensure(count == len(train), f"{folder}: {count} images for {len(train)} covers")

    draws = random.Random(0)
    draws.shuffle(test)
    rows = []
    for number, old in enumerate(test, 1):
        hidden = not draws.choice([True, False])
        folder = draws.choice(ALGORITHMS) if hidden else "Cover"
        new = f"{number:04}.jpg"
        copy_file(raw / folder / old, public / "Test" / new)  # the inode of a link may tell the folder it came from
        rows.append((new, int(hidden)))
    answers = pd.DataFrame(rows, columns=["Id", "Label"])
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(Label=0), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return weighted_auc(truth["Label"].to_numpy(), predictions["Label"].to_numpy())
