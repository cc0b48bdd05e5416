"""Packages from mirrors whose settings may hold passwords, which neither the image nor any package's code can read.

Steps that have the passwords download packages and run none of their code. Steps that build source distributions or
install packages run that code, and have only the downloaded files. Each step is a separate container of the image as it
was before any package was installed. Only the last step's container becomes a layer of the image. Settings are mounted
rather than passed as build arguments, which the image's history would show.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attrs import frozen

from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore_jobs.mirrors import FILES, NPMRC
from mlecore_sandboxes.containers import names, pip_download
from mlecore_sandboxes.containers.engine import Engine
from mlecore_sandboxes.containers.pip_download import BUILT, FETCHED, SDIST, SDISTS

PIP = "PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip"
_OFFLINE = f"PIP_NO_INDEX=1 PIP_FIND_LINKS={FETCHED} {PIP}"
_MOUNT = "/run/mlecore"
_CACHE = "/packages/cache"
_NPM = f"{FETCHED}/npm"
_INSTALL_NPM = f"""\
prefix=$(npm prefix --global); mkdir -p "$prefix/lib/node_modules"
for each in $(cd {_NPM}/lib/node_modules && ls -d [!@.]* @*/* 2>/dev/null); do
    rm -rf "$prefix/lib/node_modules/$each"
done
cp -a {_NPM}/. "$prefix/"
npm rebuild --global --no-fund --no-audit
npm cache clean --force"""
_TAIL = 1 << 16  # bytes of output that are searched
_MISSING = re.compile(r"No matching distribution found for (.+)")


def install(
    engine: Engine, image: str, recipe: Recipe, name: str, mirrors: Mapping[str, str], out: IO[str]
) -> list[str]:
    """Install a recipe's packages in an image; the lines with which a Dockerfile continues from there.

    ``name``: unique to this build at the engine. Raises BackendError.
    """
    out.write(f"installing from the configured mirrors: {', '.join(sorted(mirrors))}\n")
    volumes = {path: f"{name}-{Path(path).name}" for path in (str(FETCHED), str(BUILT), _CACHE)}
    _remove_volumes(engine, volumes.values())  # of a build that was killed
    with tempfile.TemporaryDirectory(prefix="mlecore-mirrors-") as folder:
        try:
            installed = _Installation(engine, image, volumes, Path(folder), mirrors, out).install(recipe)
        finally:
            _remove_volumes(engine, volumes.values())
    with engine.request(f"looking at the image {image}"):
        config = engine.api.inspect_image(image)["Config"]
    # A container that is committed leaves its own command in the image.
    return [
        f"FROM {installed}",
        *(f"{key.upper()} {json.dumps(config.get(key) or [])}" for key in ("Entrypoint", "Cmd")),
    ]


def _remove_volumes(engine: Engine, volumes: Collection[str]) -> None:
    import docker.errors

    with engine.request("removing downloaded packages"):
        for volume in volumes:
            for container in engine.api.containers(all=True, filters={"volume": volume}):
                engine.remove(container["Id"])
            with contextlib.suppress(docker.errors.NotFound):
                engine.api.remove_volume(volume)


@frozen
class _Result:
    code: int
    output: str  # the end of it


class _Installation:
    def __init__(
        self,
        engine: Engine,
        image: str,
        volumes: Mapping[str, str],
        folder: Path,
        mirrors: Mapping[str, str],
        out: IO[str],
    ) -> None:
        self._engine, self._image, self._volumes, self._out = engine, image, volumes, out
        self._secret, self._public = folder / "secret", folder / "public"  # with and without the mirrors' settings
        _write_settings(self._secret, mirrors)
        _write_settings(self._public, {})
        self._built: set[str] = set()  # source distributions

    def install(self, recipe: Recipe) -> str:
        commands = ["set -e"]
        if recipe.pip:
            self._fetch("pip", recipe.pip)
            commands.append(f"{_OFFLINE} install --no-cache-dir -r {FETCHED}/pip")
        if recipe.pip_alone:
            self._fetch("pip-alone", recipe.pip_alone, "--no-deps")
            commands.append(f"{_OFFLINE} install --no-cache-dir --no-deps -r {FETCHED}/pip-alone")
        if recipe.npm:
            self._fetch_npm(recipe.npm)
            commands.append(_INSTALL_NPM)
        packages = " ".join((*recipe.pip, *recipe.pip_alone, *recipe.npm))
        with self._container("installing packages", "\n".join(commands)) as container:
            if code := self._wait(container).code:
                raise BackendError(f"installing packages ended with exit code {code}")
            with self._engine.request("committing the installed packages"):
                return str(self._engine.api.commit(container, message=packages[:1000])["Id"])

    def _fetch(self, name: str, requirements: Sequence[str], *options: str) -> None:
        """Download packages and their dependencies; build those without a wheel."""
        (self._secret / name).write_text("".join(f"{line}\n" for line in requirements))
        program = Path(pip_download.__file__).read_text(encoding="utf-8")
        command = shlex.join(["python3", "-I", "-c", program, f"{_MOUNT}/{name}", *options])
        command = f"PIP_CACHE_DIR={_CACHE} {command}"
        while (found := self._run(f"downloading packages: {name}", command, secret=True)).code != 0:
            sdist = found.output.rstrip().rpartition("\n")[2]
            if found.code != SDIST or not re.fullmatch(r"[0-9a-f]{64}(\.\w+)+", sdist):
                raise BackendError(f"downloading packages ended with exit code {found.code}")
            if sdist in self._built:
                raise BackendError("pip rejects the wheel of a source distribution, or building it requires itself")
            self._built.add(sdist)
            self._build(sdist)

    def _build(self, sdist: str) -> None:
        """Build a wheel; what pip then lacks, since it has no index here, is downloaded."""
        command = f"{_OFFLINE} wheel --no-cache-dir --no-deps --wheel-dir {BUILT} {SDISTS}/{sdist}"
        fetched: set[str] = set()
        while (found := self._run("building a source distribution, without the mirrors", command)).code != 0:
            missing = _missing(found.output)
            if missing is None or missing in fetched:
                raise BackendError(f"building a source distribution ended with exit code {found.code}")
            fetched.add(missing)
            self._fetch(f"build-{len(self._built)}-{len(fetched)}", [missing])

    def _fetch_npm(self, packages: Sequence[str]) -> None:
        command = shlex.join(["npm", "install", "--global", "--ignore-scripts", "--prefix", _NPM, *packages])
        # The variable is for the npm that npm itself starts for packages from git.
        command = f"npm_config_ignore_scripts=true {command} --no-fund --no-audit --cache {_CACHE}/npm"
        if code := self._run("downloading packages: npm", command, secret=True).code:
            raise BackendError(f"downloading packages ended with exit code {code}")

    def _run(self, label: str, command: str, secret: bool = False) -> _Result:
        """Run a shell command in a container that is removed afterwards."""
        with self._container(label, command, secret) as container:
            return self._wait(container)

    @contextmanager
    def _container(self, label: str, command: str, secret: bool = False) -> Iterator[str]:
        """A container for a shell command. What packages' code writes, one with the mirrors' settings only reads."""
        self._out.write(f"{label}\n")
        api = self._engine.api
        folder, writes = (self._secret, {str(FETCHED), _CACHE}) if secret else (self._public, {str(BUILT)})
        binds = [f"{folder}:{_MOUNT}:ro"]
        binds += [
            f"{volume}:{path}:{'rw' if path in writes else 'ro'}"
            for path, volume in self._volumes.items()
            if secret or path != _CACHE  # it may hold the headers of requests
        ]
        with self._engine.request("creating a container that installs packages"):
            id = api.create_container(
                self._image,
                entrypoint=["/bin/sh", "-c"],
                command=[f". {_MOUNT}/settings\n{command}"],
                user="0",
                labels={names.ROLE: "image"},
                host_config=api.create_host_config(
                    binds=binds,
                    security_opt=["label=disable"] if self._engine.security("selinux") else None,
                ),
                use_config_proxy=False,  # its variables would become the image's
            )["Id"]
        try:
            yield str(id)
        finally:
            self._engine.remove(id)

    def _wait(self, container: str) -> _Result:
        """Start a container and wait for its end."""
        tail = b""
        with self._engine.request("installing packages"):
            self._engine.api.start(container)
            client = self._engine.streaming()
            try:
                for chunk in client.logs(container, stream=True, follow=True):
                    self._out.write(chunk.decode(errors="replace"))
                    tail = (tail + chunk)[-_TAIL:]
                return _Result(int(client.wait(container)["StatusCode"]), tail.decode(errors="replace"))
            finally:
                client.close()


def _missing(output: str) -> str | None:
    """The requirement that pip did not find. Packages' code may have written this output.

    pip replaces ``${NAME}`` in files of requirements with a variable's value, the mirror's address perhaps.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    for text in reversed(_MISSING.findall(output)):
        with contextlib.suppress(InvalidRequirement):
            requirement = Requirement(text)
            return None if requirement.url or "$" in text else str(requirement)
    return None


def _write_settings(folder: Path, mirrors: Mapping[str, str]) -> None:
    """A shell script that sets the variables, and copies of the files that they name."""
    folder.mkdir()
    settings = {"NPM_CONFIG_LOGS_MAX": "0", **_proxies(), **mirrors}  # npm would keep a log of its requests
    for name in FILES:
        if name in mirrors:
            try:
                content = Path(mirrors[name]).read_bytes()
            except OSError as error:
                raise BackendError(f"{name} names a file that cannot be read: {error}") from None
            if name in NPMRC:  # npm replaces ${NAME}, perhaps by a token; the container does not have the variables
                content = re.sub(rb"\$\{(\w+)\}", lambda found: os.environb.get(found[1], found[0]), content)
            (folder / name).write_bytes(content)
            settings[name] = f"{_MOUNT}/{name}"
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()]
    (folder / "settings").write_text("".join(lines))


def _proxies() -> Mapping[str, str]:
    """Those of ~/.docker/config.json, as a build has them."""
    from docker.utils.config import load_general_config
    from docker.utils.proxy import ProxyConfig

    configured = load_general_config().get("proxies", {}).get("default", {})
    variables: Mapping[str, str] = ProxyConfig.from_dict(configured).get_environment()
    return variables
