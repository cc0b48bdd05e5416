"""Public data: a claim that the lab has made, and one of ours that is loaded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from mle_backend_kubernetes import exec, manifests, names

from mlecore.errors import DataError

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes")]

FILL = """
import os
os.makedirs("/claim/toy/prepared/public")
open("/claim/toy/prepared/public/train.csv", "w").write("id,target\\n1,0\\n")
"""


@pytest.fixture
def filled(lab: Lab) -> Iterator[str]:
    """A claim with the data of the competition ``toy``, made as a lab would."""
    settings, path, watched = lab.backend.settings, lab.cluster.path, lab.backend.cache.pods
    claim = manifests.claim_object("lab-data", 1 << 20, {}, settings, "ReadWriteMany")
    lab.cluster.create(path("persistentvolumeclaims"), claim)
    mounts = [{"name": "claim", "mountPath": "/claim"}]
    container = manifests.helper_container("fill", lab.backend.images.helper(), ["python3", "-c", FILL], mounts)
    volumes = [{"name": "claim", "persistentVolumeClaim": {"claimName": "lab-data"}}]
    labels = {names.ROLE: "loader"}
    lab.cluster.create(path("pods"), manifests.helper_pod(settings, "fill", labels, container, volumes, 120))
    try:
        assert watched.until(lambda: (pod := watched.find("fill")) is not None and pod.finished, 120)
        yield "lab-data"
    finally:
        lab.cluster.delete(path("pods", "fill"))
        lab.cluster.delete(path("persistentvolumeclaims", "lab-data"))


def test_a_claim_of_the_lab_s_own_is_mounted_read_only_and_must_hold_all_files(
    make_lab: Callable[..., Lab], filled: str
) -> None:
    lab = make_lab(**{"data-claim": filled})
    handle = lab.start("cat data/train.csv; touch data/x 2>/dev/null || echo cannot write")
    lab.wait(handle)
    assert lab.output(handle) == b"id,target\n1,0\ncannot write\n"
    (lab.dataset.public / "test.csv").write_text("id\n2\n")
    with pytest.raises(DataError, match=r"lacks 1 of 2 files of toy.*test\.csv"):
        lab.backend.stage_data(lab.dataset, lambda done, total, what: None)


def test_data_are_loaded_once_and_other_data_have_another_claim(lab: Lab, make_lab: Callable[..., Lab]) -> None:
    said: list[str] = []
    first = lab.backend.stage_data(lab.dataset, lambda done, total, what: said.append(what))
    again = make_lab()
    repeated: list[str] = []
    assert again.backend.stage_data(again.dataset, lambda done, total, what: repeated.append(what)) == first
    assert not any("uploading" in what for what in repeated)
    assert names.data(lab.dataset) in first and said


def test_an_upload_survives_another_controller_that_ends_its_own_first_and_removes_their_pod(
    lab: Lab, make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec, "IDLE", 20.0)  # sometimes the kubelet forgets to close what a removed pod ran
    other, dataset = make_lab(), evolve(lab.dataset, digest="uploaded by two")
    ended: list[str] = []

    def end_the_other(done: int, total: int, what: str) -> None:
        if "uploading" in what and not ended:
            ended.append(other.backend.stage_data(dataset, lambda done, total, what: None))

    assert [lab.backend.stage_data(dataset, end_the_other)] == ended
