"""Lines of a requirements file, as recipes hold them: what pip and uv both understand, and no password."""

from __future__ import annotations

import re

_INDEXES = ("--index-url", "--extra-index-url", "--find-links")
_SHORT = {"-i": "--index-url", "-f": "--find-links"}
_KINDS = ("--no-binary", "--only-binary")
_HASH = re.compile(r"\s+--hash[=\s]\s*(?:sha256|sha384|sha512):[0-9a-f]+(?=\s|$)")


def plain(line: str) -> str:
    """A line of ``pip`` in a recipe: a requirement with its hashes, an index (a URL), or where no binaries are wanted.

    Raises ValueError with the reason for any other line. A URL with a password is never part of it.
    """
    if line.startswith("-"):
        return _option(line)
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(_HASH.sub("", line))
    except InvalidRequirement:
        raise ValueError(f"{line!r} is not a requirement") from None
    return line


def _option(line: str) -> str:
    name, value = [*re.split(r"[\s=]\s*", line, maxsplit=1), ""][:2]
    name = _SHORT.get(name, name)
    if name in _INDEXES:
        if re.match(r"https?://[^/]*@", value):
            raise ValueError(f"the URL of {name} has a password, which an image would show")
        if not re.fullmatch(r"https?://[^\s/]\S*", value):
            raise ValueError(f"{name} takes a URL that begins with https:// or http://")
    elif name not in _KINDS:
        raise ValueError(f"the option {name} cannot be used here")
    elif not re.fullmatch(r"[\w.,:-]+", value):
        raise ValueError(f"{name} takes names of packages, or :all:")
    return f"{name} {value}"
