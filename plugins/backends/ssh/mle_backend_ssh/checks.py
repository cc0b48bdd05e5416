"""What `mlecore doctor` checks on each host, and what it shows of it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from mle_backend_ssh.members import Member
from mlecore.backends import Problem, Resources
from mlecore.errors import BackendError
from mlecore.units import show_size

_CLOCK = 5.0  # seconds that a host's clock may differ
_LEAST_FREE = 10 * 2**30  # bytes on a host's disk


def problems(member: Member, requested: Sequence[Resources]) -> list[Problem]:
    """What is wrong with a host. That it cannot be reached is a problem, too, and no error."""
    try:
        before = time.time()
        seen = member.call(lambda host: host.survey())
        took = time.time() - before
        found = member.call(lambda host: host.preflight(requested))
    except BackendError as error:
        return [Problem(description=_without_name(member, error), fix=error.fix or "Is it up?")]
    ahead = seen["clock"] - before - took / 2
    if abs(ahead) > _CLOCK + took / 2:
        what = f"its clock is {abs(ahead):.0f} s {'ahead' if ahead > 0 else 'behind'}"
        found.append(Problem(description=what, fix="Keep it with NTP (timedatectl set-ntp true).", fatal=False))
    if seen["free"] < _LEAST_FREE:
        what = f"only {show_size(seen['free'])} are free in {seen['state']}"
        found.append(Problem(description=what, fix="Free some, or set state to another disk.", fatal=False))
    if seen["ends_at_logout"]:
        what = "systemd ends all of your processes when the connection breaks (KillUserProcesses=yes), jobs too"
        fix = "Have KillUserProcesses=no set in its /etc/systemd/logind.conf, or your name in KillExcludeUsers."
        found.append(Problem(description=what, fix=fix, fatal=False))
    return found


def inventory(member: Member) -> str:
    """A line on what a host has, or why it cannot be asked."""
    try:
        seen = member.call(lambda host: host.survey())
    except BackendError as error:
        return f"{member.name}: {_without_name(member, error)}"
    parts = (
        seen["system"],
        f"Python {seen['python']}",
        seen["bubblewrap"] or "no bubblewrap",
        f"{show_size(seen['free'])} free in {seen['state']}",
        f"GPUs {', '.join(seen['gpus'])}" if seen["gpus"] else "no GPU",
    )
    return f"{member.name}: {'; '.join(parts)}"


def _without_name(member: Member, error: BackendError) -> str:
    """What is wrong with a host, for a line that begins with its name."""
    return error.message.removeprefix(member.name).lstrip(": ")
