"""The gateway as a program: ``python -m mlecore_gateway --listen unix:/run/gateway.sock --folder DIR < SETTINGS``.

The settings, with the real key, come on standard input, or from a file that only this process may read.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_DUMPABLE = 4


def main() -> None:
    """Serve until SIGTERM; says on standard error where, or why not."""
    parser = argparse.ArgumentParser(prog="mlecore_gateway", description="Pass a run's calls on to its model.")
    parser.add_argument("--listen", required=True, metavar="HOST:PORT|unix:PATH")
    parser.add_argument("--folder", required=True, type=Path, help="where the log and the transcripts go")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="instead of standard input")
    options = parser.parse_args()
    with contextlib.suppress(OSError, AttributeError):  # nobody of our user looks into our memory
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.umask(0o077)
    from .settings import read_settings

    try:
        text = options.settings.read_bytes() if options.settings else _input()
        settings = read_settings(text)
        asyncio.run(_serve(settings, options.folder, options.listen))
    except (ValueError, OSError) as error:
        sys.exit(f"gateway: {error}")


def _input() -> bytes:
    """All of standard input, which nobody can read again afterwards."""
    text = sys.stdin.buffer.read()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return text


async def _serve(settings: object, folder: Path, listen: str) -> None:
    from . import prices, server
    from .settings import Settings

    assert isinstance(settings, Settings)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with server.serving(settings, folder, listen) as address:
        sys.stderr.write(f"gateway on {address}\n")
        sys.stderr.flush()
        await asyncio.to_thread(prices.source)  # reads megabytes: not while a first call waits
        await ended.wait()


if __name__ == "__main__":
    main()
