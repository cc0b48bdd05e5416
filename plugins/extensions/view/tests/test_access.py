"""Nobody gets anything without the token, from another host's name, or by another method than reading."""

from __future__ import annotations

import pytest
from mle_ext_view.app import make_app
from starlette.testclient import TestClient

PAGES = (
    "index.html",
    "g/finished/index.html",
    "g/finished/alpha--optical-digits--0/index.html",
    "g/finished/alpha--optical-digits--0/log.html",
    "g/finished/alpha--optical-digits--0/log.part",
    "events",
    "pages.css",
    "view.js",
)


@pytest.mark.parametrize("token", ["", "wrong", "t0ke", "t0kenn", "%74oken", "é"])
def test_without_the_token_there_is_nothing(runs, token: str) -> None:
    client = TestClient(make_app(runs, "t0ken"), base_url="http://127.0.0.1")
    for page in PAGES:
        answer = client.get(f"/{token}/{page}" if token else f"/{page}")
        assert answer.status_code == 403
        assert "finished" not in answer.text and "body" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "[", "", "127.0.0.1@evil.example:1"]
)
def test_another_name_of_this_machine_is_rejected(client: TestClient, host: str) -> None:
    assert client.get("index.html", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:9", "[::1]:9"])
def test_a_forwarded_port_works(client: TestClient, host: str) -> None:
    assert client.get("index.html", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_pages_can_only_be_read(client: TestClient, method: str) -> None:
    assert client.request(method, "index.html").status_code == 405


def test_every_answer_has_the_headers_that_protect_it(client: TestClient) -> None:
    for address, status in (("index.html", 200), ("g/none/index.html", 404), ("nothing", 404), ("../index.html", 403)):
        answer = client.get(address)
        assert answer.status_code == status, address
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
        assert "set-cookie" not in answer.headers
