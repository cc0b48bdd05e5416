"""Which program makes a node's sandboxes, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_backend_slurm.node import sandboxing

from mlecore.errors import BackendError
from mlecore.model.backends import Problem
from mlecore_sandboxes import apptainer, bubblewrap, environments, images

OFF = Problem(description="bwrap: no namespaces", fix="sysctl user.max_user_namespaces=10000")


@pytest.fixture
def image(tmp_path: Path) -> str:
    """What a finished image became."""
    ref = tmp_path / "envs" / "key"
    ref.mkdir(parents=True)
    environments.manifest(ref).write_text('{"image": "/shared/aide.sif"}')
    return str(ref)


def node(monkeypatch: pytest.MonkeyPatch, bwrap: Problem | None, other: Problem | None) -> None:
    monkeypatch.setattr(bubblewrap, "problem", lambda: bwrap)
    monkeypatch.setattr(apptainer, "problem", lambda: other)


def test_bubblewrap_comes_first_and_apptainer_where_it_does_not_work(
    monkeypatch: pytest.MonkeyPatch, image: str
) -> None:
    node(monkeypatch, None, None)
    assert sandboxing.chosen("sandbox") == "bubblewrap"
    assert sandboxing.chosen("sandbox", image) == sandboxing.chosen("apptainer") == "apptainer"
    node(monkeypatch, OFF, None)
    assert sandboxing.chosen("sandbox") == "apptainer"
    assert sandboxing.chosen("none") == "none"


def test_names_of_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("aide.sif", "aide.tar"):
        Path(name).touch()
    Path("folder").mkdir()
    assert images.source("aide.sif") == images.source("./aide.sif") == str(tmp_path / "aide.sif")
    assert images.source("./folder") == str(tmp_path / "folder")
    assert images.source("docker-archive:aide.tar") == f"docker-archive:{tmp_path}/aide.tar"
    assert images.source("docker-archive:aide.tar:aide:1") == f"docker-archive:{tmp_path}/aide.tar:aide:1"
    assert images.source("python:3.11") == "docker://python:3.11"
    assert images.source("folder") == "docker://folder"  # as Docker understands it
    assert images.source("oras://host/aide:1") == "oras://host/aide:1"
    for missing in ("missing.sif", "/missing", "docker-archive:missing.tar"):
        with pytest.raises(BackendError, match="there is no image"):
            images.source(missing)
