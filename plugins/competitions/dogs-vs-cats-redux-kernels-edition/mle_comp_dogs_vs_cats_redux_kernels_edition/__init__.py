"""Dogs vs. Cats Redux: how likely does a photograph show a dog?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from mlecore.hookspecs import hookimpl
from mlecore.metrics import log_loss
from mlecore.prepare import (
    ZipWriter,
    encode,
    ensure,
    extract,
    members,
    move_members,
    open_zip,
    picture,
    split,
    write_csv,
)
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    # the photographs of test.zip are not used, but it belongs to the download
    ensure((raw / "test.zip").is_file(), f"{raw / 'test.zip'} is missing")
    train, test = split(_photographs(raw / "train.zip"), test_size=0.1)
    seen: Counter[str] = Counter()
    renamed = {}
    for name in train:
        kind = "cat" if "cat" in PurePosixPath(name).name else "dog"
        renamed[name] = f"{kind}.{seen[kind]}.jpg"
        seen[kind] += 1
    numbered = {name: f"{number}.jpg" for number, name in enumerate(test, 1)}
    for folder, names in (("train", renamed), ("test", numbered)):
        extract(raw / "train.zip", public / folder, names)
        with open_zip(raw / "train.zip") as photographs:  # the same once more, packed
            move_members(photographs, public / f"{folder}.zip", names)
    labels = [int("dog" in PurePosixPath(name).name) for name in test]
    answers = pd.DataFrame({"id": range(1, len(test) + 1), "label": labels})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(label=0.5), public / "sample_submission.csv")


def _photographs(archive: Path) -> Sequence[str]:
    """Those of the folder train/ at the top, sorted as plain text: cat.0.jpg, cat.1.jpg, cat.10.jpg ..."""
    return sorted(
        name for name in members(archive) if str(PurePosixPath(name).parent) == "train" and name.endswith(".jpg")
    )


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "answers.csv", ["id", "label"])
    truth, guess = aligned(submission, answers, on="id", columns=["label"])
    return log_loss(truth["label"], numbers(guess, "label", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    each = max(30, round(150 * size))
    with ZipWriter(raw / "train.zip") as photographs:
        for label, kind in enumerate(("cat", "dog")):
            for number in range(each):
                width, height = [(32, 32), (48, 32)][number % 2]
                photographs.add(f"train/{kind}.{number}.jpg", encode(picture(rng, label, width, height), "JPEG"))
    with ZipWriter(raw / "test.zip") as photographs:
        for number in range(1, 5):
            photographs.add(f"test/{number}.jpg", encode(picture(rng, number % 2), "JPEG"))
    write_csv(pd.DataFrame({"id": range(1, 5), "label": 0.5}), raw / "sample_submission.csv")
