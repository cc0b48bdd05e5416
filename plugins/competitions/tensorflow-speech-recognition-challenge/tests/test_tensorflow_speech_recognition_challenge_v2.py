"""Speech commands, edition v2: twelve classes, no speaker in both parts, silence of one second."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import extract

pytestmark = pytest.mark.trial(edition="v2")
WORDS = {"yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"}


@pytest.fixture
def sources(trial: Trial, tmp_path: Path) -> dict[bytes, Path]:
    """Each clip of the download by its samples."""
    extract(trial.raw / "train.7z", tmp_path)
    return {path.read_bytes()[44:]: path for path in tmp_path.rglob("*.wav")}


def speaker(path: Path) -> str:
    return path.name.partition("_nohash_")[0]


def speakers_of_both(trial: Trial, sources: dict[bytes, Path]) -> set[str]:
    train = {path.name.partition("_nohash_")[0] for path in (trial.public / "train").rglob("*_nohash_*.wav")}
    samples = [path.read_bytes()[44:] for path in (trial.public / "test" / "audio").iterdir()]
    return train & {speaker(sources[each]) for each in samples if each in sources}


def test_no_speaker_is_in_both_parts(trial: Trial, trial_v1: Trial, sources: dict[bytes, Path]) -> None:
    assert speakers_of_both(trial_v1, sources)
    assert not speakers_of_both(trial, sources)


def test_there_are_twelve_classes(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame, sources: dict[bytes, Path]
) -> None:
    v1 = pd.read_csv(trial_v1.private / "test.csv")
    assert not {"silence", "unknown"} & set(v1["label"])
    assert {"silence", "unknown"} < set(answers["label"]) <= {*WORDS, "silence", "unknown"}
    for name, label in answers.itertuples(index=False):
        source = sources.get((trial.public / "test" / "audio" / name).read_bytes()[44:])
        assert label == ("silence" if source is None else source.parent.name if label in WORDS else "unknown")
        assert source is None or label in WORDS or source.parent.name not in WORDS
    trial.refuses(answers.assign(label="bed"), "one of 12 texts")


def test_noise_to_predict_is_cut_into_seconds(trial: Trial, answers: pd.DataFrame, sources: dict[bytes, Path]) -> None:
    files = {name: (trial.public / "test" / "audio" / name).read_bytes() for name in answers["fname"]}
    assert len({len(data) for data in files.values()}) == 1  # so the length tells nothing
    kept = {path.name for path in (trial.public / "train").rglob("_background_noise_/*.wav")}
    found: Counter[str] = Counter()
    for name in answers["fname"][answers["label"] == "silence"]:
        second = files[name][44:]
        found.update(path.name for samples, path in sources.items() if second in samples)
    assert not kept & set(found)
    assert set(found.values()) == {3}  # each of a recording's three seconds once
    assert len(found) == 2
