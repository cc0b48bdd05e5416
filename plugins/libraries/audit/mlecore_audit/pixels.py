"""Public pictures whose pixels are the answers: where each row is a pixel, as ``7_row_column`` of page 7."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from functools import cached_property
from typing import IO, TYPE_CHECKING

import numpy as np

from mlecore_audit.fields import MOST, is_picture
from mlecore_audit.files import HEAD, Item
from mlecore_audit.finding import Finding
from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST = 100  # pixels
_KINDS = 3  # different values of a picture that shows something


class Pixels:
    """Compares the grey values of pictures, row by row and column by column, with the answers of each thing."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._found: dict[str, Item] = {}  # thing -> picture

    @cached_property
    def _things(self) -> dict[str, list[str]]:
        keys = list(self._subject.answers.index)
        if len(self._subject.targets) > 1 or len(keys) < _FEWEST or keys[0].count("_") < 2:
            return {}
        things: dict[str, list[str]] = {}
        for key in keys:
            things.setdefault(key.rsplit("_", 2)[0], []).append(key)
        return things if len(keys) >= _FEWEST * len(things) else {}

    @cached_property
    def _wanted(self) -> dict[bytes, str]:
        found = {}
        for thing, keys in self._things.items():
            values = numbers_of(self._subject.answers.loc[keys, self._subject.targets[0]])
            if np.isfinite(values).all() and len(np.unique(values)) >= _KINDS and values.min() >= 0:
                grey = np.round(values * (255 if values.max() <= 1 else 1)).clip(0, 255)
                found[_digest(grey.astype(np.uint8))] = thing
        return found

    def add(self, item: Item, stream: IO[bytes]) -> None:
        """Look at one file, which may be no picture."""
        if not self._things or item.size > MOST or not is_picture(head := stream.read(HEAD)):
            return
        from PIL import Image

        try:
            picture = np.asarray(Image.open(io.BytesIO(head + stream.read(MOST))).convert("L"))
        except Exception as error:  # decoders raise anything on damaged files
            self._subject.failed(item.name, f"the picture cannot be decoded: {error}")
            return
        for pixels in (picture, picture.T):
            if (thing := self._wanted.get(_digest(pixels))) is not None:
                self._found.setdefault(thing, item)

    def findings(self) -> Iterator[Finding]:
        if not self._found:
            return
        keys = [key for thing in self._found for key in self._things[thing]]
        score = self._subject.score(self._subject.answers.loc[keys, self._subject.targets])
        thing, item = next(iter(self._found.items()))
        evidence = (
            f"its pixels are the answers of {thing!r}; pictures hold those of {len(self._found):,} of "
            f"{len(self._things):,} test items"
        )
        yield Finding(level="answer", kind="pixels", file=item.name, evidence=evidence, score=score)


def _digest(pixels: NDArray[np.uint8]) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(pixels).tobytes(), digest_size=16).digest()
