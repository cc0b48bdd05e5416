"""Public data: in place on a shared file system, copied to it, or to the node's own disk, with hashes compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from mle_backend_slurm import sharing
from mle_backend_slurm.node import staging

from mlecore.data import manifest
from mlecore.errors import BackendError
from mlecore.model.backends import Dataset, Job
from mlecore_testing.backends.harness import shell_job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """With prepared data that have a manifest, and answers beside them."""
    root = tmp_path / "prepared"
    (root / "public" / "deeper").mkdir(parents=True)
    (root / "private").mkdir()
    (root / "public" / "train.csv").write_text("id,y\n1,2\n")
    (root / "public" / "deeper" / "picture.bin").write_bytes(bytes(range(256)) * 64)
    (root / "private" / "answers.csv").write_text("id,y\n2,planted-answer-4711\n")
    head = {
        "competition": "c",
        "edition": "v1",
        "plugin_version": "1",
        "source": "raw",
        "verified": True,
        "created_at": "",
    }
    manifest.write(root, manifest.entries(root), **head)
    dataset = Dataset(competition="c", edition="v1", public=root / "public", digest="d")
    return shell_job(dataset=dataset, data=str(root / "public"))


def test_data_are_copied_and_the_copy_goes_with_the_job(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_DISK", str(tmp_path / "disk"))
    (tmp_path / "disk").mkdir()
    with staging.data(job, "$NODE_DISK") as copy:
        assert copy != Path(job.data)
        assert (copy / "deeper" / "picture.bin").read_bytes() == bytes(range(256)) * 64
        assert not any("answers" in name for _, _, names in os.walk(tmp_path / "disk") for name in names)
    assert list((tmp_path / "disk").iterdir()) == []


def test_damaged_data_are_noticed(job: Job, tmp_path: Path) -> None:
    (Path(job.data) / "train.csv").write_text("id,y\n1,3\n")
    with pytest.raises(BackendError, match=r"train\.csv"), staging.data(job, str(tmp_path)):
        pass
    assert not list(tmp_path.glob("mlecore-data-*"))


def test_links_in_public_data_are_rejected(job: Job, tmp_path: Path) -> None:
    (Path(job.data) / "answers.csv").symlink_to("../private/answers.csv")
    with pytest.raises(BackendError, match="neither"), staging.data(job, str(tmp_path)):
        pass


def test_what_a_killed_job_left_is_removed_by_the_next_one(job: Job, tmp_path: Path) -> None:
    left = tmp_path / "mlecore-data-mle-dead-1"
    left.mkdir()
    with staging.data(job, str(tmp_path)) as first:
        assert not left.exists()
        with staging.data(evolve(job, name="mle-other-1"), str(tmp_path)):
            assert first.exists()


def test_data_on_another_disk_are_copied_to_the_shared_one(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    assert sharing.shared_data(job.dataset, state, lambda *_: None) == Path(job.data)
    monkeypatch.setattr(sharing, "on_same_disk", lambda one, other: False)
    copy = sharing.shared_data(job.dataset, state, lambda *_: None)
    assert copy.is_relative_to(state) and (copy / "train.csv").read_text() == "id,y\n1,2\n"
    assert sharing.shared_data(job.dataset, state, lambda *_: None) == copy
    assert "planted" not in "".join(path.read_text(errors="ignore") for path in state.rglob("*") if path.is_file())
    with staging.data(evolve(job, data=str(copy)), str(tmp_path)) as staged:  # its manifest was copied, too
        assert (staged / "train.csv").is_file()
    monkeypatch.setattr(sharing, "file_system", lambda path: "lustre")
    assert sharing.shared_data(job.dataset, state, lambda *_: None) == Path(job.data)
