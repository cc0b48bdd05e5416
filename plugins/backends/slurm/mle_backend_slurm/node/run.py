"""Run one job on this node: with backend vm's layout, sandbox and supervisor, in the process that Slurm watches."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from mle_backend_slurm.entries import Entry, read_request
from mle_backend_slurm.node import sandboxing, staging
from mlecore.errors import BackendError
from mlecore.model.backends import Job
from mlecore_jobs.supervise.files import STATE, write_json
from mlecore_jobs.supervise.main import take
from mlecore_sandboxes import environments, folders, layout, packing

SANDBOX = "sandbox.json"  # in a job's folder: how this node describes its sandboxes
_GPUS = ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "CUDA_VISIBLE_DEVICES")  # the first has the ids of the node's devices


def run(root: Path, batch: str, index: int) -> None:
    """Run the batch's run of this index, unless it was begun before: by a job that was requeued, or submitted twice."""
    name = (root / "batches" / batch / "members").read_text().split()[index]
    entry = Entry(root, name)
    try:
        claimed = entry.claim(f"{os.environ.get('SLURM_ARRAY_JOB_ID')}_{index} on {node_name()}")
    except FileNotFoundError:
        print(f"{name} was removed before it began")
        return
    if not claimed:
        print(f"{name} was begun or cancelled before: it does not run twice")
        return
    try:
        job, gateway, given = read_request(entry)
        about = entry.about()
        with staging.data(job, about["scratch"]) as data:
            with _variables(given.pop("key")):
                _lay_out(entry, evolve(job, data=str(data)), about["isolation"], gateway)
            if (grace := entry.stop_requested()) is not None:
                entry.request_stop(float(grace or "0"))
            take(str(entry.job), str(root / "claims" / node_name()), given, lambda: None)
    except (BackendError, OSError) as error:
        words = f"{error.message} {error.fix or ''}".strip() if isinstance(error, BackendError) else str(error)
        entry.end_without_supervisor(f"{node_name()}: {words}", infra_failure=True)
        raise
    finally:
        if not (entry.job / STATE).exists() and entry.exists and not (entry.folder / STATE).exists():
            entry.end_without_supervisor(f"{node_name()}: its job was ended before it began", infra_failure=True)


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """In this process only, and no longer than needed."""
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            os.environ.pop(name, None)


def _lay_out(entry: Entry, job: Job, wanted: str, gateway: list[str]) -> None:
    isolation = sandboxing.chosen(wanted, job.image.ref)
    folders.make_private(entry.root / "claims")
    with environments.kept(job.image.ref), folders.new(entry.root, entry.name) as fresh:
        layout.lay_out(fresh, entry.job, job, entry.root, gpus(job.resources.gpus), isolation, gateway)
        sandbox = sandboxing.described(isolation)
        described = evolve(sandbox, details={**sandbox.details, "node": node_name()})
        write_json(str(fresh / SANDBOX), packing.pack(described))
        fresh.rename(entry.job)


def gpus(count: int) -> list[str]:
    """The ids of the GPUs that Slurm gave to this job."""
    if not count:
        return []
    given = next((os.environ[name] for name in _GPUS if os.environ.get(name)), "")
    ids = [id for id in given.split(",") if id]
    if len(ids) < count:
        raise BackendError(f"{count} GPUs were requested, and Slurm gave {given or 'none'}")
    return ids[:count]


def node_name() -> str:
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()
