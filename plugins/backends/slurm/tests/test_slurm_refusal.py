"""A node whose users may create no namespaces: the run says so, and runs without a sandbox where that was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mle_backend_slurm import entries
from mle_backend_slurm.entries import Entry
from mle_backend_slurm.slurm_backend import SlurmBackend

from mlecore.model.backends import Dataset, JobStatus
from mlecore_testing.backends.harness import shell_job

# An ordinary user of a user namespace in which there can be no further one.
LOCKED = (
    *("unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps"),
    *("sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"),
    *("setpriv", "--ambient-caps=-all", "--inh-caps=-all"),
)


def on_locked_node(folder: Path, **about: str) -> JobStatus:
    """What becomes of a run whose job Slurm starts there."""
    if subprocess.run([*LOCKED, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here that could be forbidden")
    root = folder / "state"
    entry = Entry(root, "mle-a-1")
    public = folder / "public"
    public.mkdir()
    dataset = Dataset(competition="c", edition="v1", public=public, digest="d")
    job = shell_job("echo ran", name=entry.name, dataset=dataset, data=str(public))
    given = {"secrets": {}, "gateway": None, "key": {}}
    entries.write_entry(entry, job, {"options": [], "scratch": "", **about}, (), given)
    entry.assign("batch", 0)
    (root / "batches" / "batch").mkdir()
    (root / "batches" / "batch" / "members").write_text(f"{entry.name}\n")
    program = [sys.executable, "-P", "-m", "mle_backend_slurm.node", "run", str(root), "batch"]
    env = {**os.environ, "SLURM_ARRAY_TASK_ID": "0", "SLURMD_NODENAME": "box7"}
    subprocess.run([*LOCKED, *program], env=env, capture_output=True, timeout=300, check=False)
    return SlurmBackend({"state": str(root)}).status([entry.handle])[entry.handle]


@pytest.mark.sandbox
def test_a_run_says_what_is_forbidden_and_what_to_do(tmp_path: Path) -> None:
    status = on_locked_node(tmp_path, isolation="sandbox")
    assert status.phase == "exited" and status.infra_failure
    assert status.reason.startswith("box7: no sandboxes here: bubblewrap does not work here: bwrap: ")
    assert "sysctl user.max_user_namespaces" in status.reason and "-B isolation=none" in status.reason


def test_without_isolation_it_runs_and_says_so(tmp_path: Path) -> None:
    status = on_locked_node(tmp_path, isolation="none")
    assert (status.phase, status.exit_code) == ("exited", 0), status
    assert status.sandbox is not None and status.sandbox.isolation is None
    assert status.sandbox.network.level == "absent"
