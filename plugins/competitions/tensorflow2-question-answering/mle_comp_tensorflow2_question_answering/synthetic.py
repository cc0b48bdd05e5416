"""Made-up questions and pages, with every kind of annotation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mle_comp_tensorflow2_question_answering import CHUNK
from mlecore.hookspecs import hookimpl

WORDS = 'the river runs through a town of 1/2 million <P> </P> people who \\ like "tea" café 𝄞 naïve since 1901'.split()


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Never 1,000k + 1 questions: a chunk of one cannot be split. More than 1,000, so that there are two chunks."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(1020, round(1040 * size))
    with (raw / "simplified-nq-train.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for number in range(count + 1 if count % CHUNK == 1 else count):
            file.write(json.dumps(_question(rng, number), ensure_ascii=number % 2 == 0) + "\n")
    (raw / "simplified-nq-kaggle-test.jsonl").write_text("{}\n", encoding="utf-8", newline="\n")
    (raw / "sample_submission.csv").write_text("example_id,PredictionString\n", encoding="utf-8", newline="\n")


def _question(rng: Any, number: int) -> dict[str, Any]:
    tokens = [WORDS[i] for i in rng.randint(0, len(WORDS), rng.randint(30, 60))]
    candidates = [
        {"start_token": start, "top_level": bool(rng.rand() < 0.7), "end_token": start + int(rng.randint(4, 9))}
        for start in range(0, len(tokens) - 10, 10)
    ]
    kind = number % 6  # nothing, long, long and short, long and several short, yes, no
    asked = number - 1 if number % 30 == 1 else number  # a question that was asked before
    chosen = int(rng.randint(len(candidates)))
    long = candidates[chosen] if kind else {"start_token": -1, "end_token": -1}
    short = []
    for offset in range({2: 1, 3: 3}.get(kind, 0)):
        start = long["start_token"] + offset
        short.append({"start_token": start, "end_token": start + 1})
    return {
        "document_text": " ".join(tokens),
        "long_answer_candidates": candidates,
        "question_text": f"what is number {asked} of the {WORDS[asked % len(WORDS)]}?",
        "annotations": [
            {
                "yes_no_answer": {4: "YES", 5: "NO"}.get(kind, "NONE"),
                "long_answer": {
                    "start_token": long["start_token"],
                    "candidate_index": chosen if kind else -1,
                    "end_token": long["end_token"],
                },
                "short_answers": short,
                "annotation_id": 2**63 + 7 * number if number % 5 == 0 else 10**17 + number,
            }
        ],
        "document_url": f"https://en.wikipedia.org//w/index.php?title=Page_{number // 2}&amp;oldid={number}",
        "example_id": (-1) ** number * (10**18 + 7_919 * number + int(rng.randint(1000))),
    }
