"""Finished images as SIF files, which Apptainer starts without unpacking them; each is fetched once."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

from mlecore.errors import BackendError
from mlecore.model.backends import Image
from mlecore.util.child_environment import child_environment
from mlecore_sandboxes import apptainer, environments, folders, view

_LOCAL = ("docker-archive:", "oci-archive:", "oci:")
_SIF = "image.sif"
_END = 600  # characters of what Apptainer said last


def source(text: str) -> str:
    """What an option means, for every machine: names are those of Docker, paths absolute. Raises BackendError."""
    scheme = next((scheme for scheme in _LOCAL if text.startswith(scheme)), "")
    named = text.removeprefix(scheme)
    if not (scheme or named.startswith(("/", ".", "~")) or (named.endswith(".sif") and "://" not in named)):
        return named if "://" in named else f"docker://{named}"
    file, *more = named.split(":", 1) if scheme else [named]  # after an archive's own name, one in it
    path = Path(file).expanduser().absolute()
    if not path.exists():
        raise BackendError(f"there is no image {path}", fix="Name a SIF file, a sandbox folder or docker://NAME.")
    return scheme + ":".join([str(path), *more])


def build(image: str, root: Path, log: Path) -> Image:
    """Fetch ``image``, as ``source`` names it, once; a SIF file stays where it is. Raises BackendError."""
    if (problem := apptainer.problem()) is not None:
        raise BackendError(f"no images here: {problem.description}", fix=problem.fix)
    path = Path(image)
    is_sif = path.is_file()
    facts = [image, *((path.stat().st_size, path.stat().st_mtime_ns) if is_sif else ())]
    target = root / "envs" / hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    folders.make_private(target.parent)

    def fetch() -> dict[str, object]:
        file = path if is_sif else _fetched(image, target / _SIF, log)
        digest = hashlib.sha256()
        with file.open("rb") as content:
            while chunk := content.read(1 << 20):
                digest.update(chunk)
        return {"asked": [image], "installed": [], "digest": f"sha256:{digest.hexdigest()}", "image": str(file)}

    return environments.built_once(target, fetch)


def copy_home(image: Path, home: Path) -> None:
    """What an image has at /home, where a job's own folder lies, to that folder; nothing there is replaced.

    The image's own ``cp`` does it, inside, so that links lead nowhere else. Raises BackendError.
    """
    argv = apptainer.exec_line([view.Shown(Path(apptainer.INSIDE), home, "write")], own_network=True)
    copy = f"[ ! -d /home ] || cp -R -P -n /home/. {apptainer.INSIDE}/"
    done = subprocess.run(
        [*argv, str(image), "/bin/sh", "-c", copy],
        env=child_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise BackendError(f"{image} cannot be started: {done.stderr[-_END:].strip()}")


def _fetched(image: str, file: Path, log: Path) -> Path:
    """The names and passwords of registries are those that Apptainer or Docker know of this user."""
    argv = [apptainer.program(), "build", "--disable-cache", str(file), image]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        out.write(f"$ {' '.join(argv)}\n".encode())
        out.flush()
        env = child_environment("APPTAINER_TMPDIR", "APPTAINER_DOCKER_USERNAME", "APPTAINER_DOCKER_PASSWORD")
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)
    if done.returncode or not file.is_file():
        words = log.read_text(errors="replace")[-_END:].strip()
        raise BackendError(f"Apptainer could not fetch {image}: {words}", fix="See the log of the build.")
    return file
