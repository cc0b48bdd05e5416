"""Freesound Audio Tagging 2019: which of 80 everyday sounds can be heard in a clip?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    link_file,
    link_tree,
    read_answers,
    read_csv,
    refuse,
    write_csv,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

META = "FSDKaggle2019.meta"
META_TABLE = f"{META}/test_post_competition.csv"

CLASSES = """
    Accelerating_and_revving_and_vroom Accordion Acoustic_guitar Applause Bark Bass_drum Bass_guitar
    Bathtub_(filling_or_washing) Bicycle_bell Burping_and_eructation Bus Buzz Car_passing_by Cheering
    Chewing_and_mastication Child_speech_and_kid_speaking Chink_and_clink Chirp_and_tweet Church_bell Clapping
    Computer_keyboard Crackle Cricket Crowd Cupboard_open_or_close Cutlery_and_silverware Dishes_and_pots_and_pans
    Drawer_open_or_close Drip Electric_guitar Fart Female_singing Female_speech_and_woman_speaking
    Fill_(with_liquid) Finger_snapping Frying_(food) Gasp Glockenspiel Gong Gurgling Harmonica Hi-hat Hiss
    Keys_jangling Knock Male_singing Male_speech_and_man_speaking Marimba_and_xylophone Mechanical_fan Meow
    Microwave_oven Motorcycle Printer Purr Race_car_and_auto_racing Raindrop Run Scissors Screaming Shatter Sigh
    Sink_(filling_or_washing) Skateboard Slam Sneeze Squeak Stream Strum Tap Tick-tock Toilet_flush
    Traffic_noise_and_roadway_noise Trickle_and_dribble Walk_and_footsteps Water_tap_and_faucet Waves_and_surf
    Whispering Writing Yell Zipper_(clothing)
""".split()


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    for path in sorted(raw.iterdir()):
        if META not in path.name:
            link = link_tree if path.is_dir() else link_file
            link(path, public / path.name)
    table = read_csv(raw / f"{META}.zip", member=META_TABLE, float_precision=None)
    table = table[table["usage"] == "Private"]
    labels = [set(str(cell).split(",")) for cell in table["labels"]]
    answers = table[["fname"]].assign(**{name: [int(name in heard) for heard in labels] for name in CLASSES})
    sample = read_csv(public / "sample_submission.csv")
    ensure_columns(sample, ["fname", *CLASSES], "sample_submission.csv")
    ensure(len(sample) == len(answers), f"sample_submission.csv has {len(sample)} clips, {META_TABLE} {len(answers)}")
    ensure(
        set(sample["fname"]) == set(answers["fname"]),
        f"sample_submission.csv names other clips than the private ones of {META_TABLE}",
    )
    write_csv(answers, private / "test.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Label-weighted label-ranking average precision."""
    import numpy as np

    truth, predictions = format.read(submission, read_answers(private / "test.csv"))
    examine(submission)
    labelled = np.logical_or.reduce([truth[name].to_numpy() == 1 for name in CLASSES])
    for name in CLASSES:
        refuse(predictions, name, "finite numbers", ~np.isfinite(predictions[name].to_numpy()) & labelled)
    return mean_precision(truth, predictions)


def mean_precision(truth: DataFrame, predictions: DataFrame) -> float:
    """That of all true labels, which are 1 in ``truth``."""
    import numpy as np

    true, scores = (np.array([table[name].to_numpy() for name in CLASSES]).T for table in (truth, predictions))
    return float(np.mean(precisions(true == 1, scores)))


def precisions(true: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each true label of a clip: the share of true ones among the labels with its score or more.

    ``true`` and ``scores`` are clips x labels; the result has one value a true label.
    """
    import numpy as np

    clips, labels = true.nonzero()
    above = scores[clips] >= scores[clips, labels][:, None]
    return np.asarray((above & true[clips]).sum(axis=1) / above.sum(axis=1))


@hookimpl
def examine(submission: Table) -> None:
    frame = submission.frame()
    expected = ["fname", *CLASSES]
    if list(frame.columns) != expected:  # the format has seen to it that they are the same but for their order
        place, (found, wanted) = next(
            (place, pair) for place, pair in enumerate(zip(frame.columns, expected, strict=True), 1) if len({*pair}) > 1
        )
        raise InvalidSubmission(
            f"the columns must stand in the order of the sample submission: column {place} is {found!r}, not {wanted!r}"
        )
    if all(frame[name].dtype == bool for name in CLASSES):
        raise InvalidSubmission("all 80 columns hold nothing but True and False; scores must be numbers")
