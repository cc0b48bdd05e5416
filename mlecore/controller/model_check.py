"""Asks each model for a tiny answer before anything starts: a wrong key, name or URL would fail every run.

The call takes the same way as those of the runs' gateways: key, proxy and certificates are the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from mlecore.controller.experiment import Say
from mlecore.errors import EndpointError, UsageError
from mlecore.model.backends import Backend
from mlecore.model.model_access import ModelAccess, gateway

if TYPE_CHECKING:
    from mlecore_gateway.probe import Finding

SECONDS = 60.0  # that a model has to answer; one that is loaded first may take longer, which is only a warning
_AGAIN = 2.0  # seconds before a server that failed is asked once more
_AT_ONCE = 8
_CLOSING = 0.25  # seconds that TLS connections need to close, which aiohttp does not wait for
_SKIP = (
    "To start without this check: model_check = false under [execution] in a plan; for a group, resume --no-model-check"
)


def check_models(accesses: Iterable[ModelAccess], backend: Backend, say: Say) -> None:
    """Call each model of each endpoint once. Raises UsageError (key, model, URL) and EndpointError (all else)."""
    wanted = list(dict.fromkeys((access.endpoint, access.key, model) for access in accesses for model in access.models))
    if not wanted:
        return
    with ThreadPoolExecutor(1) as thread:  # the caller may be in an event loop, as in a notebook
        findings = thread.submit(asyncio.run, _ask_all(wanted)).result()
    usage: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for (endpoint, key, model), (finding, instead) in zip(wanted, findings, strict=True):
        if finding.kind == "answers":
            say(f"{model} answers at {endpoint}")
            continue
        what = f"{model} at {endpoint}: {finding}"
        if finding.kind in ("busy", "silent") or (
            finding.kind == "unreachable" and not backend.reaches_as_here(endpoint)
        ):
            say(f"warning: {what}; the runs start anyway")
            continue
        (usage if finding.kind in ("key", "model", "path") else others).append((what, instead or _fix(finding, key)))
    if usage or others:
        found = usage + others
        error = UsageError if usage else EndpointError
        raise error(
            "; ".join(what for what, _ in found), fix="\n".join(dict.fromkeys([*(fix for _, fix in found), _SKIP]))
        )


def _fix(finding: Finding, key: str | None) -> str:
    if finding.kind == "key":
        return f"Put a valid key into {key}." if key else "Name the variable that has the endpoint's key: -G key=NAME"
    return {
        "model": "Name a model that the endpoint has: --model NAME",
        "path": (
            "Name the URL below which the API is, such as https://api.example.com/v1, http://localhost:11434/v1"
            " (Ollama) or https://NAME.openai.azure.com/openai/v1 (Azure): --endpoint URL"
        ),
        "quota": "Add credit to the account, or use the key of another one.",
        "unreachable": "Check the URL, the network, and HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE.",
    }.get(finding.kind, "Try again once the endpoint works.")


async def _ask_all(wanted: Iterable[tuple[str, str | None, str]]) -> list[tuple[Finding, str]]:
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(endpoint: str, key: str | None, model: str) -> tuple[Finding, str]:
        async with places:
            return await _ask(ModelAccess(endpoint=endpoint, key=key), model)

    findings = await asyncio.gather(*(one(*each) for each in wanted))
    await asyncio.sleep(_CLOSING)
    return findings


async def _ask(access: ModelAccess, model: str) -> tuple[Finding, str]:
    """What the model's endpoint makes of a call, and which other URL to name, where that is known."""
    from mlecore_gateway.probe import elsewhere, probe
    from mlecore_gateway.server import open_session
    from mlecore_gateway.settings import read_settings

    settings = read_settings(gateway(access, "mle-preflight-1", listen="", folder="").settings)
    async with open_session(settings) as session:
        finding = await probe(session, settings, model, SECONDS)
        if finding.kind == "failing":
            await asyncio.sleep(_AGAIN)
            finding = await probe(session, settings, model, SECONDS)
        short = model.partition("/")[2]  # a plan may name models as LiteLLM does: PROVIDER/MODEL
        if (
            finding.kind == "model"
            and short
            and (other := await probe(session, settings, short, SECONDS)).kind != "model"
        ):
            finding = other
        if finding.kind != "path":
            return finding, ""
        url, api = await elsewhere(session, settings, model)
        return (
            finding,
            url and f"{api or 'The API'} is {'not supported; name' if api else 'at'} {url}: --endpoint {url}",
        )
