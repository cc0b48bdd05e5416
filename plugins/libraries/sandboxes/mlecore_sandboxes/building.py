"""One step of building an environment, in a sandbox that sees no home, no data and no run of the user.

A step either installs what others have built and runs no code of packages, or it runs their code. The latter has a
cache of its own, so that it cannot change what later builds install, and as root a user of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from mlecore.errors import BackendError
from mlecore.util.child_environment import NPM, PIP, PROXIES, child_environment
from mlecore_jobs import seccomp
from mlecore_jobs.mirrors import mirrors, npm_variables
from mlecore_jobs.supervise.door import Door
from mlecore_sandboxes import apptainer, bubblewrap, build_network, folders
from mlecore_sandboxes.view import Isolation

_TO_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_TRUSTED_HOST": "UV_INSECURE_HOST",
    "PIP_CERT": "SSL_CERT_FILE",
}
_FILES = (  # variables of installers that name a file or a folder, which the sandbox shows
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_CONSTRAINT"),
    *("UV_CONFIG_FILE", "UV_FIND_LINKS", "UV_CONSTRAINT"),
    *("NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "NPM_CONFIG_CAFILE", "npm_config_cafile"),
)
_MLECORES = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")  # they would show installers the way to mlecore's own packages
_PUBLISHING = "UV_PUBLISH_"
_HIDDEN = re.compile(r"XDG_.*|MLECORE_.*|NETRC|TE?MP|npm_config_cache", re.IGNORECASE)  # name folders of the user
_STARTED = 20.0  # seconds that bubblewrap may take to make a sandbox


@frozen(kw_only=True)
class Step:
    """A command, and what it may have."""

    argv: Sequence[str]
    writes: Path  # the folder that it changes
    reads: Sequence[Path] = ()  # what it needs besides the system's programs
    lines: Sequence[str] = ()  # that it reads on standard input
    settings: tuple[str, ...] = ()  # PIP or NPM: the installer's settings, with the passwords of its mirrors
    network: bool = True
    runs_code: bool = False  # of packages


def run(step: Step, root: Path, out: int, isolation: Isolation) -> int:
    """The exit code of a step, which writes to the descriptor ``out``. Raises BackendError if it cannot start."""
    given = "".join(f"{line}\n" for line in step.lines).encode()
    os.write(out, f"$ {' '.join(step.argv)}\n".encode() + given)
    try:
        if isolation != "none":
            return _in_sandbox(step, given, root, out, isolation == "apptainer")
        env = environment(step.settings)
        done = subprocess.run(
            step.argv, input=given, stdout=out, stderr=subprocess.STDOUT, env=env, check=False, umask=0o022
        )
    except (OSError, RuntimeError) as error:
        raise BackendError(f"cannot run {step.argv[0]}: {error}") from None
    return done.returncode


def environment(settings: tuple[str, ...]) -> dict[str, str]:
    """Variables of a step. pip's settings of mirrors count for uv too, unless uv has its own."""
    given = {**mirrors(os.environ), **os.environ}
    names = (*settings, *PROXIES, "NETRC") if settings else ()
    env = child_environment(*names, *(npm_variables(given) if settings == NPM else ()), source=given)
    env = {name: value for name, value in env.items() if name not in _MLECORES and not name.startswith(_PUBLISHING)}
    env = {**_user_settings(settings, env), **env}
    if settings != PIP or "UV_INDEX_URL" in env:  # its older name for the same
        return env
    return {uv: env[pip] for pip, uv in _TO_UV.items() if pip in env} | env


def _user_settings(settings: tuple[str, ...], env: Mapping[str, str]) -> dict[str, str]:
    """Variables for the installers' files of settings in the user's home, which a sandbox does not show."""
    home = Path(env.get("HOME") or Path.home())
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    if settings == NPM and "npm_config_userconfig" not in env:
        usual = {"NPM_CONFIG_USERCONFIG": home / ".npmrc"}
    elif settings == PIP:
        usual = {"PIP_CONFIG_FILE": config / "pip" / "pip.conf", "UV_CONFIG_FILE": config / "uv" / "uv.toml"}
    else:
        usual = {}
    return {name: str(path) for name, path in usual.items() if path.is_file()}


def _in_sandbox(step: Step, given: bytes, root: Path, out: int, by_apptainer: bool) -> int:
    env = environment(step.settings)
    reads = [*step.reads, *(Path(env[name]) for name in _FILES if env.get(name))]
    user = bubblewrap.sandbox_user(step.writes.name) if step.runs_code else None
    with folders.new(root, "build") as scratch, contextlib.ExitStack() as stack:
        network = build_network.Network(scratch, (*env.values(), *step.lines) if step.network else None)
        own = not step.network if by_apptainer else network.own
        if not own:
            os.write(out, b"its network is this machine's: it can reach what listens on this machine's 127.0.0.1\n")
        for name in ("home", "tmp", "cache"):
            (scratch / name).mkdir()
        (scratch / "home" / ".netrc").write_text(network.logins(env.get("NETRC")) if step.settings else "")
        bubblewrap.write_etc(scratch, user)
        if user is not None:
            stack.enter_context(_owned_by(user, scratch))
            stack.enter_context(_owned_by(user, step.writes))
        cache = scratch / "cache" if step.runs_code else folders.make_private(root / "cache")
        env = {name: value for name, value in env.items() if not _HIDDEN.fullmatch(name)}
        env |= {"HOME": "/home", "TMPDIR": "/tmp"}
        env |= {"UV_CACHE_DIR": "/cache/uv", "PIP_CACHE_DIR": "/cache/pip", "npm_config_cache": "/cache/npm"}
        env["UV_LINK_MODE"] = "copy"  # cache and environment are two mounts, between which no file can be linked
        reads = list(filter(Path.exists, reads))
        env = child_environment(*env, source=env)
        if by_apptainer:
            argv = apptainer.build_line(scratch, cache, step.writes, reads, own)
            return _run_in_apptainer(argv, str(scratch / "door"), step.argv, given, env, out)
        line = bubblewrap.build_line(scratch, cache, step.writes, reads, user, own)
        return _run(line, step.argv, given, env, out, network)


@contextlib.contextmanager
def _owned_by(user: int, folder: Path) -> Iterator[None]:
    """Give a tree to a sandbox's user, and take it back."""
    _chown(folder, user)
    try:
        yield
    finally:
        _chown(folder, os.geteuid())


def _chown(folder: Path, user: int) -> None:
    for path, _, names in os.walk(folder):
        for name in ("", *names):
            os.chown(Path(path, name), user, user, follow_symlinks=False)
    # os.walk lists a link to a folder among the folders, and does not enter it: links keep their owner


def _run(
    line: bubblewrap.CommandLine,
    argv: Sequence[str],
    given: bytes,
    env: Mapping[str, str],
    out: int,
    network: build_network.Network,
) -> int:
    """The exit code. The command begins once the sandbox's network is connected."""
    rules = seccomp.here()
    status, say = os.pipe()
    wait, gate = os.pipe()
    stdin, filter = _in_memory("stdin", given), _in_memory("filter", rules or b"")
    words = [*line.outer, *line.last, "--json-status-fd", str(say), "--block-fd", str(wait)]
    words += ["--seccomp", str(filter)] if rules else []
    child = None
    try:
        child = subprocess.Popen(
            [*words, "--", *line.prelude, *argv],
            stdin=stdin,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            umask=0o022,
            pass_fds=(say, wait, filter),
        )
        os.close(say)
        say = -1
        if init := _init(status):
            network.connect(init)
        os.write(gate, b"1")
        return child.wait()
    finally:
        if child is not None:
            child.kill()  # the sandbox ends with it
            child.wait()
        network.close()
        for descriptor in (status, say, wait, gate, stdin, filter):
            if descriptor >= 0:
                os.close(descriptor)


def _run_in_apptainer(
    sandbox: Sequence[str], door: str, argv: Sequence[str], given: bytes, env: Mapping[str, str], out: int
) -> int:
    """The exit code."""
    entry, stdin = Door(door), _in_memory("stdin", given)
    child = subprocess.Popen(
        sandbox, stdin=stdin, stdout=out, stderr=subprocess.STDOUT, env=child_environment(), umask=0o022
    )
    try:
        while child.poll() is None:
            if select.select([entry], [], [], 0.2)[0]:
                orders = {"argv": [*argv], "env": dict(env), "limits": {"CORE": 0}, "home": "/home", "init": False}
                entry.let_in().begin({**orders, "keep": False})
                break
        return child.wait()
    finally:
        child.terminate()  # the sandbox ends with it
        child.wait()
        entry.close()
        os.close(stdin)


def _in_memory(name: str, content: bytes) -> int:
    """A file to read that any user in the sandbox may open again by /dev/stdin."""
    descriptor = os.memfd_create(name)
    with os.fdopen(os.dup(descriptor), "wb") as out:
        out.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _init(status: int) -> int | None:
    """The first process of the sandbox, which bubblewrap reports; None if it could not make one."""
    said, limit = b"", time.monotonic() + _STARTED
    while time.monotonic() < limit:
        ready, _, _ = select.select([status], [], [], 1.0)
        more = os.read(status, 4096) if ready else b""
        said += more
        for text in said.splitlines():
            with contextlib.suppress(ValueError):
                if "child-pid" in (words := json.loads(text)):
                    return int(words["child-pid"])
        if ready and not more:
            return None
    raise RuntimeError(f"bubblewrap created no sandbox within {_STARTED:g} s")
