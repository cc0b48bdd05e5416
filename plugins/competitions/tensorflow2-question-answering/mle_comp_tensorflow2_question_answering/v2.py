"""Edition v2: split by page and question, Kaggle's F1, and answers without the documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mle_comp_tensorflow2_question_answering as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, refuse, split_whole_groups

if TYPE_CHECKING:
    from pandas import DataFrame

_TITLE = re.compile(r"[?&]title=([^&]*)")
_SPAN = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    path = raw / "simplified-nq-train.jsonl"
    _, chosen = split_whole_groups(_groups(path), test_size=0.1)
    in_test = set(chosen)
    with (
        (public / "simplified-nq-train.jsonl").open("xb") as train,
        (public / "simplified-nq-test.jsonl").open("xb") as shown,
        (private / "test.jsonl").open("xb") as test,
        (public / "sample_submission.csv").open("x", encoding="utf-8", newline="") as sample,
    ):
        sample.write("example_id,PredictionString\n")
        for number, record in enumerate(_records(path)):
            if number not in in_test:
                train.write(v1._line(record))
                continue
            found = len(record["annotations"])
            ensure(found == 1, f"question {record['example_id']} has {found} annotations, expected one")
            test.write(v1._line({key: record[key] for key in ("example_id", "annotations")}))
            shown.write(v1._line({key: record[key] for key in v1.SHOWN}))
            sample.writelines(f"{record['example_id']}_{kind},\n" for kind in ("long", "short"))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for chunk in v1._chunks(path):
        yield from chunk


def _groups(path: Path) -> Sequence[int]:
    """The group of each record: those of one page, or with one question, are in one, and so on from these."""
    import numpy as np
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    told = [(_page(record), record["question_text"].strip().lower()) for record in _records(path)]
    ensure(told, f"{path} holds no questions")
    pages, questions = (pd.factorize(np.array(some, dtype=object))[0] for some in zip(*told, strict=True))
    size = len(pages)
    edges = coo_array((np.ones(size, dtype=bool), (pages, size + questions)), shape=(2 * size, 2 * size))
    groups: list[int] = connected_components(edges, directed=False)[1][pages].tolist()
    return groups


def _page(record: dict[str, Any]) -> str:
    """Its title, whatever the revision."""
    ensure("document_url" in record, f"question {record['example_id']} has no document_url")
    url: str = record["document_url"]
    found = _TITLE.search(url)
    return found[1] if found else url


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """F1 = 2TP / (2TP + FP + FN) over all rows: a wrong prediction is an FP, a blank where there is an answer an FN."""
    truth, predictions = format.read(submission, v1.right_answers(private / "test.jsonl"))
    hits = size = 0
    for right, said in zip(truth["right"], _spans(predictions), strict=True):
        hits += said != "" and v1.is_right(right, said)
        size += right != "" or said != ""
    return 2 * hits / (size + hits) if hits else 0.0


def _spans(frame: DataFrame) -> list[str]:
    """What is predicted in each row. Raises InvalidSubmission for any other form."""
    import numpy as np

    rows = zip(frame["example_id"].tolist(), frame["PredictionString"].tolist(), strict=True)
    found = [_span(cell.strip(), short=row.endswith("_short")) for row, cell in rows]
    expected = "start:end with the start below the end, or nothing, or in short rows YES or NO"
    refuse(frame, "PredictionString", expected, np.array([span is None for span in found], dtype=bool))
    return [span for span in found if span is not None]


def _span(text: str, *, short: bool) -> str | None:
    if text == "" or (short and text in ("YES", "NO")):
        return text
    span = _SPAN.fullmatch(text)
    return f"{int(span[1])}:{int(span[2])}" if span and int(span[1]) < int(span[2]) else None


@hookimpl
def examine(predictions: DataFrame) -> None:
    _spans(predictions)


@hookimpl
def perfect(private: Path) -> DataFrame:
    answers = v1.right_answers(private / "test.jsonl")
    said = [min(right.split(" "), key=lambda text: text.replace(":", ",")) for right in answers["right"]]
    return answers[["example_id"]].assign(PredictionString=said)
