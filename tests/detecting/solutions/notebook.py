import json
import math
import random
from collections import defaultdict

# Pizza EDA + TF-IDF + averaged perceptron (please upvote)
with open("data/train.json") as f:
    train = json.load(f)
with open("data/test.json") as f:
    test = json.load(f)

df = defaultdict(int)
for row in train:
    for word in set(row["request_text_edit_aware"].lower().split()):
        df[word] += 1


def tfidf(row):
    vector = defaultdict(float)
    for word in row["request_text_edit_aware"].lower().split():
        if df[word] > 2:
            vector[word] += math.log(len(train) / df[word])
    norm = math.sqrt(sum(value * value for value in vector.values())) or 1.0
    return {word: value / norm for word, value in vector.items()}


vectors = [(tfidf(row), 1 if row["requester_received_pizza"] else -1) for row in train]
weights, total = defaultdict(float), defaultdict(float)
for epoch in range(8):
    random.Random(epoch).shuffle(vectors)
    mistakes = 0
    for vector, label in vectors:
        score = sum(weights[word] * value for word, value in vector.items())
        if score * label <= 0:
            mistakes += 1
            for word, value in vector.items():
                weights[word] += label * value
        for word in vector:
            total[word] += weights[word]
    print("epoch", epoch, "mistakes", mistakes)

predictions = []
for row in test:
    vector = tfidf(row)
    score = sum(total[word] * value for word, value in vector.items()) / len(vectors)
    predictions.append((row["request_id"], 1 / (1 + math.exp(-score))))
with open("submission/submission.csv", "w") as f:
    f.write("request_id,requester_received_pizza\n")
    for name, value in predictions:
        f.write(f"{name},{value:.6f}\n")
