"""Which hosts there are: ``-B host=user@gpu1,user@gpu2``, or ``-B host=hosts.toml``, a file of them."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.schema import SchemaError, read_toml, structure


@frozen(kw_only=True)
class HostSettings:
    """One machine that runs jobs."""

    address: str  # [user@]host[:port], or a name of your ssh config
    slots: int | None = None  # jobs at once; default: as many as its CPUs, memory and GPUs allow
    gpus: tuple[str, ...] = ()  # ids of the GPUs that may be given out, as nvidia-smi counts
    python: str = "python3"  # a program there, of Python 3.9 or newer
    state: str | None = None  # absolute path of the folder for jobs, data and environments; default: below its home


@frozen(kw_only=True)
class HostsFile:
    """A TOML file of hosts."""

    host: tuple[HostSettings, ...]  # at least one


def read_hosts(given: str, gpus: tuple[str, ...]) -> tuple[HostSettings, ...]:
    """The hosts of an option; ``gpus`` are those of every host that is not in a file. Raises UsageError."""
    if given.endswith(".toml"):
        found = _from_file(Path(given))
    else:
        addresses = [part.strip() for part in given.split(",") if part.strip()]
        found = tuple(HostSettings(address=address, gpus=gpus) for address in addresses)
    if not found:
        raise UsageError(f"host={given} names no host", fix="Give -B host=user@name, or a TOML file of hosts.")
    for host in found:
        _check(host)
    names = [host.address for host in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"host={given} names {', '.join(sorted(twice))} twice")
    return found


def _from_file(path: Path) -> tuple[HostSettings, ...]:
    try:
        values = read_toml(path)
    except SchemaError as error:
        raise UsageError(error.message) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    try:
        return structure(HostsFile, values).host
    except SchemaError as error:
        raise UsageError(f"{path}: {error.message}") from None


def _check(host: HostSettings) -> None:
    address = host.address
    if address.startswith("-") or any(char.isspace() or not char.isprintable() for char in address):
        raise UsageError(f"{address!r} cannot be a host", fix="Write [user@]host[:port].")
    if host.slots is not None and host.slots < 1:
        raise UsageError(f"{address}: slots must be at least 1")
    if host.state is not None and not host.state.startswith("/"):
        raise UsageError(f"{address}: state must be an absolute path, and is {host.state!r}")
