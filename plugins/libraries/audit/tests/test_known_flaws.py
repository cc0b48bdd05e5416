"""The audit names each known flaw of published data in the synthetic data of its competition, and nothing worse."""

from __future__ import annotations

from pathlib import Path

import pytest

import mlecore
from mlecore.data.file_order import replace_links
from mlecore.data.prepared import Prepared
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject

pytestmark = pytest.mark.slow

KNOWN = {  # competition -> check and kind that name its flaw, and a word of the evidence
    "bms-molecular-translation": ("answers", "values", "InChI"),
    "cassava-leaf-disease-classification": ("answers", "values", "target"),
    "denoising-dirty-documents": ("answers", "pixels", "pixels"),
    "facebook-recruiting-iii-keyword-extraction": ("twins", "twins", "same values"),
    "google-quest-challenge": ("twins", "twins", "question_body"),
    "hubmap-kidney-segmentation": ("answers", "outlines", "masks"),
    "movie-review-sentiment-analysis-kernels-only": ("groups", "groups", "'SentenceId'"),
    "multi-modal-gesture-recognition": ("answers", "values", "Labels"),
    "random-acts-of-pizza": ("answers", "values", "giver_username_if_known"),
    "seti-breakthrough-listen": ("twins", "twins", "old_leaky_data"),
    "smartphone-decimeter-2022": ("answers", "values", "of the answers"),
    "spaceship-titanic": ("groups", "groups", "part 1 of ids"),
}


@pytest.mark.parametrize("id", KNOWN)
def test_a_known_flaw_is_named(id: str, tmp_path: Path) -> None:
    competition, (check, kind, word) = mlecore.competition(id), KNOWN[id]
    competition.make_raw(tmp_path / "raw")
    competition.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    replace_links(tmp_path / "public")
    subject = Subject(competition, Prepared(competition=id, synthetic=True, root=tmp_path))
    found = list(findings(subject, check))
    named = [finding for finding in found if finding.kind == kind and word in finding.evidence]
    assert named, found
    assert all(finding in named for finding in found if finding.level in ("answer", "leak")), found
