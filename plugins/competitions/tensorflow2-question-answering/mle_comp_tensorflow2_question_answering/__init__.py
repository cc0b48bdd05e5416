"""TensorFlow 2.0 Question Answering: long and short answers to search questions in Wikipedia pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError, GradingError, InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, in_file_order, split_positions

if TYPE_CHECKING:
    from pandas import DataFrame

CHUNK = 1000  # lines; each is split by itself, as published
SHOWN = ("example_id", "question_text", "document_text", "long_answer_candidates")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    with (
        (public / "simplified-nq-train.jsonl").open("xb") as train,
        (public / "simplified-nq-test.jsonl").open("xb") as shown,
        (private / "test.jsonl").open("xb") as test,
        (private / "gold_submission.csv").open("x", encoding="utf-8", newline="") as gold,
        (public / "sample_submission.csv").open("x", encoding="utf-8", newline="") as sample,
    ):
        for table in (gold, sample):
            table.write("example_id,PredictionString\n")
        for records in _chunks(raw / "simplified-nq-train.jsonl"):
            for_train, for_test = split_positions(len(records), test_size=0.1)
            train.writelines(_line(records[position]) for position in for_train)
            for position in for_test:
                record = records[position]
                found = len(record["annotations"])
                ensure(found == 1, f"question {record['example_id']} has {found} annotations, expected one")
                test.write(_line(record))
                shown.write(_line({key: record[key] for key in SHOWN}))
                for kind, answer in _gold(record["annotations"][0]).items():
                    gold.write(f"{record['example_id']}_{kind},{answer}\n")
                    sample.write(f"{record['example_id']}_{kind},\n")


def _chunks(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Records by the thousand, ids as text, keys in the order of the chunk's first record."""
    try:
        with path.open("rb") as file:
            while lines := list(islice(file, CHUNK)):
                records = [json.loads(line) for line in lines]
                keys = list(records[0])
                if lacking := {*SHOWN, "annotations"} - set(keys):
                    raise DataError(f"{path}: questions lack {', '.join(sorted(lacking))}")
                yield [
                    {key: record[key] for key in keys} | {"example_id": str(record["example_id"])} for record in records
                ]
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (ValueError, KeyError) as error:
        raise DataError(f"{path} is damaged: {error}") from None


def _line(record: dict[str, Any]) -> bytes:
    """A record as pandas' ``to_json(orient="records", lines=True)`` writes it."""
    text = json.dumps(record, separators=(",", ":")).replace("/", "\\/")
    if "\\u007f" in text:  # which pandas leaves as it is; but not where the backslash is itself escaped
        text = re.sub(r"(?<!\\)((?:\\\\)*)\\u007f", "\\1\x7f", text)
    return text.encode("ascii") + b"\n"


def _gold(annotation: dict[str, Any]) -> dict[str, str]:
    """The answers as they are handed in: short, then long."""
    short, long = annotation["short_answers"], annotation["long_answer"]
    first = f"{short[0]['start_token']}:{short[0]['end_token']}" if short else ""
    return {
        "short": annotation["yes_no_answer"] if annotation["yes_no_answer"] != "NONE" else first,
        "long": "" if long["start_token"] == -1 else f"{long['start_token']}:{long['end_token']}",
    }


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, guess = format.read(submission, right_answers(private / "test.jsonl"))
    # blank where nothing is to be found counts as right, as published
    return sum(map(is_right, truth["right"], _predictions(guess))) / len(truth)


def is_right(right: str, said: str) -> bool:
    """Is it one of the right predictions, or blank where there is none?"""
    return said == right or (" " in right and said in right.split(" "))


def right_answers(path: Path) -> DataFrame:
    """Row id, and all predictions that are right, as ``_predictions`` writes them, separated by blanks.

    One document at a time is in memory.
    """
    import pandas as pd

    from mle_comp_tensorflow2_question_answering.answers import read_answer

    right = {}
    try:
        with path.open("rb") as file:
            for answer in map(read_answer, file):
                annotation, id = answer.annotations[0], answer.example_id
                long, said = annotation.long_answer, annotation.yes_no_answer
                right[f"{id}_long"] = "" if long.start_token == -1 else f"{long.start_token}:{long.end_token}"
                short = [f"{span.start_token}:{span.end_token}" for span in annotation.short_answers]
                right[f"{id}_short"] = " ".join(short if said == "NONE" else [*short, said])
    except (OSError, ValueError, KeyError) as error:
        raise GradingError(f"the answers cannot be read: {error}", fix="Prepare the competition again.") from None
    return pd.DataFrame({"example_id": list(right), "right": list(right.values())})


def _predictions(frame: DataFrame) -> list[str]:
    """For each row a span such as ``3:5``, "YES", "NO" or "". Raises InvalidSubmission for any other form."""
    column = frame["PredictionString"]
    # missing cells become empty text; a column that pandas reads as numbers counts by its printed numbers
    texts = list(map(str, column.astype(object).where(column.notna(), "")))
    for place in in_file_order(frame, range(len(texts))):
        try:
            texts[place] = _prediction(texts[place].strip())
        except ValueError:
            raise InvalidSubmission(
                f"PredictionString of {frame['example_id'].iloc[place]}: expected start:end, YES, NO or nothing; "
                f"found {texts[place][:60]!r}"
            ) from None
    return texts


def _prediction(text: str) -> str:
    if text in ("", "YES", "NO"):
        return text
    start, end = text.split(":", 2)  # more are as wrong as three
    return f"{int(start)}:{int(end)}"


@hookimpl
def examine(predictions: DataFrame) -> None:
    _predictions(predictions)
