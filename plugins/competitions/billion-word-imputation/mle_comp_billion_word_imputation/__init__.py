"""Billion Word Imputation: the word that is missing from a sentence."""

from __future__ import annotations

from io import TextIOWrapper
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ZipWriter, edit_distance, open_member

SHARE = 0.01  # of the sentences, to be judged
HEADER = '"id","sentence"\n'


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Sentences stream from archive to archive, each drawn or not as it comes."""
    from numpy.random import RandomState

    rng = RandomState(0)  # afresh for each preparation; the published one goes on where the last one stopped
    sample = private / "sample_submission.csv"
    with (
        open_member(raw / "train_v2.txt.zip", "train_v2.txt") as packed,
        TextIOWrapper(packed, encoding="utf-8") as lines,  # any line end becomes \n
        ZipWriter(public / "train_v2.txt.zip") as archive,
        archive.open("train_v2.txt") as member,
        TextIOWrapper(member, encoding="utf-8", newline="") as train,
        sample.open("x", encoding="utf-8", newline="") as shown,
        (private / "test.csv").open("x", encoding="utf-8", newline="") as answers,
    ):
        shown.write(HEADER)
        answers.write(HEADER)
        number = 0
        for line in lines:
            if rng.random_sample() <= SHARE and len(line.split()) > 2:
                sentence = line.strip().replace('"', '""')
                words = sentence.split()
                del words[rng.randint(1, len(words) - 1)]  # neither the first nor the last
                answers.write(f'{number},"{sentence}"\n')
                shown.write(f'{number},"{" ".join(words)}"\n')
                number += 1
            else:
                train.write(line)
    with ZipWriter(public / "test_v2.txt.zip") as archive:
        archive.add_file("test_v2.txt", sample)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return sum(map(edit_distance, truth["sentence"], predictions["sentence"])) / len(truth)
