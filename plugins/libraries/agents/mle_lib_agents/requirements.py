"""Packages that a user names for an agent (its option ``pip``), and lines of a recipe's ``pip``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mlecore.errors import DataError, UsageError
from mlecore.util.regular import read_regular

_DEEPEST = 10  # files that name each other
_LARGEST = 1 << 20  # bytes
_FILES = (".txt", ".in", ".lock", ".toml", ".cfg", ".yml", ".yaml")
_LIKE = "Write pip=pandas,scikit-learn==1.9.1, or name a requirements file."
_SETTINGS = (
    "Indexes with a password are settings of this machine: PIP_EXTRA_INDEX_URL or pip's options file, see docs/runs.md."
)
_INDEXES = ("--index-url", "--extra-index-url", "--find-links")
_SHORT = {"-i": "--index-url", "-f": "--find-links"}
_KINDS = ("--no-binary", "--only-binary")
_HASH = re.compile(r"\s+--hash[=\s]\s*(?:sha256|sha384|sha512):[0-9a-f]+(?=\s|$)")


def packages(pip: str, agent: str) -> tuple[str, ...]:
    """Requirements from a list with commas (``pandas>=2,<3,numpy``) or from a requirements file.

    Such a file has one requirement a line, with or without hashes, names another file (``-r base.txt``, seen from its
    own folder), or has an option that ``recipe_line`` allows. Raises UsageError that names the agent.
    """
    if not pip.strip():
        return ()
    path = Path(pip).expanduser()
    if path.is_file():
        return tuple(_of_file(path, agent, 1))
    if path.suffix in _FILES or ("/" in pip and "://" not in pip):  # "requirements.txt" would be a package's name, too
        raise UsageError(f"agent {agent}: the requirements file {pip} does not exist in {Path.cwd()}", fix=_LIKE)
    # A comma also stands inside a version range and inside the brackets of extras.
    parts = re.split(r",(?![^\[]*\])(?=\s*[A-Za-z])", pip)
    return tuple(_checked(part.strip(), "pip", agent) for part in parts if part.strip())


def _of_file(path: Path, agent: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise UsageError(f"agent {agent}: {path}: more than {_DEEPEST} requirements files name each other")
    try:
        text = read_regular(path, _LARGEST).decode("utf-8-sig")
    except (OSError, DataError, ValueError) as error:
        raise UsageError(f"agent {agent}: the requirements file {path} cannot be read: {error}") from None
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        wanted = " ".join(re.sub(r"(^|\s)#.*", "", line).split())
        if other := re.fullmatch(r"(?:-r\s*|--requirement[\s=]\s*)(.+)", wanted):
            yield from _of_file(path.parent / other[1], agent, depth + 1)
        elif wanted:
            yield _checked(wanted, str(path), agent)


def _checked(text: str, where: str, agent: str) -> str:
    try:
        if where == "pip" and text.startswith("-"):
            raise ValueError(f"{text!r} is neither a requirement nor a file that exists here")
        return recipe_line(text)
    except ValueError as error:
        fix = _SETTINGS if "password" in str(error) else _LIKE
        raise UsageError(f"agent {agent}: {where}: {error}", fix=fix) from None


def recipe_line(line: str) -> str:
    """The line, as ``Recipe.pip`` takes it and as both pip and uv understand it.

    Allowed are a requirement with its hashes, the URL of an index, --no-binary and --only-binary. Raises ValueError
    with the reason for any other line, such as a URL with a password, which an image would show.
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
