"""Backend `ssh`: agents run on other machines, each in the same sandbox as with the backend `vm` on this one."""

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
    from mle_backend_ssh.hosts import read_hosts
    from mle_backend_ssh.ssh_backend import SshBackend

    hosts = read_hosts(options["host"], gpu_ids(options.get("gpus", ""))) if "host" in options else ()
    isolation = options.get("isolation", "bubblewrap")
    return SshBackend(hosts, lambda host: SshLink(host.address), isolation)
