"""Backend `ssh`: agents run on other machines, each in the same sandbox as with the backend `vm` on this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl

if TYPE_CHECKING:
    from mlecore.model.backends import Backend


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    from mle_backend_ssh.asyncssh_link import SshLink
    from mle_backend_ssh.ssh_backend import Settings, SshBackend
    from mlecore.model.options import read_settings

    settings = read_settings(Settings, options, "backend ssh")
    return SshBackend(settings.hosts, lambda host: SshLink(host.address), settings.isolation)
