"""BSON files as streams of documents, of which only one is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore_toolkit import new_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXAMPLES = 100


def products(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a file. Raises DataError if it is missing, cut off or damaged, or one lacks its numbers."""
    import bson

    try:
        with path.open("rb") as file:
            for document in bson.decode_file_iter(file):
                for key in ("_id", "category_id"):
                    number = document.get(key)
                    if not isinstance(number, int) or isinstance(number, bool):
                        raise DataError(f"{path}: {key} of a product is not a whole number")
                yield document
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except bson.errors.BSONError as error:
        raise DataError(f"{path} cannot be read as BSON: {error}") from None


def write_parts(source: Path, in_test: NDArray[np.bool_], public: Path) -> None:
    """The documents of ``source``, in its order: train.bson, its first ones in train_example.bson, and test.bson.

    They are encoded anew, which keeps the bytes of an ordinary document, but moves an ``_id`` that is not first to the
    front. Those of test.bson lack ``category_id``.
    """
    import bson

    written = 0
    with (
        new_file(public / "train.bson") as train,
        new_file(public / "train_example.bson") as example,
        new_file(public / "test.bson") as test,
    ):
        for document, hidden in zip(products(source), in_test.tolist(), strict=True):
            if hidden:
                del document["category_id"]
                test.write(bson.encode(document))
                continue
            data = bson.encode(document)
            train.write(data)
            if written < EXAMPLES:
                example.write(data)
            written += 1
