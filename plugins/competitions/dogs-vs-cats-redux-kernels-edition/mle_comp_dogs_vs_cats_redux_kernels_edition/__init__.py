"""Dogs vs. Cats Redux: how likely does a photograph show a dog?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, extract, log_loss, members, move_members, open_zip, split, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = read_parts(raw)
    numbered = {name: f"{number}.jpg" for number, name in enumerate(test, 1)}
    for folder, names in (("train", train), ("test", numbered)):
        extract(raw / "train.zip", public / folder, names)
        with open_zip(raw / "train.zip") as photographs:  # the same once more, packed
            move_members(photographs, public / f"{folder}.zip", names)
    write_tables(public, private, test)


def read_parts(raw: Path) -> tuple[dict[str, str], list[str]]:
    """The photographs for training, each with its new name, and those for testing."""
    # the photographs of test.zip are not used, but it belongs to the download
    ensure((raw / "test.zip").is_file(), f"{raw / 'test.zip'} is missing")
    train, test = split(_photographs(raw / "train.zip"), test_size=0.1)
    seen: Counter[str] = Counter()
    renamed = {}
    for name in train:
        kind = "cat" if "cat" in PurePosixPath(name).name else "dog"
        renamed[name] = f"{kind}.{seen[kind]}.jpg"
        seen[kind] += 1
    return renamed, list(test)


def write_tables(public: Path, private: Path, test: Sequence[str]) -> None:
    """Answers and sample submission for these photographs, numbered from 1."""
    import pandas as pd

    labels = [int("dog" in PurePosixPath(name).name) for name in test]
    answers = pd.DataFrame({"id": range(1, len(test) + 1), "label": labels})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(label=0.5), public / "sample_submission.csv")


def _photographs(archive: Path) -> Sequence[str]:
    """Those of the folder train/ at the top, sorted as plain text: cat.0.jpg, cat.1.jpg, cat.10.jpg ..."""
    found = sorted(
        name for name in members(archive) if str(PurePosixPath(name).parent) == "train" and name.endswith(".jpg")
    )
    ensure(found, f"{archive} holds no photographs train/*.jpg")
    return found


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return log_loss(truth["label"], predictions["label"])
