"""Which row does a public file belong to? Its name or a folder holds the row's key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

Part = Literal["train", "test"]

_JOINED = 3  # parts of a path that a key may be spread over
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}$")
_NUMBERED = re.compile(r"[A-Za-z. -]+_?(\d{1,18})(?=[_.]|$)")  # Sample00777_color
_NUMBER = "#"  # in front of a key's number, without leading zeros
_TRAIN = re.compile(r"train|valid|devel|curated|noisy", re.IGNORECASE)
_TEST = re.compile(r"test", re.IGNORECASE)


class Matcher:
    """From paths to keys, whatever is around the letters and digits of a key: ``7`` is Sample00007/7_data.mat."""

    def __init__(self, keys: Iterable[str], names: Mapping[str, str] | None = None) -> None:
        """``names``: of files -> keys, as tables say."""
        self._keys: dict[str, str] = {}
        for key in keys:
            for text in (_plain(key), _plain(_SUFFIX.sub("", key))):
                self._keys.setdefault(text, key)
                if text.isdecimal():
                    self._keys.setdefault(f"{_NUMBER}{int(text)}", key)
        for name, key in (names or {}).items():
            self._keys.setdefault(_plain(_SUFFIX.sub("", name.rpartition("/")[2])), key)
        self._keys.pop("", None)

    def __call__(self, path: str) -> str | None:
        """The key that a path holds: in its name, else in its folders, the inner ones first."""
        for text in _candidates(path):
            if (key := self._keys.get(text)) is not None:
                return key
        return None


def part_of(path: str) -> Part | None:
    """Which part of the data a path names: "test/1.png", "train.zip/2.png"; None: neither, or both."""
    train, test = bool(_TRAIN.search(path)), bool(_TEST.search(path))
    return None if train == test else ("train" if train else "test")


def _candidates(path: str) -> Iterator[str]:
    parts = path.split("/")
    name = parts[-1]
    stem = _SUFFIX.sub("", name)
    yield _plain(name)
    yield _plain(stem)
    for part in (stem, *parts[-2::-1]):
        if numbered := _NUMBERED.match(part):
            yield f"{_NUMBER}{int(numbered[1])}"
    for end in range(len(parts), 0, -1):
        for length in range(1, _JOINED + 1):
            if end - length >= 0 and not (end == len(parts) and length == 1):
                joined = "".join([*parts[end - length : end - 1], _SUFFIX.sub("", parts[end - 1])])
                yield _plain(joined)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()
