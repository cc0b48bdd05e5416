"""Images from recipes: built once, and named by the hash of all that goes into them."""

from __future__ import annotations

import getpass
import hashlib
import io
import json
import os
import shlex
import sys
import tarfile
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from attrs import field, frozen

from mlecore.errors import BackendError, BackendUnreachable, UsageError
from mlecore.model.agents import Recipe
from mlecore.model.backends import CachedImage, Image
from mlecore_jobs.mirrors import mirrors
from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine, locked
from mlecore_sandboxes.containers.installed import as_label, from_labels, installed
from mlecore_sandboxes.containers.installing import PIP, install
from mlecore_sandboxes.containers.settings import ImageSettings

BUNDLE = "/usr/local/share/ca-certificates/mlecore.crt"
TRUSTED = "/etc/ssl/certs/mlecore-bundle.pem"
_FORM = 2  # of what a build makes of a context; images of an older one are built again
SHOWN = 30  # lines of a failed build's log


@frozen(kw_only=True)
class Context:
    """What the engine gets to build from: Dockerfile and files."""

    lines: Sequence[str]  # of the Dockerfile
    files: Mapping[str, bytes] = field(factory=dict)  # name in the context -> content
    recipe: Recipe = field(factory=Recipe)
    installs: Sequence[str] = ()  # the lines that install the recipe's pip and npm packages, which follow each other

    @property
    def dockerfile(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def digest(self) -> str:
        digest = hashlib.sha256(f"{_FORM}\0{self.dockerfile}".encode())
        for name, content in sorted(self.files.items()):
            digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    @property
    def tag(self) -> str:
        return f"{names.REPOSITORY}:{self.digest[:12]}"


def owner() -> str:
    """Whose images are ours: this user's, built by this installation (environment) of mlecore."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in containers
        user = str(os.getuid())
    return f"{user}:{sys.prefix}".replace("$", "")  # a Dockerfile would take it for a variable


def context(recipe: Recipe, settings: ImageSettings) -> Context:
    """The build that a recipe and the settings make. Raises UsageError for a recipe that cannot be."""
    packages = (*recipe.apt, *recipe.pip, *recipe.pip_alone, *recipe.npm)
    for text in (*packages, *recipe.programs, *recipe.files, recipe.base or ""):
        if any(ord(character) < 32 for character in text):
            raise UsageError(f"a recipe has {text!r}, with a control character in it")
    files: dict[str, bytes] = {}
    lines = [
        f"FROM {recipe.base or settings.base}",
        f"LABEL {names.ROLE}=image",
        "USER 0",
        # A name for the agent's user id, which some programs insist on.
        "RUN grep -q '^nonroot:' /etc/passwd"
        " || echo 'nonroot:x:1000:1000::/home/agent:/bin/sh' >>/etc/passwd;"
        " grep -q '^nonroot:' /etc/group || echo 'nonroot:x:1000:' >>/etc/group",
    ]
    if settings.ca_bundle is not None:
        files["ca.pem"] = settings.ca_bundle.read_bytes()
        lines += _trust()
    if recipe.apt:
        lines.append(f"RUN {_apt(_words(recipe.apt))}")
    if recipe.pip or recipe.pip_alone:
        lines.append(f"RUN {_PYTHON}")
    if recipe.npm:
        lines.append(f"RUN command -v npm >/dev/null || {{ {_apt('nodejs npm')}; }}")
    installs = [
        f"RUN printf '%s\\n' {_words(wanted)} | {PIP} install --no-cache-dir {options}-r /dev/stdin"
        for options, wanted in (("", recipe.pip), ("--no-deps ", recipe.pip_alone))
        if wanted
    ]
    if recipe.npm:
        npm = "npm install --global --no-fund --no-audit"
        installs.append(f"RUN {npm} {_words(recipe.npm)} && npm cache clean --force")
    lines += installs
    if recipe.files:
        files["files.tar"] = _tar({_absolute(path): content for path, content in sorted(recipe.files.items())})
        lines.append("ADD files.tar /")  # unpacked there; COPY would read quotes and dollars in names as its own
    if recipe.programs:
        check = 'command -v "$p" >/dev/null || { echo "the program $p is not on PATH"; exit 1; }'
        lines.append(f"RUN for p in {_words(recipe.programs)}; do {check}; done")
    return Context(lines=lines, files=files, recipe=recipe, installs=installs)


def _words(items: Sequence[str]) -> str:
    return " ".join(shlex.quote(item) for item in items)


def _absolute(path: str) -> str:
    if not path.startswith("/") or ".." in path.split("/"):
        raise UsageError(f"a recipe's file must have an absolute path, not {path!r}")
    return path.lstrip("/")


def _apt(packages: str) -> str:
    return (
        "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends"
        f" {packages} && rm -rf /var/lib/apt/lists/*"
    )


_PYTHON = f"command -v python3 >/dev/null || {{ {_apt('python3 python3-pip')}; }}"


def _trust() -> list[str]:
    """The image's own authorities and the bundle's, in one file that the usual programs are pointed at."""
    variables = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE")
    return [
        f'COPY ["ca.pem", "{BUNDLE}"]',
        f"RUN mkdir -p /etc/ssl/certs; cat /etc/ssl/certs/ca-certificates.crt {BUNDLE} >{TRUSTED} 2>/dev/null"
        f" || cp {BUNDLE} {TRUSTED}; ! command -v update-ca-certificates >/dev/null"
        " || update-ca-certificates >/dev/null",
        "ENV " + " ".join(f"{variable}={TRUSTED}" for variable in variables),
    ]


def build(engine: Engine, settings: ImageSettings, recipe: Recipe, log: Path) -> Image:
    """See Backend.build."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a+", encoding="utf-8") as out:
        if recipe.image is not None:
            return _finished(engine, settings, recipe.image, out)
        return build_context(engine, settings, context(recipe, settings), recipe.base or settings.base, out)


def relay_context(settings: ImageSettings) -> Context:
    """The base image, with a Python where it has none (as bases for GPUs have not)."""
    lines = [f"FROM {settings.base}", f"LABEL {names.ROLE}=image", "USER 0", f"RUN {_PYTHON}"]
    return Context(lines=lines)


def relay_image(engine: Engine, settings: ImageSettings) -> str:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        return build_context(engine, settings, relay_context(settings), settings.base, out).ref


def build_context(engine: Engine, settings: ImageSettings, wanted: Context, base: str, out: IO[str]) -> Image:
    """The image of a context, built unless it is there."""
    # One build of the same image at a time: a second one would leave the first without a name.
    with locked(wanted.digest[:12]):
        found = engine.image(wanted.tag)
        if found is not None:
            out.write(f"{wanted.tag} already exists\n")
        else:
            _ensure(engine, settings, base, out)
            found = _build(engine, wanted, out)
    known = from_labels((found.get("Config") or {}).get("Labels"))
    return Image(ref=wanted.tag, digest=str(found["Id"]), installed=known)


def _finished(engine: Engine, settings: ImageSettings, ref: str, out: IO[str]) -> Image:
    """An image that already exists, as it is. It is started by its digest, whatever becomes of its name."""
    found = _ensure(engine, settings, ref, out)
    id, digests = str(found["Id"]), found.get("RepoDigests") or []
    digest = str(digests[0].partition("@")[2]) if digests else id
    return Image(ref=id, digest=digest, installed=installed(engine, id))


def _ensure(engine: Engine, settings: ImageSettings, ref: str, out: IO[str]) -> dict[str, Any]:
    """The image, pulled where the settings say so."""
    found = engine.image(ref)
    if found is not None and settings.pull != "always":
        return found
    if settings.pull == "never":
        raise BackendError(f"the engine does not have the image {ref}, and pull=never", fix=f"docker pull {ref}")
    _pull(engine, ref, out, " Or name an existing one: -B base=IMAGE." if ref == settings.base else "")
    found = engine.image(ref)
    if found is None:
        raise BackendError(f"the engine pulled {ref} and has no such image")
    return found


def _pull(engine: Engine, ref: str, out: IO[str], alternative: str) -> None:
    from docker.utils import parse_repository_tag

    name, tag = parse_repository_tag(ref)
    out.write(f"pulling {ref}\n")
    try:
        _, problem = follow(engine, out, f"pulling {ref}", "pull", name, tag=tag or "latest", stream=True)
    except BackendError as error:
        if type(error) is not BackendError:
            raise
        problem = error.message
    if problem:
        raise BackendError(
            f"the image {ref} is not at the engine and cannot be pulled: {problem}",
            fix=f"Check its name and your login (docker login).{alternative}",
        )


def follow(engine: Engine, out: IO[str], what: str, method: str, *args: Any, **options: Any) -> tuple[str, str]:
    """Write what the engine says while it pulls, builds or pushes; the result's id or digest, and the last error."""
    import docker.errors

    result = problem = ""
    client = engine.streaming()
    try:
        with engine.request(what):
            for event in getattr(client, method)(*args, decode=True, **options):
                aux = event.get("aux") or {}
                result = str(aux.get("ID") or aux.get("Digest") or result)
                problem = str(event.get("error") or problem)
                if "error" in event or "stream" in event:
                    out.write(str(event.get("stream") or f"{problem}\n"))
                elif "status" in event and "progress" not in event:
                    out.write(f"{event.get('id', '')} {event['status']}\n".lstrip())
    except docker.errors.NotFound as error:
        problem = str(error.explanation or error)
    finally:
        client.close()
    return result, problem


def _build(engine: Engine, wanted: Context, out: IO[str]) -> dict[str, Any]:
    out.write(f"building {wanted.tag}\n{wanted.dockerfile}\n")
    # The owner is not part of the digest: what several users want is built once. It comes first, so that half-built
    # images have it too.
    lines = [wanted.lines[0], f"LABEL {names.OWNER}={json.dumps(owner())}", *wanted.lines[1:]]
    try:
        settings = mirrors(os.environ)
        if settings and wanted.installs:
            start = lines.index(wanted.installs[0])
            image = _build_lines(engine, wanted, lines[:start], out)
            commands = install(engine, image, wanted.recipe, f"mlecore-{wanted.digest[:12]}", settings, out)
            lines = [*commands, *lines[start + len(wanted.installs) :]]
        built = _build_lines(engine, wanted, lines, out)
        labels = {names.RECIPE: wanted.digest, **as_label(installed(engine, built))}
        _build_lines(engine, wanted, [f"FROM {built}"], out, tag=wanted.tag, labels=labels)
        found = engine.image(wanted.tag)
    except BackendError as error:
        if type(error) is not BackendError:
            raise
        found, problem = None, error.message
    else:
        problem = "the engine does not have it"
    if found is None:
        out.seek(0)
        end = "".join(deque(out, maxlen=SHOWN))
        fix = f"The whole log: {out.name}" if isinstance(out.name, str) else None
        raise BackendError(f"an image could not be built: {problem}\n{end.rstrip()}", fix=fix)
    return found


def _build_lines(engine: Engine, wanted: Context, lines: Sequence[str], out: IO[str], **options: Any) -> str:
    """The id of the image of these lines of a Dockerfile. Raises BackendError."""
    dockerfile = "\n".join(lines) + "\n"
    with io.BytesIO(_tar({"Dockerfile": dockerfile.encode(), **wanted.files})) as packed:
        context = {"fileobj": packed, "custom_context": True, "rm": True, "forcerm": True}
        id, problem = follow(engine, out, f"building {wanted.tag}", "build", **context, **options)
    if problem:
        raise BackendError(problem)
    return id


def _tar(files: Mapping[str, bytes]) -> bytes:
    """The same bytes for the same files, all root's."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mode = 0o755 if content.startswith(b"#!") else 0o644
            tar.addfile(info, io.BytesIO(content))
    return into.getvalue()


def cached(engine: Engine) -> list[CachedImage]:
    """Images that mlecore built at this engine, under any name, newest first."""
    with engine.request("listing images"):
        containers = engine.api.containers(all=True)
    used = {each["ImageID"] for each in containers}
    found = [
        CachedImage(
            ref=each["Id"],
            name=", ".join(each.get("RepoTags") or ()) or each["Id"][:19],
            size=int(each["Size"]) - max(0, int(each.get("SharedSize") or 0)),  # layers
            created=float(each["Created"]),
            owner=str(each["Labels"].get(names.OWNER, "")),
            ours=each["Labels"].get(names.OWNER) == owner(),
            used=each["Id"] in used,
        )
        for each in _usage(engine).get("Images") or ()
        if names.RECIPE in (each.get("Labels") or {})
    ]
    return sorted(found, key=lambda each: -each.created)


def prune(engine: Engine, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
    """See ``Backend.prune``."""
    import docker.errors

    before = int(_usage(engine).get("LayersSize") or 0)
    removed = []
    for each in chosen:
        with engine.request(f"removing the image {each.name}"):
            try:
                engine.api.remove_image(each.ref, force="," in each.name)
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:
                if error.status_code == 409:  # a container has begun to use it meanwhile
                    continue
                raise
        removed.append(each)
    with engine.request("removing half-built images"):
        ours = [f"{names.ROLE}=image", f"{names.OWNER}={owner()}"]
        engine.api.prune_images(filters={"dangling": True, "label": ours})
    return removed, max(0, before - int(_usage(engine).get("LayersSize") or 0))


def tag_of(engine: Engine, image: CachedImage) -> str:
    """The name under which we built an image. Raises BackendError if it has lost it."""
    with engine.request(f"looking at the image {image.name}"):
        tags = engine.api.inspect_image(image.ref).get("RepoTags") or ()
    for tag in tags:
        if tag.startswith(f"{names.REPOSITORY}:"):
            return str(tag)
    raise BackendError(f"{image.name} has no name given by mlecore", fix="Build it again: mlecore images build")


def _usage(engine: Engine) -> dict[str, Any]:
    """What images take, by the engine: the whole (``LayersSize``) counts each layer once."""
    with engine.request("asking what images take"):
        found: dict[str, Any] = engine.api.df()
    return found


def target(registry: str, tag: str) -> str:
    """The name of an image in a registry."""
    return f"{registry.rstrip('/')}/{tag}"


def push(engine: Engine, tag: str, registry: str, out: IO[str]) -> str:
    """Push an image of this engine; its reference by digest. The login is that of `docker login`."""
    name = target(registry, tag)
    repository, _, version = name.rpartition(":")
    out.write(f"pushing {name}\n")
    with locked(f"push-{hashlib.sha256(name.encode()).hexdigest()[:12]}"):  # the first push to end takes the name away
        with engine.request(f"naming {name}"):
            if not engine.api.tag(tag, repository, version, force=True):
                raise BackendError(f"the engine cannot tag {tag} as {name}")
        digest, problem = follow(engine, out, f"pushing {name}", "push", repository, version, stream=True)
        with engine.request(f"removing the name {name}"):
            engine.api.remove_image(name, noprune=True)  # the name only: what was built keeps its own
    if any(word in problem for word in ("connection refused", "timeout", "no such host", "EOF", "502", "503")):
        raise BackendUnreachable(f"{registry} does not answer: {problem}", fix="Check that the registry is running.")
    if problem or not digest:
        raise BackendError(
            f"{name} cannot be pushed: {problem or 'the engine gives no digest'}",
            fix=f"Check your right to push: docker login {registry.partition('/')[0]}",
        )
    return f"{repository}@{digest}"
