"""Large competitions prepared and graded at their real size: seconds and peak memory, each step in its own process.

    python benchmarks/real_size.py [--scale 1] [ID ...]

The raw data have as many rows, documents or files as the real ones, and tables and texts about their bytes. Where the
package's own synthetic data would be too small for that, or slow to make, they are written here. ``--scale 0.01`` makes
a hundredth. What is graded is the best possible submission. The disk must hold the raw data twice (see the column GB).
`!`: more than the 4 GB that a competition may take.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from _measure import fresh, python, run, scratch
from numpy.random import Generator, default_rng

import mlecore
from mlecore.prepare import ZipWriter

START = "import sys, mlecore; from pathlib import Path; c = mlecore.competition(sys.argv[1])"
HOOK = f"{START}; c.prepare(*map(Path, sys.argv[2:]))"
GRADE = f"{START}; c.grade(*map(Path, sys.argv[2:]))"
LIMIT_MB = 4000


def h_and_m(raw: Path, scale: float) -> None:
    """Two years of purchases, about three of a customer who comes on a day."""
    import polars as pl

    rng = default_rng(0)
    rows, days = round(31_788_324 * scale), 734
    customers = pl.Series("customer_id", hexes(rng, round(1_371_980 * scale), 64))
    articles = pl.Series("article_id", [f"0{number}" for number in range(108_775_015, 108_775_015 + 105_542)])
    with (raw / "transactions_train.csv").open("wb") as file:
        for day in range(days):
            count = rows // days + (day < rows % days)
            who = np.sort(rng.integers(0, len(customers), count // 3 + 1))[rng.integers(0, count // 3 + 1, count)]
            date = str(np.datetime64("2018-09-20") + day)
            table = {"t_dat": pl.repeat(date, count, eager=True), "customer_id": customers.gather(who)}
            table["article_id"] = articles.gather(rng.integers(0, len(articles), count))
            table["price"] = pl.Series(rng.integers(1, 600, count) / 590 / 10)
            table["sales_channel_id"] = pl.Series(rng.integers(1, 3, count))
            pl.DataFrame(table).write_csv(file, include_header=not day)
    columns = {f"text_{k}": pl.repeat("of an article or a customer", len(articles), eager=True) for k in range(24)}
    pl.DataFrame({"article_id": articles, **columns}).write_csv(raw / "articles.csv")
    pl.DataFrame({"customer_id": customers, "age": rng.integers(16, 90, len(customers))}).write_csv(
        raw / "customers.csv"
    )
    popular = pl.lit(" ".join(articles[:12])).alias("prediction")
    pl.DataFrame({"customer_id": customers.sort()}).with_columns(popular).write_csv(raw / "sample_submission.csv")
    for name in articles[: round(105_100 * scale)]:
        path = raw / "images" / name[:3] / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())


def facebook(raw: Path, scale: float) -> None:
    """Texts of 1,100 characters on average, of HTML with line breaks; stored, as deflating them takes minutes."""
    rng = default_rng(0)
    rows, tags = round(6_034_195 * scale), [f"tag-{k}" for k in range(42_000)]
    text = prose(rng, 1_000_000)
    with (
        ZipWriter(raw / "Train.zip", stored=True) as archive,
        archive.open("Train.csv") as member,
        io.TextIOWrapper(member, "utf-8", newline="") as file,
    ):
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(["Id", "Title", "Body", "Tags"])
        for first in range(0, rows, 10_000):
            count = min(10_000, rows - first)
            starts, lengths = rng.integers(0, 990_000, count), rng.gamma(2, 550, count).astype(int)
            chosen = rng.zipf(1.5, (count, 3)) % len(tags)
            writer.writerows(
                (first + k + 1, text[start : start + 50], text[start : start + length], " ".join(tags[t] for t in ts))
                for k, (start, length, ts) in enumerate(
                    zip(starts.tolist(), lengths.tolist(), chosen.tolist(), strict=True)
                )
            )


def ai4code(raw: Path, scale: float) -> None:
    """Notebooks of 46 cells and 10,000 characters on average."""
    rng = default_rng(0)
    count = max(21_000, round(139_256 * scale))
    ids, text = hexes(rng, count, 14), prose(rng, 1_000_000)
    lengths = np.clip(rng.gamma(2, 23, count), 2, 1000).astype(int)
    (raw / "train").mkdir()
    with (raw / "train_orders.csv").open("w") as orders, (raw / "train_ancestors.csv").open("w") as ancestors:
        orders.write("id,cell_order\n")
        ancestors.write("id,ancestor_id,parent_id\n")
        origins = np.cumsum(rng.random(count) < 0.7)
        for number, id in enumerate(sorted(ids)):
            cells = hexes(rng, lengths[number], 8)
            order = rng.permutation(len(cells))
            kinds = {cell: "markdown" if k % 3 else "code" for k, cell in enumerate(cells)}
            at = int(rng.integers(0, 900_000))
            sources = {cell: text[at + 200 * k : at + 200 * k + 200] for k, cell in enumerate(cells)}
            (raw / "train" / f"{id}.json").write_text(json.dumps({"cell_type": kinds, "source": sources}))
            orders.write(f"{id},{' '.join(cells[k] for k in order)}\n")
            ancestors.write(f"{id},f{origins[number]:07x},\n")


def statoil(raw: Path, scale: float) -> None:
    """1,604 labelled images and 8,424 others, each of two bands of 5,625 numbers, packed as fast as LZMA can."""
    import py7zr

    rng = default_rng(0)
    bands = [f"[{', '.join(f'{x:.6f}' for x in rng.normal(-20, 5, 5625))}]" for _ in range(200)]
    for name, count in (("train", round(1604 * scale)), ("test", round(8424 * scale))):
        with tempfile.TemporaryFile("w+b", dir=raw) as file:
            for number, id in enumerate(hexes(rng, count, 8)):
                one, two = (bands[k] for k in rng.integers(0, 200, 2))
                label = f', "is_iceberg": {number % 2}' if name == "train" else ""
                image = f'{{"id": "{id}", "band_1": {one}, "band_2": {two}, "inc_angle": 43.9239{label}}}'
                file.write((", " if number else "[").encode() + image.encode())
            file.write(b"]")
            file.seek(0)
            fast = [{"id": py7zr.FILTER_LZMA2, "preset": 0}]
            with py7zr.SevenZipFile(raw / f"{name}.json.7z", "w", filters=fast) as archive:
                archive.writef(file, f"data/processed/{name}.json")


def cdiscount(raw: Path, scale: float) -> None:
    """As many products as there are, with pictures of a seventh of the real bytes: 8 GB instead of 58."""
    import bson

    rng = default_rng(0)
    blob = rng.bytes(1 << 20)
    with (raw / "train.bson").open("wb", buffering=1 << 20) as file:
        for first in range(0, round(7_069_896 * scale), 10_000):
            pictures = 1 + rng.poisson(0.75, 10_000).clip(max=3)
            for k, (count, start, kind) in enumerate(
                zip(pictures.tolist(), *rng.integers(0, 1 << 20, (2, 10_000)).tolist(), strict=True)
            ):
                shown = [{"picture": blob[start + 20 * i : start + 20 * i + 640]} for i in range(count)]
                category = 1_000_000_000 + kind % 5270
                file.write(bson.encode({"_id": first + k, "imgs": shown, "category_id": category}))
    (raw / "category_names.csv").write_text("category_id,category_level1,category_level2,category_level3\n")


def icecube(raw: Path, scale: float) -> None:
    """660 batches of 200,000 events; their table in the row groups of 50 million that fastparquet makes."""
    import fastparquet
    import pandas as pd

    rng = default_rng(0)
    rows, group = round(131_953_924 * scale), 50_000_000
    for first in range(0, rows, group):
        number = np.arange(first, min(rows, first + group))
        table = pd.DataFrame({"batch_id": 1 + number // 200_000, "event_id": 24 + 16 * number}, copy=False)
        table["first_pulse_index"] = number % 200_000 * 160
        table["last_pulse_index"] = table["first_pulse_index"] + 159
        table["azimuth"], table["zenith"] = rng.uniform(0, 6.28, len(number)), rng.uniform(0, 3.14, len(number))
        fastparquet.write(
            str(raw / "train_meta.parquet"), table, compression="SNAPPY", write_index=False, append=bool(first)
        )
    (raw / "train").mkdir()
    for batch in range(1, 2 + (rows - 1) // 200_000):
        (raw / "train" / f"batch_{batch}.parquet").write_bytes(b"only linked")
    (raw / "sensor_geometry.csv").write_text("sensor_id,x,y,z\n")


def tensorflow2(raw: Path, scale: float) -> None:
    """307,373 pages of 48,000 characters and 110 candidates on average: 17 GB."""
    rng = default_rng(0)
    count, text = round(307_373 * scale), prose(rng, 1_000_000)
    spans = [f'{{"start_token":{k},"top_level":true,"end_token":{k + 40}}}' for k in range(0, 40_000, 40)]
    with (raw / "simplified-nq-train.jsonl").open("w", buffering=1 << 20) as file:
        for number in range(count):
            at, length, candidates = (int(rng.integers(0, 900_000)), int(rng.gamma(2, 24_000)), int(rng.gamma(2, 55)))
            short = [{"start_token": 3, "end_token": 5}] if number % 3 == 0 else []
            answer = {
                "yes_no_answer": "NONE",
                "long_answer": {"start_token": 0, "candidate_index": 0, "end_token": 40},
                "short_answers": short,
                "annotation_id": 2**63 + number,
            }
            rest = {"question_text": f"who is {number}", "annotations": [answer], "document_url": "https://example.org"}
            page = f'"document_text":{json.dumps(text[at : at + length])},"long_answer_candidates"'
            end = json.dumps({**rest, "example_id": number - 9})[1:]
            file.write(f"{{{page}:[{','.join(spans[:candidates])}],{end}\n")
    for name in ("simplified-nq-kaggle-test.jsonl", "sample_submission.csv"):
        (raw / name).write_text("")


def synthetic(name: str, size: float, raw: Path, scale: float) -> None:
    """The package's own."""
    mlecore.competition(name).make_raw(raw, size=size * scale)


def hexes(rng: Generator, count: int, digits: int) -> list[str]:
    """Different ids, in no order; the first digit is a letter, so that none reads as a number."""
    text = rng.bytes(count * (digits // 2 + 1)).hex()
    step = 2 * (digits // 2 + 1)
    return list(dict.fromkeys("a" + text[k : k + digits - 1] for k in range(0, step * count, step)))


def prose(rng: Generator, length: int) -> str:
    """Words, tags, quotes and line breaks."""
    words = [*(f"word{k}" for k in range(2000)), "<p>", "</p>\n", '"', "<code>x = 1;</code>\n", "naïve,"]
    return " ".join(words[k] for k in rng.integers(0, len(words), length // 5))[:length]


REAL: dict[str, tuple[str, Callable[[Path, float], None]]] = {
    "AI4Code": ("139,256 notebooks", ai4code),
    "billion-word-imputation": ("30 M sentences", partial(synthetic, "billion-word-imputation", 1515)),
    "cdiscount-image-classification-challenge": ("7.1 M products", cdiscount),
    "facebook-recruiting-iii-keyword-extraction": ("6.0 M texts", facebook),
    "h-and-m-personalized-fashion-recommendations": ("31.8 M rows", h_and_m),
    "icecube-neutrinos-in-deep-ice": ("132 M events", icecube),
    "jigsaw-unintended-bias-in-toxicity-classification": (
        "2 x 1.8 M rows",
        partial(synthetic, "jigsaw-unintended-bias-in-toxicity-classification", 902.5),
    ),
    "statoil-iceberg-classifier-challenge": ("10,028 images", statoil),
    "tensorflow2-question-answering": ("307,373 pages", tensorflow2),
    "ventilator-pressure-prediction": ("6.0 M rows", partial(synthetic, "ventilator-pressure-prediction", 2515)),
}


def best(name: str, folder: Path) -> None:
    """The best submission, as the kit makes it."""
    from mlecore_testing.competitions.harness import Harness

    from mlecore import competition

    (folder / "submission.csv").write_bytes(Harness(competition(name), folder).perfect)


def alone(step: Callable[..., None], *arguments: object) -> None:
    """In a process of its own: a measured child's peak begins with its parent's size."""
    with ProcessPoolExecutor(max_workers=1) as pool:
        pool.submit(step, *arguments).result()


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("competitions", nargs="*", metavar="ID", choices=[[], *REAL])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, help="for the data, on another disk")
    args = parser.parse_args()
    if args.folder:
        tempfile.tempdir = str(args.folder)
    print(f"{'':50} {'':20} {'raw':>7} {'prepare':>24} {'grade':>24}")
    print(f"{'':50} {'of':20} {'GB':>7}" + f" {'s':>7} {'CPU s':>7} {'peak MB':>8}" * 2)
    for name in args.competitions or REAL:
        what, write = REAL[name]
        with scratch() as folder:
            raw = fresh(folder / "raw")
            alone(write, raw, args.scale)
            gb = sum(path.stat().st_size for path in files(raw)) / 1e9
            public, private = folder / "prepared" / "public", folder / "prepared" / "private"
            prepared = run(python(HOOK, name, raw, public, private))
            alone(best, name, folder)
            graded = run(python(GRADE, name, folder / "submission.csv", private))
        line = f"{name:50} {what:20} {gb:7.1f}"
        for step in (prepared, graded):
            line += f" {step.seconds:7.1f} {step.cpu:7.1f} {step.peak_mb:8.0f}{'!' * (step.peak_mb > LIMIT_MB)}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
