"""Where an edition's thresholds do not hold, there are no medals, and the report says why."""

from __future__ import annotations

from pathlib import Path

import pytest

import mlecore
from mlecore.data.prepared import Prepared
from mlecore.model.data_kind import no_medals
from tests.grading.conftest import fetched


@pytest.mark.parametrize(("id", "meaning"), [("random-acts-of-pizza", "none"), ("champs-scalar-coupling", "near")])
def test_medals_of_an_edition(id: str, meaning: str, tmp_path: Path) -> None:
    competition = mlecore.competition(id, "v2")
    competition.make_raw(tmp_path / "raw", size=0.1)
    competition.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    competition.facts.md5.clear()  # type: ignore[attr-defined]  # as if these were Kaggle's own data
    data = fetched(Prepared(competition=id, edition="v2", root=tmp_path))
    perfect = competition.perfect(tmp_path / "private")[[*competition.format.columns, competition.format.id]]
    report = mlecore.grade(competition, perfect, data)
    assert (report.edition, report.comparability, report.data_kind) == ("v2", meaning, "published")
    assert (report.gold_threshold is None) == (meaning == "none")
    assert report.any_medal == (meaning == "near")
    assert report.beats_sample
    assert "differs too much" in no_medals("published", "none")
