"""Which host a job goes to: the one with most room, noted on the controller's disk so that no two hosts get it.

A job whose host has not answered for long is given up: it counts as lost, and is removed when its host answers again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from mle_backend_ssh.background import run_in_background
from mle_backend_ssh.host import Host
from mlecore.model.backends import Resources
from mlecore_sandboxes import folders

_SLOW = 3.0  # seconds that slower hosts have to answer how much room they have


class Placements:
    """Files below ``root``, shared by all controllers that use it."""

    def __init__(self, root: Path) -> None:
        self._placed = root / "ssh" / "placed"
        self._given_up = root / "ssh" / "given-up"

    def host_of(self, job: str) -> str | None:
        """The address of the host that a job was given to."""
        try:
            return (self._placed / _name(job)).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def place(self, job: str, host: str) -> str:
        """Give a job to a host, unless another process was first; returns whose it is."""
        folders.make_private(self._placed)
        target = self._placed / _name(job)
        fresh = target.with_name(f".{uuid4().hex}")
        fresh.write_text(host, encoding="utf-8")
        try:
            target.hardlink_to(fresh)  # all of it at once, and only if there is none
        except FileExistsError:
            return self.host_of(job) or host
        finally:
            fresh.unlink()
        return host

    def forget(self, job: str) -> None:
        """A job that is on no host."""
        (self._placed / _name(job)).unlink(missing_ok=True)

    def give_up(self, job: str, host: str, *, handle: str | None = None, group: str | None = None) -> None:
        """``handle`` is its id there. If it is not known whether it was started, ``group`` helps to find it."""
        folders.make_private(self._given_up)
        target = self._given_up / f"{_name(job)}@{_name(host)}"
        fresh = target.with_name(f".{uuid4().hex}")
        fresh.write_text(json.dumps({"job": job, "handle": handle, "group": group}), encoding="utf-8")
        fresh.replace(target)
        self.forget(job)

    def is_given_up(self, job: str, host: str) -> bool:
        return (self._given_up / f"{_name(job)}@{_name(host)}").exists()

    def given_up(self, host: str) -> Iterator[tuple[str, str | None, str | None]]:
        """Jobs that are to be removed from a host, each with its handle there or its group."""
        for path in sorted(self._given_up.glob(f"[!.]*@{_name(host)}")):
            with contextlib.suppress(FileNotFoundError, ValueError):
                note = json.loads(path.read_text(encoding="utf-8"))
                yield note["job"], note["handle"], note["group"]

    def mark_removed(self, job: str, host: str) -> None:
        """A job that was given up is no longer on its host."""
        (self._given_up / f"{_name(job)}@{_name(host)}").unlink(missing_ok=True)


def _name(text: str) -> str:
    return quote(text, safe="").replace("*", "%2A")


def loads(hosts: Collection[Host]) -> dict[Host, dict[str, float]]:
    """What jobs use now on the hosts that answer. A silent host is not waited for once another has answered."""
    asked = {run_in_background(f"ask {host.name}", host.load): host for host in hosts}
    left = wait(asked, return_when=FIRST_COMPLETED).not_done
    while left and all(each.exception() for each in asked if each.done()):
        left = wait(left, return_when=FIRST_COMPLETED).not_done
    wait(left, timeout=_SLOW)
    return {host: each.result() for each, host in asked.items() if each.done() and not each.exception()}


def room(
    host: Host, load: Mapping[str, float], resources: Resources, starting: Sequence[Resources] = ()
) -> float | None:
    """Which part of a host is free for a job that needs ``resources``, from 0 to 1; None: it has no room for it now.

    ``load`` is what ``host.load()`` returned; ``starting`` are the needs of jobs about to be started there.
    """
    have, slots = host.capacity(), host.settings.slots
    jobs = int(load["jobs"]) + len(starting)
    rest = [
        (have.cpus, load["cpus"] + sum(each.cpus or 0 for each in starting), resources.cpus or 0),
        (have.memory, load["memory"] + sum(each.memory or 0 for each in starting), resources.memory or 0),
        (len(have.gpus), load["gpus"] + sum(each.gpus for each in starting), resources.gpus),
        *([(slots, jobs, 1)] if slots is not None else []),
    ]
    if any(taken + asked > there for there, taken, asked in rest if asked):
        return None
    shares = [taken / there for there, taken, _ in rest if there]
    return 1 - min(1.0, max([*shares, jobs / (jobs + 16)]))  # jobs without limits are spread, too
