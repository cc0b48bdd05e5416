"""The hosts: ``-B host=user@gpu1,user@gpu2``, or ``[[host]]`` tables in the file of --backend-config."""

from __future__ import annotations

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.util.schema import SchemaError, parse_json, structure


@frozen(kw_only=True)
class HostSettings:
    """One machine that runs jobs."""

    address: str  # [user@]host[:port], or a name of your ssh config
    slots: int | None = None  # jobs at once; default: as many as its CPUs, memory and GPUs allow
    gpus: tuple[str, ...] = ()  # ids of the GPUs that may be given out, as nvidia-smi counts
    python: str = "python3"  # a program there, of Python 3.9 or newer
    state: str | None = None  # absolute path of the folder for jobs, data and environments; default: below its home


@frozen(kw_only=True)
class _Hosts:
    host: tuple[HostSettings, ...]


def read_hosts(given: str) -> tuple[HostSettings, ...]:
    """The hosts of an option: addresses, or the tables of a file as JSON. Raises UsageError."""
    found = _tables(given) if given.startswith("[") else _addresses(given)
    if not found:
        raise UsageError("the option host names no host", fix="Give -B host=user@name, or [[host]] tables in a file.")
    for host in found:
        _check(host)
    names = [host.address for host in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"host names {', '.join(sorted(twice))} twice")
    return found


def _addresses(given: str) -> tuple[HostSettings, ...]:
    return tuple(HostSettings(address=part.strip()) for part in given.split(",") if part.strip())


def _tables(given: str) -> tuple[HostSettings, ...]:
    try:
        return structure(_Hosts, {"host": parse_json(given.encode())}).host
    except SchemaError as error:
        raise UsageError(f"the hosts do not fit: {error.message}") from None


def _check(host: HostSettings) -> None:
    address = host.address
    if ":" in address.rpartition("@")[0]:  # which is a password, and plans are written to disk
        raise UsageError("a host is given with a password", fix="Write [user@]host[:port], and log in with a key.")
    if address.startswith("-") or any(char.isspace() or not char.isprintable() for char in address):
        raise UsageError(f"{address!r} cannot be a host", fix="Write [user@]host[:port].")
    if host.slots is not None and host.slots < 1:
        raise UsageError(f"{address}: slots must be at least 1")
    if host.state is not None and not host.state.startswith("/"):
        raise UsageError(f"{address}: state must be an absolute path, and is {host.state!r}")
