"""A package index and an npm registry that ask for a password, for tests of what installs packages."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from tempfile import TemporaryDirectory
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pypiserver

from mlecore_testing import http_server

NAME = "mlecore-probe"  # of the only package of each
MODULE = "mlecore_probe"
GREEDY = "mlecore-greedy"  # a source distribution
GREEDY_MODULE = "mlecore_greedy"
WHEEL = f"{MODULE}-1.0-py3-none-any.whl"


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *words: object) -> None:
        pass


class _Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def package_index(password: str, host: str = "127.0.0.1") -> Iterator[str]:
    """An index of the one package; yields its address, with the password."""
    with TemporaryDirectory() as folder:
        Path(folder, WHEEL).write_bytes(wheel())
        with serving(Path(folder), password, host) as at:
            yield f"http://user:{password}@{at}/simple"


@contextmanager
def serving(folder: Path, password: str | None = None, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve a folder of packages, to which uploads are added; yields "host:port"."""
    protected = ["download", "list", "update"] if password else []
    app = pypiserver.app(
        roots=[folder],
        authenticate=protected,
        auther=lambda user, given: (user, given) == ("user", password) if password else True,
        backend_arg="simple-dir",
        disable_fallback=True,
        verbosity=0,
    )
    with http_server.serving(make_server(host, 0, app, _Threaded, _Quiet)) as server:
        yield f"{host}:{server.server_port}"


@contextmanager
def npm_registry(password: str, host: str = "127.0.0.1") -> Iterator[str]:
    """What a .npmrc says of it, the password included, while it serves. Its package is a command of the same name."""
    content = tarball()
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()

    def answers(at: str) -> Mapping[str, tuple[bytes, str]]:
        dist = {"tarball": f"http://{at}/{NAME}.tgz", "integrity": f"sha512-{digest}"}
        package = {"name": NAME, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**_PACKAGE, "dist": dist}}}
        page = json.dumps(package).encode()
        return {f"/{NAME}": (page, "application/json"), f"/{NAME}.tgz": (content, "application/octet-stream")}

    with _serving(password, host, answers) as at:
        yield f"registry=http://{at}/\n//{at}/:_auth={_credentials(password)}\n"


@contextmanager
def _serving(password: str, host: str, answers: Callable[[str], Mapping[str, tuple[bytes, str]]]) -> Iterator[str]:
    """Serve what ``answers`` says for "host:port": a body and its type for each path. Yields "host:port"."""

    class Registry(http_server.Handler):
        def do_GET(self) -> None:  # noqa: N802
            body, kind = answers(at).get(self.path, (b"", "text/plain"))
            headers = {"WWW-Authenticate": "Basic", "Content-Type": kind}
            if self.headers.get("Authorization") == f"Basic {_credentials(password)}":
                self.answer(200 if body else 404, body, headers)
            else:
                self.answer(401, headers=headers)

        do_HEAD = do_GET  # noqa: N815

    with http_server.serving(ThreadingHTTPServer((host, 0), Registry)) as server:
        at = f"{host}:{server.server_address[1]}"
        yield at


def _credentials(password: str) -> str:
    return base64.b64encode(f"user:{password}".encode()).decode()


def greedy_sdist() -> tuple[str, bytes]:
    """Name and content of a source distribution whose build collects all that could be the index's password.

    Building and running it requires the index's other package.
    """
    build = f'[build-system]\nrequires = ["{NAME}"]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    texts = {
        "pyproject.toml": f'{build}[project]\nname = "{GREEDY}"\nversion = "1.0"\ndependencies = ["{NAME}"]\n',
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {GREEDY}\nVersion: 1.0\n",
        "backend.py": f"GREEDY, MODULE, NAME = {(GREEDY, MODULE, NAME)}\n{_GREEDY_BACKEND}",
    }
    folder = f"{GREEDY_MODULE}-1.0"
    return f"{folder}.tar.gz", packed({f"{folder}/{name}": text for name, text in texts.items()})


_GREEDY_BACKEND = """
import glob, os, zipfile

def build_wheel(folder, *_):
    found = [repr(dict(os.environ)), __import__(MODULE).VALUE]
    for path in glob.glob("/proc/[0-9]*/*") + glob.glob("/run/mlecore/*") + glob.glob("/packages/**", recursive=True):
        try:
            if not path.startswith("/proc") or path.endswith(("/environ", "/cmdline")):
                found.append(path + open(path, encoding="latin-1").read())
        except OSError:
            pass
    for line in ("--option", "${PIP_INDEX_URL}"):
        if os.path.isdir("/packages/built"):
            open(f"/packages/built/x-1.0\\n{line}.whl", "w").close()
    module, info = GREEDY.replace("-", "_"), GREEDY.replace("-", "_") + "-1.0.dist-info"
    texts = {
        module + ".py": "SEEN = " + repr("".join(found)),
        info + "/METADATA": f"Metadata-Version: 2.1\\nName: {GREEDY}\\nVersion: 1.0\\nRequires-Dist: {NAME}\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    texts[info + "/RECORD"] = "".join(f"{path},,\\n" for path in [*texts, info + "/RECORD"])
    name = module + "-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)
    return name
"""


def wheel() -> bytes:
    """The one package of the index; always the same bytes."""
    out, info = io.BytesIO(), f"{MODULE}-1.0.dist-info"
    texts = {
        f"{MODULE}.py": "VALUE = 'from the index'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name), text)
        record = "".join(f"{name},,\n" for name in [*texts, f"{info}/RECORD"])
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), record)
    return out.getvalue()


# Its script takes what it can find of the registry's password.
_PACKAGE = {
    "name": NAME,
    "version": "1.0.0",
    "bin": {NAME: "main.js"},
    "scripts": {"postinstall": "(env; cat /run/mlecore/*) >seen 2>&1; true"},
}


def tarball() -> bytes:
    """The one package of the registry."""
    main = "#!/usr/bin/env node\nconsole.log('from the registry')\n"
    return packed({"package/package.json": json.dumps(_PACKAGE), "package/main.js": main})


def packed(texts: Mapping[str, str]) -> bytes:
    """A tar.gz of texts in ASCII, by their names."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()
