"""Images by digest: what a registry has needs no Docker engine, and what it lacks says what to do."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.registry import registry_image
from mle_backend_kubernetes.settings import Settings

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore_sandboxes.containers.names import INSTALLED as INSTALLED_LABEL
from mlecore_testing.http_server import Handler, serving

DIGEST = "sha256:" + "0" * 64


INSTALLED = ["CPython 3.12.1", "Linux x86_64 glibc 2.36", "numpy==2.0"]


class Registry(Handler):
    """Has every tag but ``missing``; gives a private image only to whoever shows a token for it.

    Blobs are elsewhere: the registry redirects to the same server under another name, which must not get the token.
    """

    server: Server

    def do_GET(self) -> None:  # noqa: N802
        token = self.headers.get("authorization", "")
        name = self.path.partition("/v2/")[2]
        if self.path.startswith("/token"):
            login = base64.b64decode(token.partition(" ")[2]).decode()
            self._answer(200, {"token": f"for-{login.partition(':')[0]}-and-{self.path.partition('scope=')[2]}"})
        elif self.path == "/storage":
            labels = {INSTALLED_LABEL: self.server.label}
            self._answer(403 if token else 200, {"config": {"Labels": labels}})
        elif name.startswith("private/") and token != "Bearer for-user-and-private":
            challenge = f'Bearer realm="{self.server.url}/token",scope="private"'
            self._answer(401, headers={"www-authenticate": challenge})
        elif "/blobs/" in name:
            self._answer(307, headers={"location": f"{self.server.storage or self.server.elsewhere}/storage"})
        elif name.endswith("/missing") or not self.server.has:
            self._answer(404)
        else:
            body = {"config": {"digest": "sha256:c"}}
            self._answer(self.server.code, body, {"docker-content-digest": DIGEST})

    def _answer(self, code: int, body: object = None, headers: Mapping[str, str] | None = None) -> None:
        self.answer(code, json.dumps(body).encode(), headers)


class Server(ThreadingHTTPServer):
    code, has = 200, True
    label, storage = json.dumps(INSTALLED), ""

    @property
    def host(self) -> str:
        return f"localhost:{self.server_port}"

    @property
    def elsewhere(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """A registry; there is no Docker engine, and a login of `docker login`."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with serving(Server(("127.0.0.1", 0), Registry)) as server:
        login = base64.b64encode(b"user:secret").decode()
        (tmp_path / "config.json").write_text(json.dumps({"auths": {server.host: {"auth": login}}}))
        yield server


def test_what_the_registry_has_is_used_by_digest_and_without_an_engine(server: Server, tmp_path: Path) -> None:
    images = Images(Settings(registry=f"{server.host}/lab"))
    for recipe in (Recipe(), Recipe(pip=("pandas",))):
        found = images.build(recipe, tmp_path / "log")
        assert found.ref.startswith(f"{server.host}/lab/") and found.ref.endswith(f"@{DIGEST}")
        assert found.digest == DIGEST and images.built_here(found.ref)
        assert list(found.installed) == INSTALLED
    assert images.helper().endswith(DIGEST) and images.gateway().endswith(DIGEST)


def test_what_it_lacks_is_built_where_there_is_an_engine(server: Server, tmp_path: Path) -> None:
    server.has = False
    with pytest.raises(BackendError, match="no Docker engine here to build it") as raised:
        Images(Settings(registry=server.host)).build(Recipe(), tmp_path / "log")
    assert raised.value.fix and "mlecore images push --registry" in raised.value.fix


@pytest.mark.parametrize(
    ("given", "ref"),
    [
        ("{host}/team/agent:1", "{host}/team/agent@{digest}"),
        ("{host}/agent", "{host}/agent@{digest}"),
        ("elsewhere.example.com/a@sha256:1", "elsewhere.example.com/a@sha256:1"),
        ("python:3.11", "python:3.11"),  # whose registry only the nodes know
    ],
)
def test_a_finished_image_is_pinned_where_its_registry_can_be_asked(
    server: Server, tmp_path: Path, given: str, ref: str
) -> None:
    images = Images(Settings(image=given.format(host=server.host)))
    found = images.build(Recipe(pip=("never-built",)), tmp_path / "log")
    assert found.ref == ref.format(host=server.host, digest=DIGEST)
    assert not images.built_here(found.ref) and found.installed == ()


def test_a_finished_image_that_its_registry_lacks_is_refused_at_once(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="agent:missing"):
        Images(Settings(image=f"{server.host}/agent:missing")).build(Recipe(), tmp_path / "log")


def test_a_storage_of_blobs_that_cannot_be_reached_keeps_no_image_away(server: Server) -> None:
    server.storage = "http://127.0.0.1:9"
    found = registry_image(f"{server.host}/agent:1")
    assert found and found.digest == DIGEST and found.installed == ()


def test_without_a_registry_only_the_base_image_can_be_had(tmp_path: Path) -> None:
    images = Images(Settings(base="python:3.12"))
    assert images.build(Recipe(), tmp_path / "log").ref == images.helper() == "python:3.12"
    with pytest.raises(BackendError, match="there is no registry"):
        images.build(Recipe(pip=("pandas",)), tmp_path / "log")


def test_a_private_image_is_asked_for_with_the_login_that_docker_has(server: Server) -> None:
    found = registry_image(f"{server.host}/private/agent:1")
    assert found and found.digest == DIGEST and list(found.installed) == INSTALLED


@pytest.mark.parametrize("label", ["{", "[1, null]"])
def test_a_label_that_is_no_list_of_packages_says_nothing(server: Server, label: str) -> None:
    server.label = label
    found = registry_image(f"{server.host}/agent:1")
    assert found and found.installed == ()


@pytest.mark.parametrize(("code", "error"), [(503, BackendUnreachable), (403, BackendError)])
def test_a_registry_that_fails_is_asked_again_and_one_that_refuses_is_not(
    server: Server, code: int, error: type[BackendError]
) -> None:
    server.code = code
    with pytest.raises(BackendError) as raised:
        registry_image(f"{server.host}/agent:1")
    assert type(raised.value) is error
