"""A gateway behind a company's walls: the endpoint has a certificate of an own CA, and only a proxy leads to it."""

from __future__ import annotations

import gc
import ipaddress
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mle_backend_vm.vm_backend import Vm
from mlecore_gateway.settings import read_settings
from mlecore_testing.models import Answer, Model, Script, Usage, scripted_model

from mlecore import relay
from mlecore.controller.model_check import check_models
from mlecore.errors import EndpointError
from mlecore.model_access import ModelAccess, gateway, token

from .conftest import CHAT, Front, running

x509 = pytest.importorskip("cryptography.x509")
JOB = "mle-behind-walls-1"


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
def certificates(address: str, tmp_path: Path) -> tuple[Path, Path]:
    """The CA's certificate; the server's, with its key."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.now(UTC)

    def make(name: str, key: ec.EllipticCurvePrivateKey, issuer: str, signer: ec.EllipticCurvePrivateKey, ca: bool):
        names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in (name, issuer)]
        builder = x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1]).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        # Python 3.13 demands these of a chain.
        own, issuing = (x509.SubjectKeyIdentifier.from_public_key(each.public_key()) for each in (key, signer))
        builder = builder.add_extension(own, critical=False)
        authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuing)
        builder = builder.add_extension(authority, critical=False)
        usage = dict.fromkeys(
            ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign"), False
        )
        usage |= {"digital_signature": not ca, "key_cert_sign": ca, "encipher_only": False, "decipher_only": False}
        builder = builder.add_extension(x509.KeyUsage(**usage), critical=True)
        if not ca:
            where = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(where, critical=False)
        return builder.sign(signer, hashes.SHA256())

    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    pem = serialization.Encoding.PEM
    ca, server = tmp_path / "ca.pem", tmp_path / "server.pem"
    ca.write_bytes(make("an own CA", keys[0], "an own CA", keys[0], True).public_bytes(pem))
    private = keys[1].private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    server.write_bytes(private + make("models", keys[1], "an own CA", keys[0], False).public_bytes(pem))
    return ca, server


@pytest.fixture
def model(address: str, certificates: tuple[Path, Path]) -> Iterator[tuple[Model, str]]:
    """A scripted model, and its address with TLS before it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates[1])
    script = Script(key="sk-real", answers=(Answer(text="hello", usage=Usage(input=3, output=2), times=0),))
    with scripted_model(script) as plain, socket.create_server((address, 0)) as front:
        port = int(plain.url.rpartition(":")[2].partition("/")[0])
        threading.Thread(target=_terminate, args=(front, context, port), daemon=True).start()
        yield plain, f"https://{address}:{front.getsockname()[1]}/v1"
        front.shutdown(socket.SHUT_RDWR)


def _terminate(front: socket.socket, context: ssl.SSLContext, port: int) -> None:
    while True:
        try:
            client, _ = front.accept()
        except OSError:
            return
        threading.Thread(target=_tunnel, args=(client, context, port), daemon=True).start()


def _tunnel(client: socket.socket, context: ssl.SSLContext, port: int) -> None:
    """One request at a time, as the gateway sends them."""
    try:
        with context.wrap_socket(client, server_side=True) as outside:
            while request := outside.recv(1 << 16):
                with socket.create_connection(("127.0.0.1", port)) as inside:
                    inside.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                    while part := inside.recv(1 << 16):
                        outside.sendall(part)
                return
    except OSError:
        return


@pytest.fixture
def proxy(model: tuple[Model, str], tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A forward proxy in a process of its own, and its log."""
    log = tmp_path / "proxy.jsonl"
    allow = model[1].removeprefix("https://").partition("/")[0]
    argv = [sys.executable, "-I", "-S", relay.__file__, "--listen", "127.0.0.1:0", "--allow", allow, "--log", str(log)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = process.stderr.readline().rpartition(", ")[2].strip(")\n")
        yield f"http://127.0.0.1:{port}", log
        process.terminate()


def ask(model: tuple[Model, str], folder: Path) -> tuple[int, bytes]:
    """One call through a gateway that is set up from this process's variables."""
    access = ModelAccess(endpoint=model[1], key="TEST_WALLS_KEY", models=("scripted",))
    settings = read_settings(gateway(access, JOB, listen="-", folder="-").settings)
    with running(settings, folder) as port:
        status, _, body = Front(port, folder, model[0]).ask(body=CHAT, token=token(access, JOB))
    return status, body


def test_calls_go_through_the_proxy_and_trust_the_ca(
    model: tuple[Model, str],
    proxy: tuple[str, Path],
    certificates: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_WALLS_KEY", "sk-real")
    monkeypatch.setenv("HTTPS_PROXY", proxy[0])
    for name in ("https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates[0]))
    status, body = ask(model, tmp_path)
    assert status == 200 and json.loads(body)["choices"][0]["message"]["content"] == "hello"
    assert model[0].served.calls == 1
    said: list[str] = []
    access = ModelAccess(endpoint=model[1], key="TEST_WALLS_KEY", models=("scripted",))
    check_models([access], Vm({}), said.append)  # the same way before the runs start
    assert said == [f"scripted answers at {model[1]}"] and model[0].served.probes == 1
    for _ in range(100):  # the proxy logs a connection once it is closed
        if len(lines := [json.loads(line) for line in proxy[1].read_text().splitlines()]) == 2:
            break
        gc.collect()  # a connection whose TLS had not ended when the gateway's event loop did is closed with its object
        time.sleep(0.1)
    assert all(line["verdict"].startswith("allowed") and line["received"] > 0 for line in lines) and len(lines) == 2


def test_without_the_ca_nothing_is_sent(
    model: tuple[Model, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_WALLS_KEY", "sk-real")
    for name in ("HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    status, body = ask(model, tmp_path)
    assert status == 502 and b"certificate" in body.lower()
    with pytest.raises(EndpointError, match="certificate"):
        check_models([ModelAccess(endpoint=model[1], key="TEST_WALLS_KEY", models=("m",))], Vm({}), print)
    assert model[0].served.calls == 0
