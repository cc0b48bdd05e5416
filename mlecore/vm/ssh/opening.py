"""From the options of backend vm to a pool of hosts."""

from __future__ import annotations

from collections.abc import Mapping

from mlecore.errors import UsageError
from mlecore.vm.ssh.asyncssh_link import SshLink, missing
from mlecore.vm.ssh.host import Host
from mlecore.vm.ssh.hosts import HostSettings, read_hosts
from mlecore.vm.ssh.pool import Pool


def open_pool(options: Mapping[str, str]) -> Pool:
    """Contacts no host. Raises UsageError."""
    if missing():
        raise UsageError("hosts are reached by asyncssh, which is not installed", fix="pip install 'mlecore[ssh]'")
    gpus = tuple(dict.fromkeys(part.strip() for part in options.get("gpus", "").split(",") if part.strip()))
    isolation = options.get("isolation", "bubblewrap")

    def connect(settings: HostSettings) -> Host:
        own = {"isolation": isolation, "gpus": ",".join(settings.gpus)}
        environment = {"MLECORE_VM_STATE": settings.state} if settings.state else {}
        return Host(SshLink(settings.address), settings.python, own, environment)

    return Pool(read_hosts(options["host"], gpus), connect, isolated=isolation == "bubblewrap")
