"""The request to the engine for a job: mounts, limits, rights, environment, files. Pure.

Where what is: ``/home`` and ``/tmp`` are anonymous volumes of the container. They are made and removed together with
it, survive the engine's restart and the agent's end, can be read by streaming whether it runs or not, count against the
disk rather than memory, and their owners are right whatever the engine does with user ids (user namespaces, rootless),
which a folder of the host would not be. The engine copies what the image holds at ``/home`` into the volume. Only
public data are a folder of the host, mounted read-only: they are too large to copy.

``/opt/mlecore`` is a volume that is filled before the start, through a container that is never started, and is mounted
read-only: Podman makes the agent the owner of a new volume. With Docker ``/home`` itself belongs to root, and the agent
is never root, has no capability and can gain none; so submission/, code/ and logs/ cannot be replaced. Secrets stand in
a file that only the agent can read and that is gone once its first process has read it: the engine's records
(``docker inspect``) never show them.
"""

from __future__ import annotations

import math
import shlex
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, Any

from mle_backend_docker import system_calls
from mle_backend_docker.users import User
from mlecore.model.backends import Job
from mlecore_sandboxes import variables
from mlecore_sandboxes.containers import add, below_home, names

LOG_FILES, LOG_BYTES = 4, 256 * 1024 * 1024  # the engine keeps so much of an agent's output, the end of it

IN_MEMORY = 16 * 1024 * 1024  # bytes of an archive; larger ones are on disk
FOLDERS = (".mlecore", "agent", "code", "logs", "submission")  # below home, the agent's own; home itself is root's
SECRETS = ".mlecore/secrets"
STDIN = "stdin"  # beside init
_FIND = "find /home -mindepth 1 -xdev -path /home/data -prune -o ! -type l"
OPEN_HOME = ["/bin/sh", "-c", f"exec {_FIND} -exec chmod a+rwX {{}} +"]


def command(job: Job) -> list[str]:
    """The first process: init; a shell that becomes it where secrets or standard input must reach it first."""
    start = ["/bin/sh", names.INIT, *job.argv]
    if not job.resources.secrets and not job.stdin:
        return start
    path = shlex.quote(f"/home/{SECRETS}")
    read = f". {path} && rm -f {path} || exit 125\n" if job.resources.secrets else ""
    stdin = f" </opt/mlecore/{STDIN}" if job.stdin else ""
    return ["/bin/sh", "-c", f'{read}exec /bin/sh "$@"{stdin}', "start", *start[1:]]


def environment(
    job: Job, user: User, gpus: Sequence[str], proxy: str | None, gateway: str | None = None
) -> dict[str, str]:
    """What the process gets besides its secrets. Of the GPUs it sees its own only, counted from 0."""
    return variables.environment(
        job,
        user=names.USER,
        user_home=PurePosixPath(user.home),
        gpus=[str(number) for number in range(len(gpus))],
        proxy=proxy,
        gateway=gateway,
    )


def mounts(job: Job, labels: Mapping[str, str], size: int | None) -> list[dict[str, Any]]:
    """Volumes of the container's own, and the data. ``size``: bytes of each volume, where the engine can limit it."""
    labelled: dict[str, Any] = {"Labels": dict(labels)}
    driver = {"DriverConfig": {"Name": "local", "Options": {"size": str(size)}}} if size is not None else {}
    volume = {"Type": "volume", "VolumeOptions": {**labelled, **driver}}
    out: list[dict[str, Any]] = [{**volume, "Target": target} for target in ("/home", "/tmp")]
    tools = {"Source": names.tools(job.name), "Target": names.TOOLS, "ReadOnly": True}
    out.append({**volume, **tools, "VolumeOptions": labelled})
    # Not recursive: a mount below the data would not be read-only.
    data = {"Type": "bind", "Source": job.data, "Target": "/home/data", "ReadOnly": True}
    return [*out, {**data, "BindOptions": {"NonRecursive": True, "Propagation": "rprivate"}}]


def hardened(selinux: bool = False) -> dict[str, Any]:
    """Rights of every container that we start: none."""
    security = ["no-new-privileges"]
    if selinux:  # else nothing of the host, public data included, could be read; relabelling them is not ours to do
        security.append("label=disable")
    return {"CapDrop": ["ALL"], "SecurityOpt": security, "Privileged": False, "RestartPolicy": {"Name": "no"}}


def log_config(podman: bool, size: int, files: int) -> dict[str, Any]:
    """Where the engine keeps output, and how much of it. Docker's driver ``local`` keeps every byte as it is."""
    if podman:
        return {"Type": "json-file", "Config": {"max-size": str(size * files)}}
    return {"Type": "local", "Config": {"max-size": str(size), "max-file": str(files), "compress": "false"}}


def host_config(
    job: Job,
    *,
    network: str,
    hosts: Sequence[str],
    gpus: Sequence[str],
    runtime: str | None,
    engine_memory: int,
    volumes: list[dict[str, Any]],
    size: int | None,
    selinux: bool,
    podman: bool,
    filtered: bool,
) -> dict[str, Any]:
    """The HostConfig of the agent's container. ``filtered``: with our profile of system calls."""
    resources = job.resources
    config: dict[str, Any] = {
        **hardened(selinux),
        "Mounts": volumes,
        "NetworkMode": network,
        "ReadonlyRootfs": not resources.writable_root,
        "PidsLimit": resources.processes,
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        "ShmSize": resources.memory or engine_memory // 2,  # what is used of it counts as the run's memory anyway
        "IpcMode": "private",
        "LogConfig": log_config(podman, LOG_BYTES, LOG_FILES),
    }
    if filtered:
        rights = system_calls.rights()
        config |= {**rights, "SecurityOpt": [*config["SecurityOpt"], *rights["SecurityOpt"]]}
    if resources.memory is not None:
        config["Memory"] = config["MemorySwap"] = resources.memory  # the same: no swap on top
    if resources.cpus is not None:
        config["NanoCpus"] = max(10_000_000, math.floor(resources.cpus * 1e9))
    if hosts:
        config["ExtraHosts"] = list(hosts)
    if resources.network == "llm":
        # The engine's own resolver must not carry questions out of the sandbox. An address that is given here is asked
        # from within the container, where nobody listens at it; those of this machine's resolv.conf might be asked
        # from outside.
        config["Dns"] = ["127.0.0.1"]
        config["DnsOptions"] = ["timeout:1", "attempts:1"]  # a program that takes no notice of the proxy fails soon
    if gpus:
        config["DeviceRequests"] = [{"Driver": "nvidia", "DeviceIDs": list(gpus), "Capabilities": [["gpu"]]}]
    if runtime:
        config["Runtime"] = runtime
    if size is not None and resources.writable_root:
        config["StorageOpt"] = {"size": str(size)}
    return config


@contextmanager
def tools_archive(job: Job) -> Iterator[IO[bytes]]:
    """A tar archive for /opt/mlecore: everything root's, readable for all."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as out:
        with tarfile.open(fileobj=out, mode="w") as tar:
            for name, content in job.tools.items():
                add(tar, below_home(name), content)
            if job.stdin:
                add(tar, STDIN, job.stdin)
        out.seek(0)
        yield out


@contextmanager
def home_archive(job: Job, owner: tuple[int, int], secrets: Mapping[str, str]) -> Iterator[IO[bytes]]:
    """A tar archive for /home: everything the agent's, the values of secrets for nobody but it."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as out:
        with tarfile.open(fileobj=out, mode="w") as tar:
            files = {below_home(name): content for name, content in job.files.items()}
            folders = {str(parent) for name in files for parent in PurePosixPath(name).parents} - {"."}
            for folder in sorted({*FOLDERS, *folders}):
                info = tarfile.TarInfo(folder)
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                info.uid, info.gid = owner
                tar.addfile(info)
            for name, content in files.items():
                add(tar, name, content, *owner)
            if secrets:
                lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in secrets.items())
                add(tar, SECRETS, lines.encode(), *owner, mode=0o400)
        out.seek(0)
        yield out
