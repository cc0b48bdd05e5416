"""A run's access to its model: what a backend starts next to a job, and what the job gets to know about it.

Under ``network=llm`` a job cannot reach a model directly. Its backend starts ``gateway(job, ...)`` outside the sandbox,
gives the process its settings on standard input (or in a file that it alone may read), starts it again when it dies,
and makes it reachable from inside, where ``variables`` names it. The gateway says ``gateway on ADDRESS`` on standard
error when it listens, and ends on SIGTERM.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import field, frozen

from mlecore.errors import BackendError, remember

if TYPE_CHECKING:
    from mlecore.model.agents import Recipe

KEYS = (
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_API_KEY",
)
"""Variables in which a job finds its token."""


@frozen(kw_only=True)
class ModelAccess:
    """Which models a job may use, and how much. Contains no key, so it may be written to disk."""

    endpoint: str  # the model's base URL
    key: str | None = None  # the variable of the controller that holds the real key; None: there is none
    models: tuple[str, ...] = ()  # that may be called
    any_model: bool = False  # others too
    allow: tuple[str, ...] = ()  # "POST /v1/images/*": calls forwarded beside those of the model
    server_tools: bool = False  # may the provider run tools, and keep conversations?
    budgets: tuple[str, ...] = ()  # "5usd", "2Mtok", "500calls"
    spent: Mapping[str, float] = field(factory=dict)  # of these by earlier attempts of the run: usd, tokens, calls
    # model -> input, output ... USD per million tokens; tool of the provider -> use: USD each
    prices: Mapping[str, Mapping[str, float]] = field(factory=dict)
    retries: int = 0  # of calls that the endpoint answered with 429 or 5xx
    max_calls: int | None = None  # at once, over all jobs of this endpoint here
    transcripts: bool = False  # are requests and responses kept?


@frozen(kw_only=True)
class Process:
    """A gateway to start. ``settings`` holds the key: never in an argument, a variable, an image, a label or a log."""

    argv: tuple[str, ...]
    settings: bytes = field(repr=False)


def gateway(
    access: ModelAccess,
    job_name: str,
    *,
    listen: str,
    folder: str,
    slots: str | None = None,
    python: str = sys.executable,
    package: Path | None = None,
) -> Process:
    """The gateway of one job, whose log and transcripts go to ``folder``.

    ``listen`` is ``host:port`` or ``unix:PATH``. ``slots`` is a folder that all gateways share which may keep to one
    ``max_calls``. ``python`` has the packages of ``recipe()``, and mlecore_gateway, unless
    that is in the folder ``package``. Raises BackendError if the key is not set here.
    """
    module = ("-m", "mlecore_gateway") if package is None else ("-c", _FROM_FOLDER, str(package))
    argv = (python, "-I", *module, "--listen", listen, "--folder", folder)
    return Process(argv=argv, settings=_settings(access, job_name, slots))


_FROM_FOLDER = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('mlecore_gateway', run_name='__main__', alter_sys=True)"
)


def _settings(access: ModelAccess, job_name: str, slots: str | None) -> bytes:
    values = {
        "endpoint": access.endpoint,
        "token": token(access, job_name),
        "key": _key(access),
        "models": access.models,
        "any_model": access.any_model,
        "allow": access.allow,
        "server_tools": access.server_tools,
        "budgets": access.budgets,
        "spent": dict(access.spent),
        "prices": {name: dict(price) for name, price in access.prices.items() if "use" not in price},
        "fees": {name: price["use"] for name, price in access.prices.items() if "use" in price},
        "retries": access.retries,
        "max_calls": access.max_calls,
        "slots": slots,
        "transcripts": access.transcripts,
        "proxy": _proxy(access.endpoint),
        "ca": _certificates(),
    }
    return json.dumps(values).encode()


def _key(access: ModelAccess) -> str:
    if access.key is None:
        return ""
    if not os.environ.get(access.key):
        raise BackendError(
            f"the key of {access.endpoint} belongs in {access.key}, which is not set here",
            fix=f"export {access.key}=...",
        )
    key = os.environ[access.key].strip()
    remember(key)
    if not re.fullmatch("[!-~]*", key):
        raise BackendError(f"the key in {access.key} is not one word of ASCII: perhaps it has two lines, or a space")
    return key


def token(access: ModelAccess, job_name: str) -> str:
    """What the job has instead of a key: the same whichever process starts the job; worthless elsewhere."""
    return "mlecore-" + hmac.new(_key(access).encode(), job_name.encode(), "sha256").hexdigest()[:40]


def _proxy(endpoint: str) -> str | None:
    """The proxy for a URL, from this machine's variables."""
    from urllib.request import getproxies_environment, proxy_bypass

    url = urlsplit(endpoint)
    if url.hostname in (None, "localhost", "127.0.0.1", "::1") or proxy_bypass(url.netloc):
        return None
    found = getproxies_environment().get(url.scheme)
    try:
        if found and (re.search(r"\s", found) or not urlsplit(found).hostname or urlsplit(found).port == 0):
            raise ValueError
    except ValueError:
        raise BackendError(
            f"the proxy for {endpoint} is not a URL", fix="Write HTTPS_PROXY like http://proxy.example.org:3128."
        ) from None
    return found


def _certificates() -> str | None:
    """Certificates to trust, if this machine's variables name a bundle."""
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        if path := os.environ.get(name):
            try:
                return Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise BackendError(f"the certificates that {name} names cannot be read: {error}") from None
    return None


def base_url(access: ModelAccess, gateway_url: str) -> str:
    """The endpoint, as the job sees it: the same path on another host."""
    return gateway_url + urlsplit(access.endpoint).path.rstrip("/")


def variables(access: ModelAccess, job_name: str, gateway_url: str) -> dict[str, str]:
    """What client libraries read: where the model is, and the job's token as key.

    OpenAI's clients want a base URL with its version (``/v1``), Anthropic's, Google's and Azure's one without.
    """
    base = base_url(access, gateway_url)
    root = base.removesuffix("/v1").removesuffix("/v1beta")
    openai = base if urlsplit(base).path else f"{base}/v1"
    return {
        **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENROUTER_API_BASE"), openai),
        **dict.fromkeys(("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"), root),
        **dict.fromkeys(("GEMINI_API_BASE", "GOOGLE_GEMINI_BASE_URL"), root),
        **dict.fromkeys(("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"), root),
        **dict.fromkeys(KEYS, token(access, job_name)),
    }


_USUAL_KEYS = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "openai.azure.com": "AZURE_OPENAI_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.x.ai": "XAI_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
}


def usual_key(endpoint: str) -> str | None:
    """The usual variable for the key of a known provider. Other hosts get a key only if it is named."""
    host = urlsplit(endpoint).hostname or ""
    return next((name for known, name in _USUAL_KEYS.items() if host == known or host.endswith("." + known)), None)


def recipe() -> Recipe:
    """What a container needs to run the gateway: its files, and what they import, in these versions."""
    from importlib.metadata import version

    import mlecore_gateway
    from mlecore.model.agents import Recipe

    package = Path(mlecore_gateway.__file__).parent
    needs = ("aiohttp", "genai-prices", "msgspec", "zstandard")
    return Recipe(
        pip=tuple(f"{name}=={version(name)}" for name in needs),
        files={f"/opt/gateway/{package.name}/{path.name}": path.read_bytes() for path in sorted(package.glob("*.py"))},
    )
