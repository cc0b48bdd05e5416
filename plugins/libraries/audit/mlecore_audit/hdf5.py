"""HDF5 files as tables: the one-dimensional datasets of a group that have one length, and datasets of records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore.util.units import show_size

if TYPE_CHECKING:
    from pandas import DataFrame

START = b"\x89HDF\r\n"
_LARGEST = 256 << 20  # bytes of a dataset


def datasets(stream: IO[bytes]) -> Iterator[tuple[str, DataFrame]]:
    """Each table with ``#`` and its path in the file. A single column is a signal, not a table.

    Raises DataError for a dataset that is too large to be read as a whole.
    """
    import h5py
    import pandas as pd

    stream.seek(0)
    with h5py.File(stream, "r") as file:
        columns: dict[tuple[str, int], dict[str, Any]] = {}
        for path, node in _nodes(file):
            if not isinstance(node, h5py.Dataset) or len(node.shape or ()) != 1:
                continue
            group, _, name = path.rpartition("/")
            if node.dtype.names:
                yield f"#{path}", pd.DataFrame({field: _texts(node, field) for field in node.dtype.names})
            else:
                columns.setdefault((group, len(node)), {})[name] = node
        for (group, _), nodes in columns.items():
            if len(nodes) > 1:
                yield f"#{group}", pd.DataFrame({name: _texts(node) for name, node in nodes.items()})


def _nodes(file: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    file.visititems(lambda path, node: found.append((path, node)))
    return found


def _texts(node: Any, field: str | None = None) -> list[str]:
    if node.nbytes > _LARGEST:
        raise DataError(f"the dataset {node.name} of {show_size(node.nbytes)} is not read: at most 256 MiB are")
    values = node[()] if field is None else node[field]
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values.tolist()]
