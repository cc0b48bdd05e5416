"""The built-in backend: runs on this machine, each in its own bubblewrap sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl

if TYPE_CHECKING:
    from mlecore.model.backends import Backend


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    from mlecore_sandboxes.machine import Machine

    return Machine(options)
