"""The kernel's session keyring, which children inherit: a job must find none of the controller's keys in it."""

from __future__ import annotations

import os

_KEYCTL = {"x86_64": 250, "aarch64": 219}  # the call's number, for which C libraries have no function
_JOIN_SESSION_KEYRING = 1


def leave() -> None:
    """Join a new, empty session keyring. Where there are no keyrings there is nothing to leave."""
    try:
        import ctypes

        number = _KEYCTL[os.uname().machine]
        ctypes.CDLL(None).syscall(number, _JOIN_SESSION_KEYRING, None)
    except (ImportError, KeyError):
        return
