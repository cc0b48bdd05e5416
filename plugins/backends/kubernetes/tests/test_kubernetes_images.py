"""Images by digest: what a registry has needs no Docker engine, and what it lacks says what to do."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from mle_backend_kubernetes.images import Images, registry_digest
from mle_backend_kubernetes.settings import Settings

from mlecore.agents import Recipe
from mlecore.errors import BackendError, BackendUnreachable

DIGEST = "sha256:" + "0" * 64


class Registry(BaseHTTPRequestHandler):
    """Has every tag but ``missing``; gives a private image's digest only to whoever shows a token for it."""

    server: Server

    def do_HEAD(self) -> None:
        token = self.headers.get("authorization")
        _, _, name = self.path.partition("/v2/")
        if name.startswith("private/") and token != "Bearer for-user-and-private":
            self._answer(401, "www-authenticate", f'Bearer realm="{self.server.url}/token",scope="private"')
        elif name.endswith("/missing") or not self.server.has:
            self._answer(404)
        else:
            self._answer(self.server.code, "docker-content-digest", DIGEST)

    def do_GET(self) -> None:
        login = base64.b64decode(self.headers.get("authorization", "").partition(" ")[2]).decode()
        body = json.dumps({"token": f"for-{login.partition(':')[0]}-and-{self.path.partition('scope=')[2]}"}).encode()
        self._answer(200, "content-length", str(len(body)))
        self.wfile.write(body)

    def _answer(self, code: int, name: str = "x", value: str = "") -> None:
        self.send_response(code)
        self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    code, has = 200, True

    @property
    def host(self) -> str:
        return f"localhost:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """A registry; there is no Docker engine, and a login of `docker login`."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with Server(("127.0.0.1", 0), Registry) as server:
        login = base64.b64encode(b"user:secret").decode()
        (tmp_path / "config.json").write_text(json.dumps({"auths": {server.host: {"auth": login}}}))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_what_the_registry_has_is_used_by_digest_and_without_an_engine(server: Server, tmp_path: Path) -> None:
    images = Images(Settings.of({"registry": f"{server.host}/lab"}))
    for recipe in (Recipe(), Recipe(pip=("pandas",))):
        found = images.build(recipe, tmp_path / "log")
        assert found.ref.startswith(f"{server.host}/lab/") and found.ref.endswith(f"@{DIGEST}")
        assert found.digest == DIGEST and images.built_here(found.ref)
    assert images.helper().endswith(DIGEST) and images.gateway().endswith(DIGEST)


def test_what_it_lacks_is_built_where_there_is_an_engine(server: Server, tmp_path: Path) -> None:
    server.has = False
    with pytest.raises(BackendError, match="no Docker engine here to build it") as raised:
        Images(Settings.of({"registry": server.host})).build(Recipe(), tmp_path / "log")
    assert raised.value.fix and "mlecore images push --registry" in raised.value.fix


@pytest.mark.parametrize(
    ("given", "ref"),
    [
        ("{host}/team/agent:1", "{host}/team/agent@{digest}"),
        ("{host}/agent", "{host}/agent@{digest}"),
        ("{host}/agent:missing", "{host}/agent:missing"),  # perhaps the cluster finds it elsewhere
        ("elsewhere.example.com/a@sha256:1", "elsewhere.example.com/a@sha256:1"),
        ("python:3.11", "python:3.11"),  # whose registry only the nodes know
    ],
)
def test_a_finished_image_is_pinned_where_its_registry_can_be_asked(
    server: Server, tmp_path: Path, given: str, ref: str
) -> None:
    images = Images(Settings.of({"image": given.format(host=server.host)}))
    found = images.build(Recipe(pip=("never-built",)), tmp_path / "log")
    assert found.ref == ref.format(host=server.host, digest=DIGEST)
    assert not images.built_here(found.ref)


def test_without_a_registry_only_the_base_image_can_be_had(tmp_path: Path) -> None:
    images = Images(Settings.of({"base": "python:3.12"}))
    assert images.build(Recipe(), tmp_path / "log").ref == images.helper() == "python:3.12"
    with pytest.raises(BackendError, match="there is no registry"):
        images.build(Recipe(pip=("pandas",)), tmp_path / "log")


def test_a_private_image_is_asked_for_with_the_login_that_docker_has(server: Server) -> None:
    assert registry_digest(f"{server.host}/private/agent:1") == DIGEST


@pytest.mark.parametrize(("code", "error"), [(503, BackendUnreachable), (403, BackendError)])
def test_a_registry_that_fails_is_asked_again_and_one_that_refuses_is_not(
    server: Server, code: int, error: type[BackendError]
) -> None:
    server.code = code
    with pytest.raises(BackendError) as raised:
        registry_digest(f"{server.host}/agent:1")
    assert type(raised.value) is error


def test_a_registry_that_is_away_is_waited_for(server: Server) -> None:
    host = server.host
    server.shutdown()
    server.server_close()
    with pytest.raises(BackendUnreachable, match=host):
        registry_digest(f"{host}/agent:1")
