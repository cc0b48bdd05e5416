"""The program sent to a host: the package ``remote`` and the packages it needs, in one archive named by its digest."""

from __future__ import annotations

import gzip
import hashlib
import io
import shlex
import tarfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import mle_backend_ssh
import mlecore
import mlecore_gateway
import mlecore_jobs
import mlecore_sandboxes

_CORE = ("errors.py", "model/*.py", "util/*.py")
_LIBRARIES = ("attr", "attrs", "packaging")  # pure Python, and at home on 3.9
_EMPTY = ("mlecore/__init__.py", "mle_backend_ssh/__init__.py")  # for the controller only

_RUN = """\
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parent))
from mle_backend_ssh.remote.serve import main
main()
"""

_INSTALL = """\
import hashlib, os, shutil, sys, tarfile, tempfile
if sys.version_info < (3, 9):
    sys.exit("hosts need Python 3.9 or later, but %s is Python %s" % (sys.executable, sys.version.split()[0]))
digest, size = sys.argv[1], int(sys.argv[2])
home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
parent = os.path.join(home, "mlecore", "host")
os.makedirs(parent, exist_ok=True)
folder = os.path.join(parent, digest)
out = sys.stdout.buffer
out.write(b"mlecore-host-1\\n")
there = os.path.isfile(os.path.join(folder, "run.py"))
out.write(b"there\\n" if there else b"send\\n")
out.flush()
if not there:
    made = tempfile.mkdtemp(dir=parent)
    try:
        os.chmod(made, 0o755)
        with tempfile.TemporaryFile(dir=made) as archive:
            known = hashlib.sha256()
            while size:
                chunk = sys.stdin.buffer.read(min(size, 65536))
                if not chunk:
                    sys.exit("the connection ended")
                known.update(chunk)
                archive.write(chunk)
                size -= len(chunk)
            if known.hexdigest() != digest:
                sys.exit("the program arrived damaged")
            archive.seek(0)
            with tarfile.open(fileobj=archive) as members:
                members.extractall(made)
        os.sync()
        try:
            os.rename(made, folder)
        except OSError:
            if not os.path.isdir(folder):
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
out.write(folder.encode() + b"\\n")
"""


def contents() -> dict[str, bytes]:
    """Path in the archive -> content."""
    core, own = (Path(str(module.__file__)).parent for module in (mlecore, mle_backend_ssh))
    paths = [(core.parent, path) for pattern in _CORE for path in core.glob(pattern)]
    paths += [(own.parent, path) for path in (own / "remote").glob("*.py")]
    for module in (mlecore_gateway, mlecore_jobs, mlecore_sandboxes):
        folder = Path(str(module.__file__)).parent
        paths += [(folder.parent, path) for path in folder.rglob("*.py") if path.parent.name != "containers"]
    out = {path.relative_to(root).as_posix(): path.read_bytes() for root, path in paths}
    out |= dict.fromkeys(_EMPTY, b"")
    for library in _LIBRARIES:
        spec = find_spec(library)
        assert spec is not None and spec.origin is not None
        folder = Path(spec.origin).parent
        out |= {f"{library}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in folder.rglob("*.py")}
    return {**out, "run.py": _RUN.encode()}


@cache
def archive() -> tuple[str, bytes]:
    """SHA-256 and bytes of the archive; the same files make the same archive."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(contents().items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    packed = gzip.compress(raw.getvalue(), mtime=0)
    return hashlib.sha256(packed).hexdigest(), packed


def install_command(python: str) -> str:
    """For the host's shell; ``archive()`` is its input if it asks for it, the folder its last line."""
    digest, packed = archive()
    return shlex.join([python, "-I", "-S", "-c", _INSTALL, digest, str(len(packed))])
