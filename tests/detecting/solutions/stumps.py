"""AdaBoost with one split each."""

import json
import math
import os

ROUNDS = 8 + int(os.environ["MLECORE_SEED"])
TARGET = "requester_received_pizza"

train, test = (json.load(open(f"data/{part}.json")) for part in ("train", "test"))
columns = sorted(c for c in test[0] if isinstance(test[0][c], (int, float)) and not isinstance(test[0][c], bool))
table = {c: [float(r[c]) for r in train] for c in columns}
sign = [1 if r[TARGET] else -1 for r in train]
share = [1 / len(train)] * len(train)
ensemble = []
while len(ensemble) < ROUNDS:
    best = (1.0, None)
    for c, values in table.items():
        ranked = sorted(values)
        for cut in ranked[:: max(1, len(ranked) // 6)]:
            wrong = sum(s for s, v, t in zip(share, values, sign) if (1 if v > cut else -1) != t)
            for error, direction in ((wrong, 1), (1 - wrong, -1)):
                if error < best[0]:
                    best = (error, (c, cut, direction))
    error, (c, cut, direction) = max(best[0], 1e-9), best[1]
    alpha = 0.5 * math.log((1 - error) / error)
    ensemble.append((alpha, c, cut, direction))
    share = [s * math.exp(-alpha * t * direction * (1 if v > cut else -1)) for s, v, t in zip(share, table[c], sign)]
    total = sum(share)
    share = [s / total for s in share]
    if len(ensemble) % 10 == 0:
        print(len(ensemble), "stumps, weighted error", round(error, 4))


def margin(row):
    return sum(a * d * (1 if float(row[c]) > cut else -1) for a, c, cut, d in ensemble)


with open("submission/submission.csv", "w") as f:
    f.write(f"request_id,{TARGET}\n")
    f.writelines(f"{r['request_id']},{1 / (1 + math.exp(-2 * margin(r))):.6f}\n" for r in test)
