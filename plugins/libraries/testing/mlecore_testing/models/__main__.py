"""The scripted model as a program."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from mlecore.errors import UsageError

from .script import Script, read_script
from .server import Model, serve


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="mlecore_testing.models", description="A model that answers from a script.")
    parser.add_argument("script", nargs="?", type=Path, metavar="SCRIPT.toml")
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT")
    options = parser.parse_args()
    try:
        script = read_script(options.script) if options.script else Script()
    except UsageError as error:
        parser.error(str(error))
    host, _, port = options.listen.rpartition(":")
    try:
        asyncio.run(_serve(Model(script), host, int(port)))
    except KeyboardInterrupt:
        sys.exit(0)


async def _serve(model: Model, host: str, port: int) -> None:
    await serve(model, host, port)
    sys.stderr.write(f"model on {model.url}\n")
    sys.stderr.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main()
