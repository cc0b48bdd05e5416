"""Grading a submission of a million rows, for each metric, beside polars' reading of the same file.

python benchmarks/grading.py                                one competition for each metric
python benchmarks/grading.py champs-scalar-coupling --rows 100000

The answers of synthetic data, and their perfect submission, are repeated under new ids until they have that many rows;
in every other repetition the predictions belong to the next row, and columns of numbers are drawn at random, with six
digits, unless each row's add up to 1. `file` and `answers` are megabytes. Seconds are of CPU, beyond imports, the least
of the rounds; the limit is `read` + 0.5 s. `peak` is the most memory in megabytes that the grading process held (VmHWM
of Linux, reset before), less what it held after imports and a small grading; its limit is three times `file`.
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
import mlecore, pandas, polars
def held(name):  # megabytes
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))
competition, small, large = mlecore.competition(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
competition.grade(small / "submission.csv", small / "private")  # imports the rest
Path("/proc/self/clear_refs").write_text("5")  # resets the peak
before, begin = held("VmRSS"), time.process_time()
score = competition.grade(large / "submission.csv", large / "private")
print(time.process_time() - begin, held("VmHWM") - before, repr(score))
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
        f"{'':{width}}  {'rows':>9}  {'file':>6}  {'answers':>7}  {'read':>6}  {'limit':>6}  {'grade':>6}"
        f"  {'x limit':>7}  {'peak':>6}  {'x limit':>7}  {'score':>20}"
    )
    for id in chosen:
        with scratch() as folder:
            rows = write(id, folder, args.rows)
            path, large = folder / "large" / "submission.csv", folder / "large"
            limit = (read := min(float(_output(READ, path)[0]) for _ in range(args.rounds))) + ALLOWED
            rounds = [_output(GRADE, id, folder / "small", large) for _ in range(args.rounds)]
            seconds, peak, score = min(float(r[0]) for r in rounds), max(float(r[1]) for r in rounds), rounds[0][2]
            size = path.stat().st_size / 2**20
            answers = (large / mlecore.competition(id).facts.answers).stat().st_size / 2**20
        print(
            f"{id:{width}}  {rows:9,}  {size:6.0f}  {answers:7.0f}  {read:6.2f}  {limit:6.2f}  {seconds:6.2f}"
            f"  {seconds / limit:7.2f}  {peak:6.0f}  {peak / (3 * size):7.2f}  {score:>20}  {METRICS.get(id, '')}",
            flush=True,
        )


def write(id: str, folder: Path, rows: int) -> int:
    """Makes the folders ``small`` and ``large`` with data and a submission each; returns the rows of the large one."""
    import pandas as pd
    from numpy.random import RandomState

    competition = mlecore.competition(id)
    competition.make_raw(folder / "raw")
    small, large = folder / "small", folder / "large"
    for part in ("public", "private"):
        (small / part).mkdir(parents=True)
    competition.prepare(folder / "raw", small / "public", small / "private")
    shutil.copytree(small, large)
    perfect = competition.perfect(small / "private")
    perfect.to_csv(small / "submission.csv", index=False)
    key = competition.format.id or perfect.columns[0]
    texts = pd.read_csv(small / "submission.csv", dtype=str, keep_default_na=False)
    ids = texts[key]
    times = max(1, rows // len(texts))
    most = 18 - len(str(times))  # digits of numbers that stay within 64 bits
    width = min(most, max(len(str(int(id))) for id in ids)) if all(map(str.isdigit, ids)) else 0
    answers = Path(competition.facts.answers)
    if answers.suffix == ".csv":
        table = pd.read_csv(small / answers, dtype=str, keep_default_na=False)
        _write(repeated(table, key, times, width=width), large / answers)
    else:
        records = pd.read_json(small / answers, lines=True, dtype={key: str})
        repeated(records, key, times, width=width).to_json(large / answers, orient="records", lines=True)
    own = id == "AI4Code"  # where a row's words must be those of the answer
    guesses = repeated(texts, key, times, width=width, roll=not own, backwards=own)
    rules = competition.format.expand(list(perfect.columns))
    numbers = [name for name, rule in rules.items() if rule.type == "number"]
    if not (abs(perfect[numbers].sum(axis=1) - 1) < 1e-3).all():
        for place, name in enumerate(numbers):
            least, most = perfect[name].min(), perfect[name].max()
            guesses[name] = RandomState(place).uniform(least, most, len(guesses)).round(6)
    _write(guesses, large / "submission.csv")
    if competition.facts.sample:
        shutil.copyfile(large / "submission.csv", large / competition.facts.sample)  # by whose size files are limited
    return len(guesses)


def repeated(
    table: DataFrame, key: str, times: int, *, width: int, roll: bool = False, backwards: bool = False
) -> DataFrame:
    """The table so many times, with new ids in ``key``: numbers if they have a ``width``.

    In every other repetition other columns belong to the next row (``roll``), or their words come ``backwards``.
    """
    import numpy as np

    place, time = np.tile(np.arange(len(table)), times), np.repeat(np.arange(times), len(table))
    out = table.iloc[np.where(time % 2, (place - 1) % len(table), place) if roll else place].reset_index(drop=True)
    if backwards:
        for name in out.columns.drop(key):
            cells = zip(time.tolist(), out[name], strict=True)
            out[name] = [" ".join(cell.split()[::-1]) if t % 2 else cell for t, cell in cells]
    if key in table:
        ids = zip(time.tolist(), table[key].tolist() * times, strict=True)
        out[key] = [(f"{t}{id[-width:]:0>{width}}" if width else f"{t}-{id}") if t else id for t, id in ids]
        if not width and table[key].is_monotonic_increasing:
            out = out.sort_values(key, kind="stable", ignore_index=True)
    return out


def _write(table: DataFrame, path: Path) -> None:
    import polars as pl

    pl.from_pandas(table).write_csv(path)  # in a tenth of pandas' time


def _output(code: str, *args: object) -> list[str]:
    return subprocess.run(python(code, *args), check=True, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    main()
