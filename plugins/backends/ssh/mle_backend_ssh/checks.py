"""What `mlecore doctor` checks and shows for each host."""

from __future__ import annotations

import time
from collections.abc import Sequence

from mle_backend_ssh.host import Host
from mlecore.errors import BackendError
from mlecore.model.backends import Problem, Resources
from mlecore.util.units import show_size

_CLOCK = 5.0  # seconds that a host's clock may differ
_LEAST_FREE = 10 * 2**30  # bytes on a host's disk


def problems(host: Host, requested: Sequence[Resources]) -> list[Problem]:
    """What is wrong with a host. That it cannot be reached is a problem, too, and no error."""
    try:
        before = time.time()
        seen = host.call("survey")
        took = time.time() - before
        found: list[Problem] = host.call("preflight", tuple(requested))
    except BackendError as error:
        return [Problem(description=_without_name(host, error), fix=error.fix or "Is it up?")]
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


def inventory(host: Host) -> str:
    """A line on what a host has, or why it cannot be asked."""
    try:
        seen = host.call("survey")
    except BackendError as error:
        return f"{host.name}: {_without_name(host, error)}"
    parts = (
        seen["system"],
        f"Python {seen['python']}",
        seen["bubblewrap"] or "no bubblewrap",
        f"{show_size(seen['free'])} free in {seen['state']}",
        f"GPUs {', '.join(seen['gpus'])}" if seen["gpus"] else "no GPU",
    )
    return f"{host.name}: {'; '.join(parts)}"


def _without_name(host: Host, error: BackendError) -> str:
    """What is wrong with a host, for a line that begins with its name."""
    return error.message.removeprefix(host.name).lstrip(": ")
