"""A job's files, packed for ``stage``: in a ConfigMap if they are small, else on the job's claim."""

from __future__ import annotations

import base64
import io
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO

from mle_backend_kubernetes.manifests import STDIN
from mlecore.model.backends import Job
from mlecore.util import globs
from mlecore_jobs import confining, hardware, relay, seccomp, walking
from mlecore_sandboxes.containers import add, below_home

IN_MEMORY = 16 * 1024 * 1024
SMALL = 700_000  # bytes; a ConfigMap holds 1 MiB, encoded


@cache
def programs(with_relay: bool = False) -> dict[str, bytes]:
    """What helper pods run, by file name."""
    return {"helper.pyz": program(), **({"relay.py": Path(relay.__file__).read_bytes()} if with_relay else {})}


@cache
def program() -> bytes:
    """The package ``program`` as one file that Python runs."""
    ours = Path(__file__).parent
    files = {f"{ours.name}/program/{path.name}": path for path in sorted((ours / "program").glob("*.py"))}
    for module in (globs, confining, hardware, seccomp, walking):
        files[f"{module.__name__.replace('.', '/')}.py"] = Path(str(module.__file__))
    files["__main__.py"] = ours / "program" / "__main__.py"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in files.items():
            packed.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
        for package in sorted({f"{above}/__init__.py" for name in files for above in PurePosixPath(name).parents}):
            if package not in (*files, "./__init__.py"):
                packed.writestr(zipfile.ZipInfo(package), "")
    return out.getvalue()


def inline() -> list[dict[str, str]]:
    """The variable that ``manifests.inline_command`` runs."""
    return [{"name": "HELPER", "value": base64.b64encode(program()).decode()}]


def pack(job: Job) -> tuple[IO[bytes], dict[str, str]]:
    """A packed archive of home and tools, and the tools that stage finds among the public data instead."""
    from_data: dict[str, str] = {}
    out: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:
        for name, content in job.tools.items():
            inside = _among(content, job.dataset.public)
            if inside is None:
                add(tar, f"tools/{below_home(name)}", content)
            else:
                from_data[below_home(name)] = inside
        if job.stdin:
            add(tar, f"tools/{STDIN}", job.stdin)
        for name, content in job.files.items():
            add(tar, f"home/{below_home(name)}", content)
    out.seek(0)
    return out, from_data


def _among(content: bytes | Path, public: Path) -> str | None:
    """The path of a file among the public data, which need not be sent again."""
    if isinstance(content, Path):
        path, root = content.resolve(), public.resolve()
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return None
