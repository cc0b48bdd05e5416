"""Matlab files (version 5, which Matlab writes by default), read and written with SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from mlecore.errors import DataError

_TEXT = 116  # bytes at the beginning that say when and where a file was written


def without_labels(data: bytes, name: str) -> bytes:
    """The file with ``Video.Labels`` emptied, and all else as it is.

    Raises DataError that calls the file ``name`` if it cannot be read, or if there is no ``Video.Labels``.
    """
    from scipy.io import loadmat

    try:
        # as Matlab's types: numbers are stored in less space than their type has
        variables = loadmat(BytesIO(data), mat_dtype=True)
        labels = variables["Video"]["Labels"]
        for place in range(labels.size):
            labels.flat[place] = labels.flat[place][:, :0]
        return write_mat({key: value for key, value in variables.items() if not key.startswith("__")}, data[:_TEXT])
    except Exception as error:  # SciPy raises many types for damaged files
        raise DataError(f"{name}: Video.Labels cannot be emptied: {type(error).__name__}: {error}") from None


def write_mat(variables: Mapping[str, Any], text: bytes = b"MATLAB 5.0 MAT-file") -> bytes:
    """A Matlab file of these variables; ``text`` is at its beginning, instead of the time."""
    from scipy.io import savemat

    out = BytesIO()
    savemat(out, dict(variables), do_compression=True, long_field_names=True)
    return text.ljust(_TEXT) + out.getvalue()[_TEXT:]
