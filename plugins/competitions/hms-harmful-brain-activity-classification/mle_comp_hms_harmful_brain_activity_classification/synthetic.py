"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_hms_harmful_brain_activity_classification import VOTES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

ELECTRODES = "Fp1 F3 C3 P3 F7 T3 T5 O1 Fz Cz Pz Fp2 F4 C4 P4 F8 T4 T6 O2 EKG".split()
REGIONS = ["LL", "RL", "LP", "RP"]
FREQUENCIES = [0.59, 4.98, 19.92]  # a hundred on Kaggle
CLASSES = ["Seizure", "LPD", "GPD", "LRDA", "GRDA", "Other"]
COMMON = [0.3, 0.1, 0.1, 0.1, 0.15, 0.25]  # how often each class is the most likely one


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """40 spectrograms times ``size``, each with one or two EEGs, each of these with one to three rows.

    Each class beats at its own pace, and where the experts agree it beats strongly.
    """
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(12, round(40 * size))
    numbers = iter(rng.permutation(np.unique(rng.randint(10**6, 10**9, 4 * count))).tolist())
    spectrograms = [next(numbers) for _ in range(count + 1)]
    for name in ("train_eegs", "train_spectrograms", "test_eegs", "test_spectrograms", "example_figures"):
        (raw / name).mkdir()
    rows: list[tuple[int | float | str, ...]] = []
    label = 0
    for number, spectrogram in enumerate(spectrograms):
        kind = rng.choice(len(CLASSES), p=COMMON)
        folder = "test" if number == count else "train"
        _write_parquet(_spectrogram(kind, rng), raw / f"{folder}_spectrograms" / f"{spectrogram}.parquet")
        for part in range(1 + number % 2):
            eeg = next(numbers)
            _write_parquet(_recording(kind, rng), raw / f"{folder}_eegs" / f"{eeg}.parquet")
            for window in range(1 + rng.randint(3)):
                label += 1 + rng.randint(9)
                start = (eeg, window, 2.0 * window, spectrogram, 3 * part + window, 600.0 * part + 2 * window)
                rows.append((*start, label, 100 + number // 3, *_votes(len(rows), kind, rng)))
    columns = ["eeg_id", "eeg_sub_id", "eeg_label_offset_seconds"]
    columns += ["spectrogram_id", "spectrogram_sub_id", "spectrogram_label_offset_seconds"]
    table = pd.DataFrame(rows, columns=[*columns, "label_id", "patient_id", "expert_consensus", *VOTES])
    known = table["spectrogram_id"] != spectrograms[-1]
    write_csv(table[known], raw / "train.csv")
    write_csv(table.loc[~known, ["spectrogram_id", "eeg_id", "patient_id"]], raw / "test.csv")
    sample = table.loc[~known, ["eeg_id"]].assign(**dict.fromkeys(VOTES, 1 / len(VOTES)))
    write_csv(sample, raw / "sample_submission.csv")
    for number in range(1, 4):
        (raw / "example_figures" / f"Sample{number:02d}.pdf").write_bytes(b"%%PDF-1.4\n%%%%EOF %d\n" % number)


def _votes(row: int, kind: int, rng: RandomState) -> tuple[str, *tuple[int, ...]]:
    """What the experts settled on, and their votes: all for one class, a tie, some for each, or most for one."""
    import numpy as np

    votes = np.zeros(len(CLASSES), dtype=int)
    votes[kind] = 3 + rng.randint(12)
    if row % 4 == 1:
        votes[(kind + 1) % len(CLASSES)] = votes[kind]
    elif row % 4 == 2:
        votes += 1
    elif row % 4 == 3:
        votes[rng.randint(len(CLASSES))] += 1
    return CLASSES[int(votes.argmax())], *votes.tolist()


def _recording(kind: int, rng: RandomState) -> DataFrame:
    """200 rows a second of every electrode."""
    import numpy as np
    import pandas as pd

    time = np.arange(400) / 200
    wave = 20 * (kind + 1) * np.sin(2 * np.pi * (kind + 1) * time)
    values = wave[:, None] + rng.normal(scale=10, size=(len(time), len(ELECTRODES)))
    return pd.DataFrame(values.astype(np.float32), columns=ELECTRODES)


def _spectrogram(kind: int, rng: RandomState) -> DataFrame:
    """A row every two seconds."""
    import numpy as np
    import pandas as pd

    names = [f"{region}_{frequency}" for region in REGIONS for frequency in FREQUENCIES]
    values = rng.gamma(2.0 + kind, 1.0, (20, len(names))).astype(np.float32)
    table = pd.DataFrame(values, columns=names)
    table.insert(0, "time", 2 * np.arange(len(table)) + 1)
    return table


def _write_parquet(table: DataFrame, path: Path) -> None:
    table.to_parquet(path, index=False, engine="fastparquet")
