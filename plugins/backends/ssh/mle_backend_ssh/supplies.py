"""What hosts have before jobs start there: competitions' data, and what agents start from."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Collection
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from attrs import evolve

from mle_backend_ssh.members import Member, ask_all, begin
from mlecore.agents import Recipe
from mlecore.backends import Dataset, Image, Progress
from mlecore.errors import BackendError


class Data:
    """Which hosts have which data. Each is sent once, in the background. Thread-safe."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], Future[str]] = {}  # by a dataset's identity and host
        self._lock = threading.Lock()

    def send(self, member: Member, dataset: Dataset, progress: Progress = lambda *_: None) -> Future[str]:
        """The folder there, once it is complete. A transfer that failed is begun again."""
        key = (_identity(dataset), member.name)
        with self._lock:
            known = self._sent.get(key)
            if known is not None and not (known.done() and known.exception()):
                return known
            sending = partial(member.call, lambda host: host.stage_data(dataset, progress))
            future = self._sent[key] = begin(f"send to {member.name}", sending)
        return future

    def is_on(self, member: Member, dataset: Dataset) -> bool:
        sent = self._sent.get((_identity(dataset), member.name))
        return sent is not None and sent.done() and not sent.exception()


class Images:
    """What the hosts made of recipes. ``Image.ref`` says it in JSON, by host."""

    def __init__(self) -> None:
        self._recipes: dict[str, Recipe] = {}  # by Image.ref
        self._later: dict[tuple[str, str], Image] = {}  # by Image.ref and host, of hosts that it does not name

    def build(self, recipe: Recipe, members: Collection[Member], log: Path) -> Image:
        """Raises BackendError if no host can build it."""
        errors: list[BackendError] = []
        writing = threading.Lock()
        log.parent.mkdir(parents=True, exist_ok=True)

        def build(member: Member) -> Image | None:
            with tempfile.TemporaryDirectory() as folder:
                part = Path(folder) / "build.log"
                try:
                    return member.call(lambda host: host.build(recipe, part))
                except BackendError as error:
                    errors.append(error)
                    return None
                finally:
                    with writing, log.open("ab") as out:
                        out.write(f"== {member.name}\n".encode() + (part.read_bytes() if part.exists() else b""))

        images = {member.name: image for member, image in ask_all(members, build) if image is not None}
        if not images:
            raise errors[0]
        ref = json.dumps({name: image.ref for name, image in images.items()})
        self._recipes[ref] = recipe
        digests = sorted({image.digest for image in images.values()})
        installed = tuple(dict.fromkeys(line for image in images.values() for line in image.installed))
        digest = digests[0] if len(digests) == 1 else hashlib.sha256(json.dumps(digests).encode()).hexdigest()
        return Image(ref=ref, digest=digest, installed=installed)

    def on(self, member: Member, image: Image, log: Path) -> Image:
        """What a host starts; one that did not answer when the others built it builds it now."""
        images = json.loads(image.ref)
        if member.name in images:
            return evolve(image, ref=images[member.name])
        known = self._later.get((image.ref, member.name))
        if known is None:
            recipe = self._recipes.get(image.ref)
            if recipe is None:
                raise BackendError(f"{member.name} has not built what the agent starts from")
            known = self._later[image.ref, member.name] = member.call(lambda host: host.build(recipe, log))
        return known

    def forget(self, member: Member, image: Image) -> None:
        """The host has it no more."""
        self._later.pop((image.ref, member.name), None)


def _identity(dataset: Dataset) -> str:
    return f"{dataset.competition} {dataset.edition} {dataset.digest}"
