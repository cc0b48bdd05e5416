"""Values of the backends' contract as JSON, for backends whose jobs start on another machine than the controller's."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from mlecore.model import agents, backends

_CLASSES = {
    kind.__name__: kind
    for kind in (*vars(backends).values(), agents.Recipe)  # ModelAccess is among the first
    if isinstance(kind, type) and attrs.has(kind)
}


def pack(value: object) -> Any:
    """A value of the contract of backends as JSON. Raises TypeError for any other."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, PurePosixPath):
        return {"path": str(value), "here": isinstance(value, Path)}
    if isinstance(value, (list, tuple)):
        return {"tuple" if isinstance(value, tuple) else "list": [pack(item) for item in value]}
    if isinstance(value, Mapping):
        return {"map": [[pack(key), pack(item)] for key, item in value.items()]}
    name = type(value).__name__
    if _CLASSES.get(name) is type(value):
        return {"is": name, "has": {each.name: pack(getattr(value, each.name)) for each in attrs.fields(type(value))}}
    raise TypeError(f"{name} is no value of a backend's contract")


def placed(job: backends.Job, folder: Path) -> backends.Job:
    """The job with those of its files that are paths below ``folder``, where they lie on this machine."""

    def below(content: Mapping[str, bytes | Path]) -> dict[str, bytes | Path]:
        return {name: folder / value if isinstance(value, Path) else value for name, value in content.items()}

    return attrs.evolve(job, files=below(job.files), tools=below(job.tools))


def unpack(value: Any) -> Any:
    """The inverse of ``pack``. Raises ValueError, TypeError, KeyError for what it did not make."""
    if not isinstance(value, dict):
        return value
    if "is" in value:
        return _CLASSES[value["is"]](**{name: unpack(item) for name, item in value["has"].items()})
    if "map" in value:
        return {unpack(key): unpack(item) for key, item in value["map"]}
    if "tuple" in value:
        return tuple(unpack(item) for item in value["tuple"])
    if "list" in value:
        return [unpack(item) for item in value["list"]]
    if "path" in value:
        return (Path if value["here"] else PurePosixPath)(value["path"])
    return base64.b64decode(value["bytes"])
