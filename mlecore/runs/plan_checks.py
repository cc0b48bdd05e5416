"""Checks of a plan that its schema cannot express: duplicates, ranges of numbers, budgets and prices."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

from mlecore.errors import UsageError
from mlecore.model.plan import Plan

# Set in every sandbox, or they decide how programs start there.
_SANDBOX = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "PWD", "CUDA_VISIBLE_DEVICES"}
_SANDBOX |= {"LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "NODE_USE_ENV_PROXY"}
_SANDBOX |= {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "COMPETITION_ID"}
MOST_RUNS = 100_000
_SMALLEST = 1_000_000  # bytes; a smaller number is a size without its unit


def check_plan(plan: Plan) -> Plan:
    """The plan, if it is consistent. Raises UsageError."""
    _check_runs(plan)
    check_numbers(plan)
    _check_models(plan)
    _check_mcp(plan)
    _check_secrets(plan)
    _check_hosts(plan)
    return plan


def _check_runs(plan: Plan) -> None:
    if not plan.agents:
        raise UsageError("no agent given", fix="To see them: mlecore plugins list --kind agent")
    if not plan.competitions:
        raise UsageError("no competition or split given", fix="To see them: mlecore competitions list")
    if not plan.seeds:
        raise UsageError("no seed given")
    if len(plan) > MOST_RUNS:
        raise UsageError(
            f"the plan has {len(plan):,} runs, more than {MOST_RUNS:,}", fix="Split it into several groups."
        )
    for what, items in (("competition", plan.competitions), ("seed", plan.seeds)):
        twice = [item for item, times in Counter[object](items).items() if times > 1]
        if twice:
            raise UsageError(f"{what} {twice[0]} is given twice")
    for seed in plan.seeds:
        if not 0 <= seed < 2**32:
            raise UsageError(f"seed {seed}: seeds are whole numbers from 0 to {2**32 - 1}, which NumPy accepts")


def _check_hosts(plan: Plan) -> None:
    if not plan.limits.allow:
        return
    from mlecore_jobs.relay import Pattern

    for text in plan.limits.allow:
        try:
            Pattern(text)
        except ValueError as error:
            raise UsageError(f"limits.allow: {error}", fix="Write host, host:port or *.domain.") from None


def _check_secrets(plan: Plan) -> None:
    for name in plan.limits.secrets:
        if name in _SANDBOX or name.startswith("MLECORE_"):
            raise UsageError(
                f"{name} cannot be passed to agents as a secret: it decides how the sandbox and its programs work",
                fix="Put the value into a variable of another name: --secret NAME",
            )


def check_numbers(plan: Plan) -> None:
    """Limits and counts are in range. Raises UsageError."""
    execution, gateway = plan.execution, plan.gateway
    own = {f"agents[{number}].limits": plan.limits_of(agent) for number, agent in enumerate(plan.agents)}
    limits = {"limits": plan.limits, **own}
    for what, value in (
        *((f"{key}.{what}", getattr(of, what)) for key, of in limits.items() for what in ("cpus", "memory", "disk")),
        ("execution.max_parallel", execution.max_parallel),
        ("gateway.max_calls", gateway.max_calls),
    ):
        if value is not None and not value > 0:  # NaN is not
            raise UsageError(f"{what} must be more than 0, not {value}")
    for what, size in ((f"{key}.{of}", getattr(each, of)) for key, each in limits.items() for of in ("memory", "disk")):
        if size is not None and size < _SMALLEST:
            raise UsageError(f"{what} is {size} bytes, too small for any run", fix=f"Write the unit, e.g. {size}GB.")
    for what, number in (
        *((f"{key}.gpus", of.gpus) for key, of in limits.items()),
        ("execution.retries", execution.retries),
        ("gateway.retries", gateway.retries),
    ):
        if number < 0:
            raise UsageError(f"{what} cannot be less than 0, and is {number}")


def _check_mcp(plan: Plan) -> None:
    limits = plan.limits
    if limits.mcp and limits.network == "none":
        raise UsageError(f"the MCP server {next(iter(limits.mcp))} cannot be reached without a network")
    for name, server in limits.mcp.items():
        for header in server.headers:
            if not _HEADER.fullmatch(header):
                raise UsageError(
                    f"limits.mcp.{name}: expected a header and the variable that has its value",
                    fix='Write headers = { Authorization = "MY_VARIABLE" }, with "Bearer ..." in the variable.',
                )


def netloc(name: str, text: str) -> str:
    """host:port of an MCP server's URL, as the relay takes it. Raises UsageError that names the server."""
    from mlecore_jobs.relay import Pattern

    try:
        url = urlsplit(text)
        usual = {"http": 80, "https": 443}[url.scheme]
        port = usual if url.port is None else url.port
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
        Pattern(f"{host}:{port}")
        if not (_SERVER.fullmatch(name) and _URL.fullmatch(text)):
            raise ValueError
    except (ValueError, KeyError):
        raise UsageError(
            f"limits.mcp: {name} is not a name with the URL of an MCP server",
            fix="Write it like search=https://mcp.example.org/mcp; a secret goes into a header, in a plan.",
        ) from None
    if url.hostname in ("127.0.0.1", "::1"):  # a job may have its gateway there, so it bypasses the proxy
        raise UsageError(
            f"limits.mcp: {name} = {text} would be an address of the sandbox",
            fix=f"Write it with localhost, which is the relay's machine: http://localhost:{port}{url.path}",
        )
    return f"{host}:{port}"


_SERVER = re.compile(r"[A-Za-z0-9_-]{1,50}")
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~%+=,:@/-]*)?")  # no user, no query
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")


def _check_models(plan: Plan) -> None:
    from mlecore_gateway.budgets import Budget
    from mlecore_gateway.routes import Rule
    from mlecore_gateway.settings import Settings

    for agent in plan.agents:
        if agent.model and not agent.endpoint and plan.limits.network == "llm" and not plan.limits.allow:
            raise UsageError(
                f"the model {agent.model} has no endpoint, so agent {agent.label} could not call it",
                fix="Name the base URL of its API: --endpoint https://api.example.com/v1",
            )
        try:
            Settings(endpoint=agent.endpoint or "http://none", token="none")
        except ValueError:
            raise UsageError(
                f"the endpoint of agent {agent.label} is not the URL of an API",
                fix="Write it like https://api.example.com/v1, without a password or a key, which -G key=NAME is for,"
                " and without a query except for Azure's api-version.",
            ) from None
    try:
        for text in plan.gateway.budgets:
            Budget.parse(text)
    except ValueError as error:
        raise UsageError(f"gateway.budgets: {error}") from None
    try:
        for text in plan.gateway.allow:
            Rule.parse(text)
    except ValueError as error:
        raise UsageError(f"gateway.allow: {error}") from None
    for name, price in plan.gateway.prices.items():
        unknown = set(price) - {"input", "output", "cached", "cache_write"}
        of_tokens = not unknown and {"input", "output"} <= set(price)
        if not (of_tokens or set(price) == {"use"}) or not all(value >= 0 for value in price.values()):
            raise UsageError(
                f"gateway.prices: that of {name} is not a price",
                fix="US dollars per million tokens of a model: {input = 2.5, output = 10}; cached, cache_write if they"
                " differ. US dollars per use of a provider tool: {use = 0.01}.",
            )
