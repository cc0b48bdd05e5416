"""Herbarium 2021, edition v2: ids of images are numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def metadata(folder: Path, part: str) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads(
        (folder / f"{part}/metadata.json").read_text(encoding="utf-8")
    )
    return found


def test_ids_are_numbers(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    test, published = (metadata(one.public, "test") for one in (trial, trial_v1))
    assert [image["id"] for image in published["images"]] == [str(id) for id in answers["Id"]]
    assert [image["id"] for image in test["images"]] == answers["Id"].tolist()
    assert [{**image, "id": str(image["id"])} for image in test["images"]] == published["images"]
