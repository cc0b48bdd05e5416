"""The server: on 127.0.0.1, under an address with a token that is drawn when it starts."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

from mlecore.errors import UsageError


def serve(runs: Path, port: int, where: str, say: Callable[[str], None]) -> None:
    """Until it is interrupted. ``where``: what commands on pages need to find the folder. Raises UsageError if the port
    is taken."""
    import uvicorn

    from .app import make_app

    token = secrets.token_urlsafe(24)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(128)  # before the address is printed: whoever opens it at once waits, and is not rejected
        except OSError as error:
            raise UsageError(
                f"port {port} cannot be used: {error.strerror}", fix="Name another one, or leave out --port."
            ) from None
        say(f"Showing {runs} at http://127.0.0.1:{listener.getsockname()[1]}/{token}/")
        say("Ctrl-C ends it; runs go on.")
        config = uvicorn.Config(
            make_app(runs, token, where),
            log_level="warning",
            access_log=False,  # its lines would have the token
            lifespan="on",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,  # event streams have no end
        )
        uvicorn.Server(config).run(sockets=[listener])
