"""Edition v2: split by clusters of similar molecules; base-pair probabilities are public; rows go by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mle_comp_stanford_covid_vaccine as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, link_files, read_answers, rmse, split_whole_groups

SIMILAR = 0.8  # share of bases that agree, place by place
SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Molecules that resemble a test molecule but did not pass the quality filter are in neither part."""
    records = v1.read_records(raw / "train.json")
    records["cluster"] = clusters(records["sequence"].tolist())
    good = records[records["SN_filter"] > 0]
    _, chosen = split_whole_groups(good["cluster"].tolist(), test_size=v1.test_size(records, good), seed=SEED)
    test = good.iloc[chosen].drop(columns="cluster")
    train = records[~records["cluster"].isin(good["cluster"].iloc[chosen])].drop(columns="cluster")
    v1.write(raw, public, private, train, test)
    link_files(raw / "bpps", public / "bpps", sorted(f"{id}.npy" for part in (train, test) for id in part["id"]))


def clusters(sequences: Sequence[str]) -> list[int]:
    """A number for each sequence: those linked by similar pairs of the same length have the same one."""
    import numpy as np

    number = list(range(len(sequences)))

    def root(place: int) -> int:
        while number[place] != place:
            number[place] = place = number[number[place]]
        return place

    by_length: dict[int, list[int]] = {}
    for place, sequence in enumerate(sequences):
        by_length.setdefault(len(sequence), []).append(place)
    for length, places in by_length.items():
        bases = np.array([list(sequences[place]) for place in places]).reshape(len(places), length)
        for later, place in enumerate(places):
            agree = (bases[:later] == bases[later]).sum(axis=1)
            for earlier in np.flatnonzero(agree >= SIMILAR * length).tolist():
                number[root(place)] = root(places[earlier])
    return [root(place) for place in range(len(sequences))]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, read_answers(private / "test.csv", [v1.ID, *v1.TARGETS, "keep"]))
    keep = truth["keep"].to_numpy(dtype=bool)
    return rmse(truth.loc[keep, v1.SCORED].to_numpy(), predictions.loc[keep, v1.SCORED].to_numpy())
