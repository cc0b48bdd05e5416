"""The job description: the backend writes it to the job's folder, the supervisor and whoever cleans up read it."""

from __future__ import annotations

from typing import NamedTuple

from .files import SPEC, read_json, write_json


class JobSpec(NamedTuple):
    """What to run, within which limits. Sizes are in bytes, times in seconds. A NamedTuple, as it imports little."""

    name: str
    run: str  # as people know it
    group: str
    image: str  # the folder of its environment; "": none
    boot: str  # the machine's boot id when it was laid out
    # the command
    argv: list[str]  # init and what it starts
    env: dict[str, str]
    terminal: bool
    home: str  # as the job sees it
    home_folder: str  # the same on this machine
    tmp_folder: str
    # the sandbox; empty without one
    sandbox: list[str]  # the program that makes it and its options
    sandbox_last: list[str]  # options that must come after the GPUs' devices
    prelude: list[str]  # of bubblewrap: what drops privileges and sets limits, inside
    door: str  # of Apptainer: the folder for the socket at which its first program asks what to do
    keeps_env: bool  # the variables of its image, besides ``env``
    # limits; None: no limit
    time_limit: float
    grace: float
    cpus: float | None
    memory: int | None
    processes: int
    disk: int  # in all files, and in any one
    max_files: int  # 0: no limit
    free_disk: int  # on its disk when it was laid out
    cgroup_parent: str | None  # the group below which it gets its own; None: limits are watched
    # GPUs
    gpus: int
    gpu_ids: list[str]  # that may be claimed
    gpu_models: dict[str, str]
    gpu_options: dict[str, list[str]]  # of the program, which show a GPU
    # the network
    network: str
    needs_network: bool  # the supervisor connects the sandbox before the job begins
    allow: list[str]  # hosts that the relay allows
    relay: str  # its script
    gateway: list[str]  # its command line; empty: none

    @property
    def written(self) -> list[str]:
        """The folders whose content counts as its disk space."""
        return [self.home_folder, self.tmp_folder]

    @property
    def sandboxed(self) -> bool:
        return bool(self.sandbox)


def write_spec(folder: str, spec: JobSpec) -> None:
    """Write it to a job's folder, where it survives a power loss."""
    write_json(f"{folder}/{SPEC}", spec._asdict(), durable=True)


def read_spec(folder: str) -> JobSpec | None:
    """The description in a job's folder; None if it is missing, or incomplete after a crash of the machine."""
    value = read_json(f"{folder}/{SPEC}")
    try:
        return None if value is None else JobSpec(**value)
    except TypeError:
        return None
