"""Globs of files in a sandbox, with one meaning for agents, backends and the core.

A glob is a path relative to the sandbox's home, in parts separated by ``/``:

======== ==============================================================================================
``*``    any characters of one name, also none; never a ``/``. A leading dot is a character like others
``?``    one character of a name
``[ab]`` one of these characters; ``[a-z]`` a range, ``[!ab]`` any other. ``[*]`` is a plain ``*``
``**``   as a whole part: any number of folders, also none; as the last part: everything below
======== ==============================================================================================

Upper and lower case differ. A glob that matches a folder means all files below it: ``logs`` and ``logs/**`` are the
same files, and ``submission/*`` includes ``submission/deeper/x.csv``.
"""

from __future__ import annotations

import re
from fnmatch import translate
from pathlib import PurePosixPath


class Glob:
    """One glob. Raises ValueError for text that is not a path below home."""

    def __init__(self, text: str) -> None:
        parts = [part for part in text.split("/") if part not in ("", ".")]
        if not parts or text.startswith("/") or ".." in parts or "\n" in text or "\0" in text:
            raise ValueError(f"{text!r} is not a path below the sandbox's home")
        plain = 0
        while plain < len(parts) and not re.search(r"[*?\[]", parts[plain]):
            plain += 1
        self.text = text
        self.prefix = PurePosixPath(*parts[:plain])
        """The leading parts without wildcards: every match is at or below this path."""
        if parts[-1] == "**":
            parts.append("*")
        self._parts = tuple(None if part == "**" else re.compile(translate(part)) for part in parts)

    def matches(self, path: str | PurePosixPath) -> bool:
        """Does it match the file at ``path`` (relative to home), or a folder above it?"""
        return len(self._parts) in self._reached(path)

    def leads_into(self, folder: str | PurePosixPath) -> bool:
        """Can it match a file below ``folder``?"""
        return bool(self._reached(folder))

    def _reached(self, path: str | PurePosixPath) -> set[int]:
        """The numbers of leading parts that ``path`` can match; all parts once the glob matches it or a folder
        above."""
        reached = self._skip({0})
        for name in PurePosixPath(path).parts:
            if len(self._parts) in reached:
                break
            after = set()
            for count in reached:
                part = self._parts[count]
                if part is None:
                    after.add(count)
                elif part.fullmatch(name):
                    after.add(count + 1)
            reached = self._skip(after)
        return reached

    def _skip(self, reached: set[int]) -> set[int]:
        """Adds positions after ``**``, which also matches no folder."""
        out = set()
        for count in reached:
            out.add(count)
            while count < len(self._parts) and self._parts[count] is None:
                count += 1
                out.add(count)
        return out
