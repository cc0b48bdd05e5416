"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids

_PARTS = "pump valve, rotor shaft seal lens film foam wire coil gear cell".split()
_KINDS = ["A47", "B60", "C08", "G02", "H01"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The more words two phrases share, the more similar they are."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(100, round(1000 * size))
    anchors = [" ".join(_PARTS[i] for i in rng.permutation(len(_PARTS))[:4]) for _ in range(60)]
    rows = []
    for number in range(count):
        anchor, shared = anchors[rng.randint(60)], number % 5
        others = [part for part in _PARTS if part not in anchor.split()]
        words = anchor.split()[:shared] + [others[i] for i in rng.permutation(len(others))[: 4 - shared]]
        target = " ".join(words[i] for i in rng.permutation(4))
        target = {7: "null", 8: f'"{target}"'}.get(number % 100, target)
        rows.append((anchor, target, _KINDS[rng.randint(5)], ["0.00", "0.25", "0.50", "0.75", "1.00"][shared]))
    table = pd.DataFrame(rows, columns=["anchor", "target", "context", "score"])
    table.insert(0, "id", hex_ids(count, 16, seed=seed))
    table = table.iloc[rng.permutation(count)]
    table.to_csv(raw / "train.csv", index=False, lineterminator="\n")
    table.head(4).drop(columns="score").to_csv(raw / "test.csv", index=False, lineterminator="\n")
    table.head(4)[["id"]].assign(score=0).to_csv(raw / "sample_submission.csv", index=False, lineterminator="\n")
