"""Packages from mirrors whose settings hold passwords, installed so that no image or history shows them.

Build arguments stand in an image's history, and the engine's own builder has no secrets. So the settings are mounted in
a container that installs the packages, and its files become the image's next layer, without what was mounted.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from attrs import frozen

from mle_backend_docker import names
from mle_backend_docker.engine import Engine
from mlecore.errors import BackendError
from mlecore.mirrors import FILES, NPMRC

MOUNT = "/run/mlecore"


@frozen
class Installation:
    """Shell commands that install packages, as one step of a build.

    Where mirrors are set, ``without_code`` comes first: code that runs during ``command`` can read their passwords.
    """

    command: str
    without_code: str  # the same, without running code of packages
    scripts: str | None = None  # runs their code afterwards; then ``without_code`` must succeed


def install(
    engine: Engine, image: str, installation: Installation, mirrors: Mapping[str, str], out: IO[str]
) -> list[str]:
    """Install packages in an image; the lines with which a Dockerfile continues from there. Raises BackendError."""
    out.write(f"installing from the mirrors that are set here: {', '.join(sorted(mirrors))}\n")
    config = engine.api.inspect_image(image)["Config"]
    with tempfile.TemporaryDirectory(prefix="mlecore-mirrors-") as folder, engine.request("installing packages"):
        _write(Path(folder), mirrors)
        try:
            installed = _run(engine, image, installation.without_code, folder, out)
        except _Failed:
            if installation.scripts:
                raise
            out.write("once more with source distributions; their code can read the passwords of the mirrors\n")
            installed = _run(engine, image, installation.command, folder, out)
    keys = ("Entrypoint", "Cmd")
    lines = [f"FROM {installed}", *(f"{key.upper()} {json.dumps(config.get(key) or [])}" for key in keys)]
    return [*lines, f"RUN {installation.scripts}"] if installation.scripts else lines


class _Failed(BackendError):
    """The installer ended with an error."""


def _run(engine: Engine, image: str, command: str, settings: str, out: IO[str]) -> str:
    """The image after a command that sees the folder with the mirrors' settings."""
    api = engine.api
    out.write(f"$ {command}\n")
    container = api.create_container(
        image,
        entrypoint=["/bin/sh", "-c"],
        command=[f". {MOUNT}/settings; {command}"],
        user="0",
        labels={names.ROLE: "image"},
        host_config=api.create_host_config(
            binds=[f"{settings}:{MOUNT}:ro"],
            security_opt=["label=disable"] if engine.security("selinux") else None,
        ),
        use_config_proxy=False,  # its variables would become the image's
    )["Id"]
    try:
        api.start(container)
        client = engine.streaming()
        try:
            for chunk in client.logs(container, stream=True, follow=True):
                out.write(chunk.decode(errors="replace"))
            code = client.wait(container)["StatusCode"]
        finally:
            client.close()
        if code != 0:
            raise _Failed(f"installing packages ended with exit code {code}")
        return str(api.commit(container)["Id"])
    finally:
        api.remove_container(container, v=True, force=True)


def _write(folder: Path, mirrors: Mapping[str, str]) -> None:
    """A shell script that sets the variables, and copies of the files that they name."""
    settings = {"NPM_CONFIG_LOGS_MAX": "0", **_proxies(), **mirrors}  # npm would keep a log of its requests
    for name in FILES:
        if name in mirrors:
            try:
                content = Path(mirrors[name]).read_bytes()
            except OSError as error:
                raise BackendError(f"{name} names a file that cannot be read: {error}") from None
            (folder / name).write_bytes(_with_variables(content) if name in NPMRC else content)
            settings[name] = f"{MOUNT}/{name}"
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()]
    (folder / "settings").write_text("".join(lines))


def _with_variables(npmrc: bytes) -> bytes:
    """npm puts variables in the place of ${NAME}, a token perhaps; in the container it would not have them."""
    return re.sub(rb"\$\{(\w+)\}", lambda found: os.environb.get(found[1], found[0]), npmrc)


def _proxies() -> Mapping[str, str]:
    """Those of ~/.docker/config.json, as a build has them."""
    from docker.utils.config import load_general_config
    from docker.utils.proxy import ProxyConfig

    said = load_general_config().get("proxies", {}).get("default", {})
    variables: Mapping[str, str] = ProxyConfig.from_dict(said).get_environment()
    return variables
