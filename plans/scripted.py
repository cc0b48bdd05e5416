"""An agent without a model, to try the plans with: python3 scripted.py PAUSE STEPS

It submits the sample, then predictions from 4 labelled rows, 40, 400 ... (the nearest mean of a class). Before each
step it waits: PAUSE seconds, then twice as long each time. It reads tables with an id, numbers and one class.
"""

import csv
import os
import random
import sys
import time
from collections import defaultdict
from pathlib import Path


def table(name):
    with Path(f"data/{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def is_number(text):
    try:
        return float(text or 0) == float(text or 0)
    except ValueError:
        return False


def submit(rows):
    part = Path("submission/part")
    with part.open("w", newline="") as file:
        csv.writer(file).writerows([(id, target), *rows])
    part.replace("submission/submission.csv")


def predict(train):
    columns = [name for name in test[0] if name != id and all(is_number(row[name]) for row in (*train, *test))]
    classes = defaultdict(list)
    for row in train:
        classes[row[target]].append(row)
    means = {
        label: [sum(float(row[column] or 0) for row in rows) / len(rows) for column in columns]
        for label, rows in classes.items()
    }
    for row in test:
        cells = [float(row[column] or 0) for column in columns]
        distance = {label: sum((a - b) ** 2 for a, b in zip(cells, mean, strict=True)) for label, mean in means.items()}
        yield row[id], min(distance, key=distance.get)


pause, steps = float(sys.argv[1]), int(sys.argv[2])
sample, known, test = table("sample_submission"), table("train"), table("test")
id, target = sample[0]
random.Random(int(os.environ["MLECORE_SEED"])).shuffle(known)
submit((row[id], row[target]) for row in sample)
for step in range(steps):
    time.sleep(pause * 2**step)
    submit(predict(known[: 4 * 10**step]))
    print(f"step {step + 1} of {steps}", flush=True)
