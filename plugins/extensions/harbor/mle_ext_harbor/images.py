"""Images with the data inside, built by this machine's Docker engine and named by what is in them.

Each has two stages, and the data are in the first: they are sent to the engine once, whatever changes above them. They
are streamed from where they lie; the engine keeps a second copy of them until their layer is written.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import chain, takewhile
from pathlib import Path

from attrs import field, frozen

from mlecore.controller.experiment import Inputs
from mlecore.controller.job import files_digest
from mlecore.data import manifest
from mlecore.data.prepared import Prepared
from mlecore.errors import BackendError, DataError, UsageError
from mlecore.model.agents import HOME, Recipe
from mlecore.model.provenance import file_digest
from mlecore.util.units import show_size
from mlecore_sandboxes.containers import images
from mlecore_sandboxes.containers.engine import Engine, locked
from mlecore_sandboxes.containers.settings import ImageSettings

_BLOCK = 1 << 20
_SECOND = 10**9  # ns
_LONG_AGO = 10**9  # s, in 2001: the time of files that are made here; before 1980, zip archives cannot have them
_PART = r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_PART}(?::\d+)?(?:/{_PART})*")

Content = bytes | Path
"""A file's content. A name that ends with a slash is a folder."""


@frozen(kw_only=True)
class Builder:
    """Builds the images of tasks. ``repository``: what their names begin with, such as ghcr.io/my-lab."""

    repository: str
    base: str  # of agents' images
    verifier: str | None  # base of verifiers' images that has mlecore and the competition; None: they are installed
    say: Callable[[str], None]
    engine: Engine = field(factory=Engine)

    def __attrs_post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repository):
            raise UsageError(
                f"{self.repository!r} cannot be the beginning of an image's name",
                fix="Give a registry with a path, in small letters: --repository ghcr.io/my-lab",
            )

    def build_agent(self, inputs: Inputs, files: Mapping[str, Content]) -> str:
        """The name of the image with the public data, and ``files`` by their paths in it."""
        data = inputs.data
        name = f"{self.repository}/{inputs.facts.id.lower()}"
        found = ((f"data{path[6:]}", data.root / path) for path, _ in manifest.walk(data.root, ["public"]))
        size = data.manifest.public.bytes if data.manifest else 0
        base = self._stage(f"{name}:data-", self._id(self.base), f"COPY data {HOME}/data", data.digest, found, size)
        return self._stage(
            f"{name}:", base, f"COPY files /\nWORKDIR {HOME}", files_digest(files), _below("files", files)
        )

    def build_verifier(self, inputs: Inputs, inside: Prepared, files: Mapping[str, Content]) -> str:
        """The name of the image with mlecore, what grading needs of the data, as ``inside`` has it, and ``files``."""
        data, facts = inputs.data, inputs.facts
        data.require_answers()
        name = f"{self.repository}/{facts.id.lower()}-verifier"
        sample = facts.sample.partition("!")[0]
        answers = takewhile(lambda entry: entry.path.startswith("private/"), manifest.read_files(data.lists))
        entries = [*answers, *manifest.find_files(data.lists, [sample])]
        lines = "".join(map(_line, entries)).encode("ascii")
        found: dict[str, Content] = {f"{inside.root}/{each.path}": data.root / each.path for each in entries}
        found[f"{inside.lists}/{manifest.FILES}"] = lines
        digest = hashlib.sha256(lines).hexdigest()
        if data.leaderboard:
            found[str(inside.leaderboard)] = data.leaderboard
            digest += file_digest(data.leaderboard)
        base = self._id(self.verifier or self._installed(inputs.use.distribution))
        size = sum(entry.size for entry in entries)
        base = self._stage(f"{name}:data-", base, "COPY files /", digest, _below("files", found), size)
        return self._stage(f"{name}:", base, "COPY files /", files_digest(files), _below("files", files))

    def _installed(self, distribution: str) -> str:
        """An image with mlecore and a competition from an index."""
        base = self.base
        for package in ("mlecore", distribution):  # apart, so that competitions share what mlecore needs
            recipe = Recipe(base=base, pip=(f"{package}=={version(package)}",))
            base = images.build(self.engine, ImageSettings(base=self.base), recipe, _log(recipe)).ref
        return base

    def _id(self, ref: str) -> str:
        """The id of an image, pulled if it is missing. A name may mean another image later; an id cannot."""
        found = self.engine.image(ref)
        if found is None:
            self.say(f"pulling {ref}")
            recipe = Recipe(image=ref)
            return images.build(self.engine, ImageSettings(), recipe, _log(recipe)).ref
        return str(found["Id"])

    def _stage(
        self, name: str, base: str, lines: str, digest: str, files: Iterable[tuple[str, Content]], size: int = 0
    ) -> str:
        """An image on top of another one. ``digest``: of the files, which are read only if it must be built."""
        dockerfile = f"FROM {base}\n{lines}\n".encode()
        key = hashlib.sha256(dockerfile + digest.encode()).hexdigest()[:12]
        tag = f"{name}{key}"
        with locked(key):
            if self.engine.image(tag) is None:
                self.say(f"building {tag}{f' ({show_size(size)})' if size else ''}")
                self._build(tag, chain([("Dockerfile", dockerfile)], files))
        return tag

    def _build(self, tag: str, files: Iterable[tuple[str, Content]]) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            options = {"fileobj": _blocks(_tar(files)), "custom_context": True, "rm": True, "forcerm": True}
            _, problem = images.follow(self.engine, log, f"building {tag}", "build", tag=tag, **options)
            if problem or self.engine.image(tag) is None:
                log.seek(0)
                end = "".join(log.readlines()[-images.SHOWN :]).rstrip()
                raise BackendError(f"the image {tag} could not be built: {problem or 'the engine lacks it'}\n{end}")


def _log(recipe: Recipe) -> Path:
    return Path(tempfile.gettempdir()) / f"mlecore-build-{recipe.digest()[:12]}.log"


def _line(entry: manifest.Entry) -> str:
    """A line of the list of prepared files, with the time that the file has in the image."""
    return f"{entry.sha256} {manifest.line_end(entry.size, entry.mtime_ns // _SECOND * _SECOND, entry.path)}"


def _below(folder: str, files: Mapping[str, Content]) -> Iterator[tuple[str, Content]]:
    return ((f"{folder}/{path.lstrip('/')}", content) for path, content in files.items())


def _tar(files: Iterable[tuple[str, Content]]) -> Iterator[bytes]:
    """An archive as a stream. All files are root's, and those that begin with #! are executable."""
    for name, content in files:
        info = tarfile.TarInfo(name)
        info.mtime = _LONG_AGO
        if name.endswith("/"):
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            yield info.tobuf(tarfile.PAX_FORMAT)
        elif isinstance(content, bytes):
            info.size, info.mode = len(content), _mode(content)
            yield info.tobuf(tarfile.PAX_FORMAT) + content + bytes(-info.size % tarfile.BLOCKSIZE)
        else:
            yield from _tar_file(info, content)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _tar_file(info: tarfile.TarInfo, path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        info.size, info.mtime = status.st_size, status.st_mtime_ns // _SECOND
        block, left = file.read(_BLOCK), info.size
        info.mode = _mode(block)
        yield info.tobuf(tarfile.PAX_FORMAT)
        while block:
            left -= len(block)
            yield block
            block = file.read(_BLOCK)
    if left:
        raise DataError(f"{path} was changed while it was read", fix="Export again.")
    yield bytes(-info.size % tarfile.BLOCKSIZE)


def _mode(start: bytes) -> int:
    return 0o755 if start.startswith(b"#!") else 0o644


def _blocks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer pieces, as each is sent by itself."""
    gathered, size = [], 0
    for part in parts:
        gathered.append(part)
        size += len(part)
        if size >= _BLOCK:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)
