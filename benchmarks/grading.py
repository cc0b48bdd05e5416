"""Grading a submission of a million rows, for each metric, beside polars' reading of the same file.

python benchmarks/grading.py                                one competition for each metric
python benchmarks/grading.py champs-scalar-coupling --rows 100000

The answers of synthetic data, and their perfect submission, are repeated under new ids until they have that many rows;
in every other repetition the predictions belong to the next row. Figures are seconds of CPU beyond imports, the least
of the rounds, and megabytes beyond those after imports; `file` is the submission's size. The limit is `read` + 0.5 s,
and three times the file.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import python, scratch

import mlecore

if TYPE_CHECKING:
    from pandas import DataFrame

METRICS = {
    "tabular-playground-series-dec-2021": "accuracy",
    "text-normalization-challenge-english-language": "accuracy of texts",
    "tabular-playground-series-may-2022": "AUROC",
    "jigsaw-toxic-comment-classification-challenge": "mean AUROC",
    "jigsaw-unintended-bias-in-toxicity-classification": "bias AUROC",
    "rsna-breast-cancer-detection": "probabilistic F1",
    "spooky-author-identification": "log loss",
    "hms-harmful-brain-activity-classification": "KL divergence",
    "new-york-city-taxi-fare-prediction": "RMSE",
    "nomad2018-predict-transparent-conductors": "RMSLE",
    "ventilator-pressure-prediction": "MAE",
    "champs-scalar-coupling": "log MAE",
    "google-quest-challenge": "Spearman's rho",
    "us-patent-phrase-to-phrase-matching": "Pearson's r",
    "osic-pulmonary-fibrosis-progression": "Laplace likelihood",
    "icecube-neutrinos-in-deep-ice": "angles",
    "smartphone-decimeter-2022": "distances",
    "nfl-player-contact-detection": "Matthews",
    "alaska2-image-steganalysis": "weighted AUROC",
    "freesound-audio-tagging-2019": "lwlrap",
    "aptos2019-blindness-detection": "kappa",
    "herbarium-2021-fgvc8": "macro F1",
    "facebook-recruiting-iii-keyword-extraction": "micro F1 of lists",
    "plant-pathology-2021-fgvc8": "micro F1 of sets",
    "hotel-id-2021-fgvc8": "MAP@5",
    "h-and-m-personalized-fashion-recommendations": "MAP@12",
    "tweet-sentiment-extraction": "Jaccard of words",
    "chaii-hindi-and-tamil-question-answering": "Jaccard of words",
    "bms-molecular-translation": "edit distance",
    "billion-word-imputation": "edit distance",
    "multi-modal-gesture-recognition": "edit distance of lists",
    "AI4Code": "Kendall's tau",
    "tensorflow2-question-answering": "micro F1 of spans",
    "kuzushiji-recognition": "F1 of points",
    "tgs-salt-identification-challenge": "AP of masks",
    "hubmap-kidney-segmentation": "Dice",
    "google-research-identify-contrails-reduce-global-warming": "global Dice",
    "uw-madison-gi-tract-image-segmentation": "Dice and Hausdorff",
    "vinbigdata-chest-xray-abnormalities-detection": "AP of boxes",
    "siim-covid19-detection": "AP of boxes",
    "3d-object-detection-for-autonomous-vehicles": "AP of boxes in 3D",
}

ALLOWED = 0.5  # seconds beside reading

READ = """
import sys, time
import polars
begin = time.process_time()
polars.read_csv(sys.argv[1], infer_schema_length=10_000)
print(time.process_time() - begin)
"""
GRADE = """
import sys, time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
import mlecore, pandas, polars
competition, small, large = mlecore.competition(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
competition.grade(small / "submission.csv", small / "private")  # imports the rest
before, begin = getrusage(RUSAGE_SELF).ru_maxrss, time.process_time()
score = competition.grade(large / "submission.csv", large / "private")
print(time.process_time() - begin, (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024, repr(score))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competitions", nargs="*", help="default: one for each metric")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    chosen = args.competitions or list(METRICS)
    width = max(map(len, chosen))
    print(
        f"{'':{width}}  {'rows':>9}  {'file':>6}  {'read':>6}  {'grade':>6}  {'x limit':>7}  {'MB':>6}  {'score':>20}"
    )
    for id in chosen:
        with scratch() as folder:
            rows = write(id, folder, args.rows)
            path = folder / "large" / "submission.csv"
            read = min(float(_output(READ, path)[0]) for _ in range(args.rounds))
            rounds = [_output(GRADE, id, folder / "small", folder / "large") for _ in range(args.rounds)]
            seconds, peak, score = min(float(r[0]) for r in rounds), max(float(r[1]) for r in rounds), rounds[0][2]
            size = path.stat().st_size / 2**20
        print(
            f"{id:{width}}  {rows:9,}  {size:6.0f}  {read:6.2f}  {seconds:6.2f}  {seconds / (read + ALLOWED):7.2f}"
            f"  {peak:6.0f}  {score:>20}  {METRICS.get(id, '')}",
            flush=True,
        )


def write(id: str, folder: Path, rows: int) -> int:
    """Makes the folders ``small`` and ``large`` with data and a submission each; returns the rows of the large one."""
    import pandas as pd

    competition = mlecore.competition(id)
    competition.make_raw(folder / "raw")
    small, large = folder / "small", folder / "large"
    for part in ("public", "private"):
        (small / part).mkdir(parents=True)
    competition.prepare(folder / "raw", small / "public", small / "private")
    shutil.copytree(small, large)
    perfect = competition.perfect(small / "private")
    perfect.to_csv(small / "submission.csv", index=False)
    answers = pd.read_csv(small / competition.facts.answers, float_precision="round_trip", dtype=object)
    key = competition.format.id or perfect.columns[0]
    repeated(answers, key, rows, roll=False).to_csv(large / competition.facts.answers, index=False)
    guesses = repeated(pd.read_csv(small / "submission.csv", dtype=object), key, rows, roll=True)
    guesses.to_csv(large / "submission.csv", index=False)
    if competition.facts.sample:
        shutil.copyfile(large / "submission.csv", large / competition.facts.sample)  # by whose size files are limited
    return len(guesses)


def repeated(table: DataFrame, key: str, rows: int, *, roll: bool) -> DataFrame:
    """The table over and over, up to about so many rows, with new ids in ``key``."""
    import numpy as np
    import pandas as pd

    parts = []
    others = [name for name in table if name != key]
    for time in range(max(1, rows // len(table))):
        part = table.copy()
        if roll and time % 2:
            part[others] = np.roll(part[others].to_numpy(), 1, axis=0)
        if key in part and time:
            part[key] = [f"{time}{cell}" if str(cell).isdigit() else f"{cell}-{time}" for cell in part[key]]
        parts.append(part)
    return pd.concat(parts)


def _output(code: str, *args: object) -> list[str]:
    return subprocess.run(python(code, *args), check=True, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    main()
