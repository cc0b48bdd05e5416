"""What is installed in an image: asked once in a container of it, before any agent has run there."""

from __future__ import annotations

import json
from pathlib import Path

from mlecore.errors import BackendError
from mlecore_sandboxes.containers import list_installed, names
from mlecore_sandboxes.containers.engine import Engine

_SECONDS = 60
_LARGEST = 64 << 10  # bytes, as it becomes a label
_LOG = {"type": "json-file", "config": {"max-size": "1m"}}
_COMMAND = 'if command -v python3 >/dev/null; then exec python3 -I -c "$0"; else uname -sm; fi'


def installed(engine: Engine, image: str) -> tuple[str, ...]:
    """Interpreter, platform and packages with their versions; empty if the image cannot say."""
    import docker.errors

    program = Path(list_installed.__file__).read_text(encoding="utf-8")
    api = engine.api
    try:
        with engine.request("asking an image what is installed in it"):
            id = api.create_container(
                image,
                entrypoint=["/bin/sh", "-c", _COMMAND],
                command=[program],
                user="1000:1000",
                working_dir="/",
                labels={names.ROLE: "image"},
                network_disabled=True,
                host_config=api.create_host_config(
                    cap_drop=["ALL"], read_only=True, mem_limit=1 << 30, pids_limit=256, log_config=_LOG
                ),
                use_config_proxy=False,
            )["Id"]
    except (BackendError, docker.errors.NotFound):
        return ()
    try:
        with engine.request("asking an image what is installed in it"):
            api.start(id)
            if api.wait(id, timeout=_SECONDS)["StatusCode"] != 0:
                return ()
            output = api.logs(id, stdout=True, stderr=False)
    except (BackendError, docker.errors.NotFound):  # no /bin/sh, or it takes too long
        return ()
    finally:
        engine.remove(id)
    if len(output) > _LARGEST:
        return ()
    return tuple(line for line in output.decode(errors="replace").splitlines() if line and line.isprintable())


def as_label(lines: tuple[str, ...]) -> dict[str, str]:
    return {names.INSTALLED: json.dumps(lines)}


def from_labels(labels: object) -> tuple[str, ...]:
    """The list in an image's label; empty if there is none, or mlecore did not write it."""
    text = labels.get(names.INSTALLED) if isinstance(labels, dict) else None
    try:
        lines = json.loads(text) if isinstance(text, str) else []
    except ValueError:
        return ()
    return tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ()
