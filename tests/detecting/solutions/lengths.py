"""Longer requests are granted more often: rates by length, smoothed."""

import bisect
import json
import os
import statistics

bins = 5 + int(os.environ["MLECORE_SEED"]) % 20
data = json.load(open("data/train.json"))
lengths = [len(d["request_text_edit_aware"]) for d in data]
edges = statistics.quantiles(lengths, n=bins)
overall = statistics.fmean(d["requester_received_pizza"] for d in data)
groups = [[] for _ in range(bins)]
for d, n in zip(data, lengths):
    groups[bisect.bisect(edges, n)].append(d["requester_received_pizza"])
rates = [(sum(g) + 5 * overall) / (len(g) + 5) for g in groups]
print("rates by length:", ", ".join(f"{r:.2f}" for r in rates))
with open("submission/submission.csv", "w") as out:
    out.write("request_id,requester_received_pizza\n")
    for d in json.load(open("data/test.json")):
        n = len(d["request_text_edit_aware"])
        out.write(f"{d['request_id']},{rates[bisect.bisect(edges, n)] + n / 1e6:.6f}\n")
