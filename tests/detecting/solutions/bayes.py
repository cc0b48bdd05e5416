"""Naive Bayes over the words of the request."""

import csv
import json
import math
import os
from collections import Counter

SEED = int(os.environ["MLECORE_SEED"])
SMOOTHING = 0.5 + SEED / 10


def words(item):
    return (item["request_text_edit_aware"] + " " + item["request_title"]).lower().split()


with open("data/train.json") as file:
    train = json.load(file)
counts = {True: Counter(), False: Counter()}
rows = Counter()
for item in train:
    rows[item["requester_received_pizza"]] += 1
    counts[item["requester_received_pizza"]].update(set(words(item)))
vocabulary = set(counts[True]) | set(counts[False])
print(f"{len(train)} requests, {len(vocabulary)} words, {rows[True]} granted")


def probability(item):
    odds = math.log(rows[True] / rows[False])
    for word in set(words(item)) & vocabulary:
        yes = (counts[True][word] + SMOOTHING) / (rows[True] + 2 * SMOOTHING)
        no = (counts[False][word] + SMOOTHING) / (rows[False] + 2 * SMOOTHING)
        odds += math.log(yes / no)
    return 1 / (1 + math.exp(-odds))


right = sum((probability(item) > 0.5) == item["requester_received_pizza"] for item in train)
print(f"accuracy on the training data: {right / len(train):.3f}")
with open("data/test.json") as file:
    test = json.load(file)
with open("submission/submission.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["request_id", "requester_received_pizza"])
    for item in test:
        out.writerow([item["request_id"], f"{probability(item):.6f}"])
