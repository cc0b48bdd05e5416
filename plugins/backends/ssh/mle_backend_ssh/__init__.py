"""Backend `ssh`: agents run on other machines, each in the sandbox that the backend `vm` gives them here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl

if TYPE_CHECKING:
    from mlecore.backends import Backend


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    from mle_backend_vm.vm_backend import gpu_ids

    from mle_backend_ssh.asyncssh_link import SshLink
    from mle_backend_ssh.host import Host
    from mle_backend_ssh.hosts import HostSettings, read_hosts
    from mle_backend_ssh.pool import Pool

    hosts = read_hosts(options["host"], gpu_ids(options.get("gpus", ""))) if "host" in options else ()
    isolation = options.get("isolation", "bubblewrap")

    def connect(settings: HostSettings) -> Host:
        own = {"isolation": isolation, "gpus": ",".join(settings.gpus)}
        environment = {"MLECORE_VM_STATE": settings.state} if settings.state else {}
        return Host(SshLink(settings.address), settings.python, own, environment)

    return Pool(hosts, connect, isolated=isolation == "bubblewrap")
