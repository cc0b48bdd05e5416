"""A gateway behind a company's walls: the endpoint has a certificate of an own CA, and only a proxy leads to it."""

from __future__ import annotations

import gc
import json
import shutil
import socket
import ssl
import subprocess
import sys
import time

import pytest

from mlecore.controller.model_check import check_models
from mlecore.errors import EndpointError
from mlecore.model.model_access import ModelAccess, gateway, token
from mlecore_gateway.settings import read_settings
from mlecore_jobs import relay
from mlecore_sandboxes.machine import Machine

from .conftest import CHAT, Front, endpoint, running, write_reply

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")

JOB = "mle-behind-walls-1"
NEW = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -batch -days 1"


@pytest.fixture
def address() -> str:
    """One of this machine's that is not its loopback, to which no proxy leads."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        try:
            link.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but its loopback")
        return str(link.getsockname()[0])


@pytest.fixture
def walled(address, tmp_path, monkeypatch):
    """(access to an endpoint with TLS, the User-Agents that asked it), with the CA's certificate in ca.pem."""
    for argv in (
        f"{NEW} -x509 -subj /CN=own-ca -keyout ca.key -out ca.pem",
        f"{NEW} -x509 -subj /CN=models -CA ca.pem -CAkey ca.key -addext subjectAltName=IP:{address} "
        "-addext basicConstraints=critical,CA:FALSE -keyout server.key -out server.pem",
    ):
        subprocess.run(argv.split(), cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    monkeypatch.setenv("TEST_WALLS_KEY", "sk-real")
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    asked = []

    def answer(handler, _):
        asked.append(handler.headers["User-Agent"])
        handler.close_connection = True
        write_reply(handler, b'{"choices": [{"message": {"content": "hello"}}]}', Connection="close")

    with endpoint(answer, address, context) as url:
        yield ModelAccess(endpoint=f"{url}/v1", key="TEST_WALLS_KEY", models=("scripted",)), asked


def ask(access: ModelAccess, folder) -> tuple[int, bytes]:
    """One call through a gateway that is set up from this process's variables."""
    settings = read_settings(gateway(access, JOB, listen="-", folder="-").settings)
    with running(settings, folder) as port:
        status, _, body = Front(port, folder, None).ask(body=CHAT, token=token(access, JOB))
    return status, body


def test_calls_go_through_the_proxy_and_trust_the_ca(walled, tmp_path, monkeypatch):
    access, asked = walled
    log = tmp_path / "proxy.jsonl"
    allow = access.endpoint.removeprefix("https://").partition("/")[0]
    argv = [sys.executable, "-I", "-S", relay.__file__, "--listen", "127.0.0.1:0", "--allow", allow, "--log", str(log)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as proxy:
        monkeypatch.setenv(
            "HTTPS_PROXY", "http://127.0.0.1:" + proxy.stderr.readline().rpartition(", ")[2].strip(")\n")
        )
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        status, body = ask(access, tmp_path)
        assert status == 200 and json.loads(body)["choices"][0]["message"]["content"] == "hello"
        said: list[str] = []
        check_models([access], Machine({}), said.append)  # the same way before the runs start
        assert said == [f"scripted answers at {access.endpoint}"] and len(asked) == 2
        for _ in range(600):  # the proxy logs a connection once it is closed
            if len(lines := [json.loads(line) for line in log.read_text().splitlines()]) == 2:
                break
            gc.collect()  # a connection whose TLS had not ended when the gateway's loop did is closed with its object
            time.sleep(0.1)
        proxy.terminate()
    assert all(line["verdict"].startswith("allowed") and line["received"] > 0 for line in lines) and len(lines) == 2


def test_without_the_ca_nothing_is_sent(walled, tmp_path):
    access, asked = walled
    status, body = ask(access, tmp_path)
    assert status == 502 and b"certificate" in body.lower()
    with pytest.raises(EndpointError, match="certificate"):
        check_models([access], Machine({}), print)
    assert asked == []
