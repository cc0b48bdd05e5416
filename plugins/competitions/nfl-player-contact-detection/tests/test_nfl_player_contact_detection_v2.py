"""NFL Player Contact Detection, edition v2: no game is in both parts."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def plays(trial: Trial, part: str) -> set[str]:
    return set(pd.read_csv(trial.public / f"{part}_player_tracking.csv")["game_play"])


def test_every_table_follows(trial: Trial, answers: pd.DataFrame) -> None:
    assert set(answers["game_play"]) == plays(trial, "test")
    assert set(pd.read_csv(trial.public / "train_labels.csv")["game_play"]) == plays(trial, "train")
    for part in ("train", "test"):
        assert {path.name.rpartition("_")[0] for path in (trial.public / part).iterdir()} == plays(trial, part)
        for table in ("baseline_helmets", "video_metadata"):
            assert set(pd.read_csv(trial.public / f"{part}_{table}.csv")["game_play"]) == plays(trial, part)
