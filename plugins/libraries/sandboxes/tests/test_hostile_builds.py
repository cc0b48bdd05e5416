"""Packages whose code runs while they are built, and looks around: at keys, files, the network, the cache."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore_jobs.supervise import slirp
from mlecore_sandboxes import environments
from mlecore_sandboxes.installing import find_uv
from mlecore_testing.package_index import MODULE, NAME, WHEEL, packed, serving, wheel

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_uv() is None, reason="uv not found")]
KEYS = {
    "OPENAI_API_KEY": "canary-openai",
    "ANTHROPIC_API_KEY": "canary-anthropic",
    "KAGGLE_KEY": "canary-kaggle",
    "AWS_SECRET_ACCESS_KEY": "canary-aws",
    "HF_TOKEN": "canary-hf",
    "MY_SECRET": "canary-mine",
    "UV_PUBLISH_TOKEN": "canary-publish",
    "NPM_CONFIG__AUTH": "canary-npm",
}
# A build backend of its own: building it runs this text, and needs nothing from any other place.
BACKEND = """
import glob, json, os, socket, zipfile

def look():
    seen = {"environment": dict(os.environ), "processes": [], "files": {}, "reached": [], "written": []}
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            seen["processes"].append(open(path).read())
        except OSError:
            pass
    for path in PLANTED:
        try:
            seen["files"][path] = open(path).read()
        except OSError:
            pass
    for port in PORTS:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=60).close()
            seen["reached"].append(port)
        except OSError:
            pass
    for folder in FOLDERS:
        try:
            open(os.path.join(folder, "planted"), "w").write("planted")
            seen["written"].append(folder)
        except OSError:
            pass
    return seen

def build_wheel(folder, *_):
    name = "evil-1.0-py3-none-any.whl"
    texts = {
        "evil.py": "FOUND = " + repr(json.dumps(look())),
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: evil\\nVersion: 1.0\\n",
        "evil-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    MORE
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)
        archive.writestr("evil-1.0.dist-info/RECORD", "".join(f"{path},,\\n" for path in texts))
    return name
"""
PASSWORD = "open-sesame"


def sdist(planted: list[str] = [], ports: list[int] = [], folders: list[str] = [], more: str = "pass") -> bytes:  # noqa: B006
    code = f"PLANTED, PORTS, FOLDERS = {planted}, {ports}, {folders}\n" + BACKEND.replace("MORE", more)
    texts = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "evil"\nversion = "1.0"\n',
        "backend.py": code,
        "PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    }
    return packed({f"evil-1.0/{name}": text for name, text in texts.items()})


class Index:
    """A package index on this machine's loopback, with a password, and the folder that it serves."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.port = folder, int(address.rpartition(":")[2])

    def offer(self, sdist: bytes) -> None:
        (self.folder / "evil-1.0.tar.gz").write_bytes(sdist)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / WHEEL).write_bytes(wheel())
    with serving(folder, PASSWORD) as address:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://user:{PASSWORD}@{address}/simple")
        monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
        for name, value in KEYS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("HTTPS_PROXY", "http://user:canary-proxy@127.0.0.1:9")
        yield Index(folder, address)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


def build(root: Path, *pip: str, **more: Any) -> Path:
    return Path(environments.build(Recipe(pip=pip, **more), root, root / "build.log").ref)


def found(environment: Path) -> dict[str, Any]:
    (text,) = environment.glob("lib/python*/site-packages/evil.py")
    values: dict[str, Any] = {}
    exec(text.read_text(), values)
    seen: dict[str, Any] = json.loads(values["FOUND"])
    return seen


@pytest.mark.sandbox
def test_code_of_a_package_has_no_key_but_the_index_s(root: Path, index: Index) -> None:
    index.offer(sdist())
    environment = build(root, "evil")
    seen = found(environment)
    env = seen["environment"]
    assert [name for name, value in env.items() if "canary" in value] == ["HTTPS_PROXY"], "the installer's own"
    assert PASSWORD in env["PIP_INDEX_URL"], "stated in docs/vm.md"
    said = "".join(seen["processes"])
    assert seen["processes"] and not [key for key in KEYS.values() if key in said]
    assert {path.lstat().st_uid for path in environment.rglob("*")} == {os.geteuid()}, "what was built is ours again"
    assert not list((root / "new").iterdir())


@pytest.mark.sandbox
def test_code_of_a_package_sees_no_file_of_the_user(root: Path, index: Index, tmp_path: Path) -> None:
    planted = [tmp_path / "data" / "private" / "answers.csv", root / "jobs" / "x" / "home" / "notes"]
    planted += [Path.home() / f".mlecore-test-{os.getpid()}"]
    for path in planted:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    other = build(root, files={"/srv/tool": b"x"})
    closed = [
        root,
        other,
        root / "envs",
        root / "cache",
        tmp_path,
        *map(Path, ("/", "/usr", "/etc", "/proc/sys/kernel")),
    ]
    try:
        index.offer(sdist(list(map(str, planted)), folders=["/cache", *map(str, closed)]))
        seen = found(build(root, "evil"))
    finally:
        planted[-1].unlink()
    assert seen["files"] == {}
    assert not [folder for folder in closed if (folder / "planted").exists()]
    assert "/cache" in seen["written"], "its own cache"


@pytest.mark.sandbox
@pytest.mark.skipif(not slirp.is_there(), reason="a network of its own needs slirp4netns and /dev/net/tun")
def test_code_of_a_package_reaches_no_service_of_this_machine_but_the_index(root: Path, index: Index) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        port = service.getsockname()[1]
        index.offer(sdist(ports=[port, index.port]))
        assert found(build(root, "evil"))["reached"] == [index.port]


@pytest.mark.sandbox
def test_code_of_a_package_cannot_change_what_later_builds_install(root: Path, index: Index) -> None:
    build(root, NAME)
    before = contents(root / "cache")
    evil = """
    for top in ("/cache", os.environ.get("UV_CACHE_DIR", "/cache"), "/home"):
        for where, _, names in os.walk(top):
            for each in names:
                try:
                    open(os.path.join(where, each), "a").write("poisoned")
                except OSError:
                    pass
"""
    index.offer(sdist(more=evil.strip()))
    with contextlib.suppress(BackendError):  # it has ruined its own cache, from which uv still has to install
        build(root, NAME, "evil")
    assert "Built evil" in (root / "build.log").read_text()
    after = contents(root / "cache")
    assert {name: digest for name, digest in after.items() if name in before} == before
    assert not [name for name in after if b"poisoned" in (root / "cache" / name).read_bytes()]
    good = build(root, NAME, files={"/srv/y": b"a later recipe"})
    (module,) = good.glob(f"lib/python*/site-packages/{MODULE}.py")
    assert "poisoned" not in module.read_text()


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    kept = (path for path in files if path.suffix not in (".rkyv", ".msgpack"))  # answers of the index
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


@pytest.mark.sandbox
def test_what_code_left_in_its_environment_leads_nowhere(root: Path, index: Index, tmp_path: Path) -> None:
    """It puts links where mlecore writes and reads afterwards."""
    outside = tmp_path / "outside"
    outside.mkdir()
    evil = f"""
    import sys
    target = next(p for p in open("/proc/self/mountinfo").read().split() if "/envs/" in p and p.startswith("/"))
    os.symlink({str(outside)!r}, os.path.join(target, "files"))
    open(target + ".json", "w").write("{{}}") if os.access(os.path.dirname(target), os.W_OK) else None
"""
    index.offer(sdist(more=evil.strip()))
    environment = build(root, "evil", files={"/srv/x": b"tool"})
    assert not list(outside.iterdir()) and (environment / "files" / "0").read_bytes() == b"tool"
    assert json.loads(environments.manifest(environment).read_text())["prefix"]
    links = evil.strip().rpartition("\n")[0].replace('"files"', '"lib/python3.11/site-packages/y-1.dist-info/RECORD"')
    links = links.replace(
        "os.symlink(", 'os.makedirs(target + "/lib/python3.11/site-packages/y-1.dist-info"); os.symlink('
    )
    index.offer(sdist(more=links))
    with pytest.raises(BackendError, match="symbolic link"):
        build(root, "evil", files={"/srv/z": b"tool"})
