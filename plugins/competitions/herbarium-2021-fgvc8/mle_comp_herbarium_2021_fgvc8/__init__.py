"""Herbarium 2021: which of 65,000 species of plants is on a herbarium sheet?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, macro_f1, read_json, split_folder, write_csv

KEYS = ["annotations", "categories", "images", "info", "institutions", "licenses"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    source = raw / "train"
    metadata = read_json(source / "metadata.json")
    write(metadata, source, public, private, id_type=str)


def write(
    metadata: Mapping[str, Any], source: Path, public: Path, private: Path, *, id_type: type[str] | type[int]
) -> None:
    """Both parts, answers and sample submission; ids of test images in their metadata are of ``id_type``."""
    import pandas as pd

    ensure(sorted(metadata) == KEYS, f"metadata.json has the keys {', '.join(metadata)}; expected {', '.join(KEYS)}")
    species = split_folder(metadata, source, public, test_size=0.2, few=5, id_type=id_type)
    answers = pd.DataFrame({"Id": range(len(species)), "Predicted": species})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(Predicted=0), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return macro_f1(truth["Predicted"], predictions["Predicted"])
