"""What a backend starts beside a job, and what the job is given of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mlecore.errors import BackendError
from mlecore.model.model_access import ModelAccess, gateway, recipe, token, usual_key, variables
from mlecore_gateway.settings import read_settings

KEY = "sk-real-0123456789abcdef"
ACCESS = ModelAccess(endpoint="https://api.example.com/v1", key="EXAMPLE_KEY", models=("m",), budgets=("5usd",))


@pytest.fixture
def key(monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EXAMPLE_KEY", KEY)


def test_key_is_in_the_settings_only(key):
    process = gateway(ACCESS, "mle-1-1", listen="unix:/x", folder="/y")
    assert read_settings(process.settings).key == KEY
    assert KEY not in repr(process) + " ".join(process.argv) + str(variables(ACCESS, "mle-1-1", "http://g:1"))


def test_token_is_the_jobs_own_and_stays(key):
    first = token(ACCESS, "mle-1-1")
    assert first == token(ACCESS, "mle-1-1") != token(ACCESS, "mle-1-2")
    assert read_settings(gateway(ACCESS, "mle-1-1", listen="", folder="").settings).token == first
    assert KEY not in first


def test_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("EXAMPLE_KEY", raising=False)
    with pytest.raises(BackendError, match="EXAMPLE_KEY, which is not set"):
        gateway(ACCESS, "mle-1-1", listen="", folder="")


@pytest.mark.parametrize(
    ("endpoint", "openai", "anthropic"),
    [
        ("https://api.anthropic.com/", "http://g:1/v1", "http://g:1"),
        ("https://openrouter.ai/api/v1", "http://g:1/api/v1", "http://g:1/api"),
        ("http://localhost:8000/v1/", "http://g:1/v1", "http://g:1"),
    ],
)
def test_variables(endpoint, openai, anthropic):
    got = variables(ModelAccess(endpoint=endpoint), "mle-1-1", "http://g:1")
    assert (got["OPENAI_BASE_URL"], got["ANTHROPIC_BASE_URL"]) == (openai, anthropic)


def test_company_proxy_and_certificates(key, monkeypatch, tmp_path):
    bundle = tmp_path / "ca.pem"
    bundle.write_text("-----BEGIN CERTIFICATE-----")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    settings = read_settings(gateway(ACCESS, "j", listen="", folder="").settings)
    assert (settings.proxy, settings.ca) == ("http://proxy.example:3128", "-----BEGIN CERTIFICATE-----")
    for endpoint in ("http://localhost:8000/v1", "https://inside.example/v1"):
        assert read_settings(gateway(ModelAccess(endpoint=endpoint), "j", listen="", folder="").settings).proxy is None


def test_no_key_for_a_host_that_nobody_named():
    assert usual_key("https://api.openai.com/v1") == "OPENAI_API_KEY"
    assert usual_key("https://mine.openai.azure.com") == "AZURE_OPENAI_API_KEY"
    assert usual_key("http://localhost:8000/v1") is usual_key("https://api.openai.com.evil.example/v1") is None


def test_gateway_runs_from_the_recipe_alone(tmp_path):
    """Without mlecore: from its own files and what they import."""
    for name, content in recipe().files.items():
        path = tmp_path / Path(name).relative_to("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    code = "import sys, mlecore_gateway.server as s; print(s.__file__, 'mlecore.errors' in sys.modules)"
    root = tmp_path / "opt" / "gateway"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(root / "mlecore_gateway" / "server.py"), "False"]
    assert KEY not in json.dumps(recipe().pip)


def test_rules_and_prices_of_tools_reach_the_gateway(key):
    prices = {"m": {"input": 1.0, "output": 2.0}, "web_search": {"use": 0.01}}
    access = ModelAccess(
        endpoint="https://api.example.com/v1",
        key="EXAMPLE_KEY",
        allow=("POST /v1/images/*",),
        server_tools=True,
        prices=prices,
    )
    settings = read_settings(gateway(access, "j", listen="", folder="").settings)
    assert (settings.allow, settings.server_tools) == (("POST /v1/images/*",), True)
    assert list(settings.prices) == ["m"] and settings.fees == {"web_search": 0.01}
