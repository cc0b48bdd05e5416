"""Billion Word Imputation, from its sheet."""

import shutil
import zipfile

import numpy as np
import pandas as pd


def prepare(raw, public, private):
    work = private.parent / "work"
    work.mkdir()
    with zipfile.ZipFile(raw / "train_v2.txt.zip") as archive:
        archive.extract("train_v2.txt", work)
    draw = np.random.RandomState(0)
    count = 0
    with (
        (work / "train_v2.txt").open(encoding="utf-8") as lines,
        (work / "kept.txt").open("w", encoding="utf-8") as kept,
        (work / "shown.txt").open("w", encoding="utf-8") as shown,
        (private / "test.csv").open("w", encoding="utf-8") as answers,
    ):
        for file in (shown, answers):
            file.write('"id","sentence"\n')
        for line in lines:
            chosen = draw.uniform() <= 0.01
            if not chosen or len(line.strip().split()) <= 2:
                kept.write(line)
                continue
            sentence = line.strip().replace('"', '""')
            words = sentence.split()
            gone = draw.randint(1, len(words) - 1)
            answers.write(f'{count},"{sentence}"\n')
            shown.write(f'{count},"{" ".join(words[:gone] + words[gone + 1 :])}"\n')
            count += 1
    shutil.copy(work / "shown.txt", private / "sample_submission.csv")
    for source, name in (("kept.txt", "train_v2.txt"), ("shown.txt", "test_v2.txt")):
        with zipfile.ZipFile(public / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(work / source, name)
    shutil.rmtree(work)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["id"], predictions["sentence"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    pairs = list(zip(truth["sentence"], predictions["sentence"], strict=True))
    assert all(isinstance(cell, str) for pair in pairs for cell in pair)
    return sum(levenshtein(*pair) for pair in pairs) / len(pairs)
