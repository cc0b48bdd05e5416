"""Random Acts of Pizza: was a request for a free pizza granted?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ZipWriter, ensure, read_json, roc_auc, split, write_csv, write_json

TARGET = "requester_received_pizza"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    requests, kaggles_test = read_json(raw / "train.json"), read_json(raw / "test.json")
    ensure(all(item.keys() == requests[0].keys() for item in requests), "requests of train.json differ in their keys")
    train, test = split(requests, test_size=len(kaggles_test) / (len(requests) + len(kaggles_test)))
    fields = list(kaggles_test[0])  # what was known when the request was posted, in this order
    lacking = [field for field in fields if field not in requests[0]]
    ensure(not lacking, f"requests of train.json lack {', '.join(lacking)}, which those of test.json have")
    reduced = [{field: item[field] for field in fields} for item in test]
    for name, items in (("train", train), ("test", reduced)):
        write_json(items, public / f"{name}.json", indent=4)
        with ZipWriter(public / f"{name}.zip") as archive:
            archive.add_file(f"{name}.json", public / f"{name}.json")
    answers = pd.DataFrame({"request_id": [t["request_id"] for t in test], TARGET: [int(t[TARGET]) for t in test]})
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(**{TARGET: 0}), public / "sampleSubmission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth[TARGET], predictions[TARGET])
