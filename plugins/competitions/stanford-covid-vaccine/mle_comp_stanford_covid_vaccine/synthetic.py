"""Synthetic data in the form of the download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mle_comp_stanford_covid_vaccine import ID, TARGETS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

ERRORS = ["reactivity_error", "deg_error_Mg_pH10", "deg_error_pH10", "deg_error_Mg_50C", "deg_error_50C"]
LENGTH, MEASURED = 20, 12  # bases of a molecule; 107 and 68 on Kaggle
PUBLIC = ["index", "id", "sequence", "structure", "predicted_loop_type", "seq_length", "seq_scored"]  # of test.json
BASES = dict(zip("ACGU", (0.9, 0.4, 0.7, 0.5), strict=True))  # how reactive each is where it is not paired
PARTNERS = dict(zip("ACGU", "UGCA", strict=True))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """240 molecules times ``size``. What is paired in a stem is stable; elsewhere the base decides."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(40, round(240 * size))
    ids = [f"id_{name}" for name in hex_ids(count + 2, 9, seed=seed)]
    records = [_record(number, id, rng) for number, id in enumerate(ids)]
    for number in range(1, len(records), 6):
        _resemble(records[number], records[number - 1])
    train, test = records[:count], [{name: record[name] for name in PUBLIC} for record in records[count:]]
    for name, part in (("train", train), ("test", test)):
        (raw / f"{name}.json").write_bytes("".join(json.dumps(record) + "\n" for record in part).encode())
    rows = [(f"{id}_{j}", *[0.0] * len(TARGETS)) for id in ids[count:] for j in range(LENGTH)]
    write_csv(pd.DataFrame(rows, columns=[ID, *TARGETS]), raw / "sample_submission.csv")
    (raw / "bpps").mkdir()
    for id in ids:
        np.save(raw / "bpps" / f"{id}.npy", rng.rand(LENGTH, LENGTH).astype(np.float32))


def _record(number: int, id: str, rng: RandomState) -> dict[str, Any]:
    """Every fifth molecule did not pass the filter; of these every second is longer."""
    import numpy as np

    good = number % 5 != 3
    length, measured = (LENGTH, MEASURED) if good or number % 2 else (LENGTH + 6, MEASURED + 4)
    sequence, structure, loops = _folded(length, rng)
    open_bases = [0.05 if letter == "S" else BASES[base] for base, letter in zip(sequence, loops, strict=True)]
    record: dict[str, Any] = {
        "index": number * 3,
        "id": id,
        "sequence": sequence,
        "structure": structure,
        "predicted_loop_type": loops,
        "signal_to_noise": round(rng.uniform(1.0, 9.0) if good else rng.uniform(-0.5, 1.0), 3),
        "SN_filter": 1.0 if good else 0.0,
        "seq_length": length,
        "seq_scored": measured,
    }
    for name in ERRORS:
        record[name] = rng.uniform(0.01, 0.3, measured).round(4).tolist()
    for place, name in enumerate(TARGETS):
        level = np.array(open_bases[:measured]) * (1 + 0.2 * place)
        record[name] = (level + (0.1 if good else 0.5) * rng.normal(size=measured)).round(4).tolist()
    return record


def _resemble(record: dict[str, Any], other: dict[str, Any]) -> None:
    """Make a molecule the same as another one but for its first base, if they are equally long."""
    if record["seq_length"] == other["seq_length"]:
        record["sequence"] = PARTNERS[other["sequence"][0]] + other["sequence"][1:]
        for name in ("structure", "predicted_loop_type", *TARGETS):
            record[name] = other[name]


def _folded(length: int, rng: RandomState) -> tuple[str, str, str]:
    """Sequence, brackets and loop types: loose ends around one hairpin."""
    stem, loop = rng.randint(2, 6), rng.randint(3, 6)
    before = rng.randint(1, length - 2 * stem - loop)
    after = length - before - 2 * stem - loop
    bases = rng.choice(list("ACGU"), length)
    for j in range(stem):
        bases[before + 2 * stem + loop - 1 - j] = PARTNERS[str(bases[before + j])]
    brackets = "." * before + "(" * stem + "." * loop + ")" * stem + "." * after
    loops = "E" * before + "S" * stem + "H" * loop + "S" * stem + "E" * after
    return "".join(bases), brackets, loops
