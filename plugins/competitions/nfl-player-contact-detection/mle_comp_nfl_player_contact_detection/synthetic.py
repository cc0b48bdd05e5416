"""Synthetic data in the form of the download."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_nfl_player_contact_detection import PLAY, VIEWS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray
    from pandas import DataFrame

PLAYERS = 6  # 22 on Kaggle
STEPS = 3  # tenths of a second of a play
NEAR = 1.5  # yards, below which two players touch


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """40 plays times ``size``. Whoever is near touches; whoever is slow lies on the ground."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    labels, tracking, helmets, videos = [], [], [], []
    for number in range(max(12, round(40 * size))):
        game, play = 58168 + number // 2, 75 + 31 * number
        name = f"{game}_{play:06d}"
        keys = {PLAY: name, "game_key": game, "play_id": play}
        players = np.sort(rng.permutation(np.arange(30000, 60000, 7))[:PLAYERS])
        for step in range(-1, STEPS):
            places, speeds = rng.uniform(0, 4, (PLAYERS, 2)), rng.gamma(2, 1, PLAYERS)
            when = f"2020-09-11T03:{number % 60:02d}:{48 + step}.100Z"
            tracking.append(_tracking(keys, players, when, step, places, speeds, rng))
            if step >= 0:
                labels.append(_labels(name, players, when, step, places, speeds))
        helmets.append(_helmets(keys, players, rng))
        for view in ("Endzone", "Sideline"):
            times = [f"2020-09-11T03:{number % 60:02d}:{second:02d}.000Z" for second in (43, 58, 48)]
            videos.append(
                {**keys, "view": view, **dict(zip(("start_time", "end_time", "snap_time"), times, strict=True))}
            )
        for view in VIEWS:
            path = raw / "train" / f"{keys[PLAY]}_{view}.mp4"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\0\0\0\x18ftypmp42" + rng.bytes(20))
    helmets[0]["left"] = helmets[0]["left"].where(helmets[0].index > 0)  # a gap in one play only
    tables = {
        "labels": pd.concat(labels),
        "player_tracking": pd.concat(tracking),
        "baseline_helmets": pd.concat(helmets),
        "video_metadata": pd.DataFrame(videos),
    }
    for name, table in tables.items():
        order = rng.permutation(len(table)) if name != "labels" else np.arange(len(table))
        write_csv(table.iloc[order], raw / f"train_{name}.csv")
        few = table.head(3).assign(**{PLAY: "58999_000001"})
        if name != "labels":
            write_csv(few, raw / f"test_{name}.csv")
        else:
            write_csv(few[["contact_id"]].assign(contact=0), raw / "sample_submission.csv")


def _labels(
    play: str,
    players: NDArray[np.int64],
    when: str,
    step: int,
    places: NDArray[np.float64],
    speeds: NDArray[np.float64],
) -> DataFrame:
    """All pairs of players, the lower number first, and each player with the ground."""
    import numpy as np
    import pandas as pd

    rows = []
    for a, b in combinations(range(PLAYERS), 2):
        touch = int(np.hypot(*(places[a] - places[b])) < NEAR)
        rows.append((players[a], players[b], touch))
    rows += [(player, "G", int(speed < 1)) for player, speed in zip(players, speeds, strict=True)]
    table = pd.DataFrame(rows, columns=["nfl_player_id_1", "nfl_player_id_2", "contact"])
    table.insert(0, "step", step)
    table.insert(0, "datetime", when)
    table.insert(0, PLAY, play)
    table.insert(0, "contact_id", [f"{play}_{step}_{a}_{b}" for a, b, _ in rows])
    return table


def _tracking(
    keys: dict[str, object],
    players: NDArray[np.int64],
    when: str,
    step: int,
    places: NDArray[np.float64],
    speeds: NDArray[np.float64],
    rng: RandomState,
) -> DataFrame:
    import pandas as pd

    number = range(PLAYERS)
    table = pd.DataFrame({**keys, "nfl_player_id": players, "datetime": when, "step": step}, index=number)
    table["team"] = ["home" if place % 2 else "away" for place in number]
    table["position"] = ["QB", "C", "T", "CB", "DE", "ILB"]
    table["jersey_number"] = [10 + 7 * place for place in number]
    table["x_position"], table["y_position"] = places.round(2).T
    table["speed"] = speeds  # long decimals, whose last digits the plain reader changes
    table["distance"] = (speeds / 10).round(2)
    table["direction"], table["orientation"] = rng.uniform(0, 360, (2, PLAYERS)).round(2)
    table["acceleration"], table["sa"] = rng.normal(size=(2, PLAYERS)).round(2)
    return table


def _helmets(keys: dict[str, object], players: NDArray[np.int64], rng: RandomState) -> DataFrame:
    import numpy as np
    import pandas as pd

    table = pd.DataFrame({**keys, "view": np.repeat(["Endzone", "Sideline"], PLAYERS)})
    table["video"] = table[PLAY] + "_" + table["view"] + ".mp4"
    table["frame"] = 300
    table["nfl_player_id"] = np.tile(players, 2)
    table["player_label"] = [f"{'VH'[place % 2]}{10 + 7 * (place % PLAYERS)}" for place in range(len(table))]
    for name in ("left", "width", "top", "height"):
        table[name] = rng.randint(5, 700, len(table))
    return table
