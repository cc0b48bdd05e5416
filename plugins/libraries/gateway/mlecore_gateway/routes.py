"""Which calls the gateway forwards, by method and path: those an agent needs to talk to its model, and no others.

A provider's key opens more than its models: files, batches, fine-tuning, stored conversations. They would be a memory
that runs share, and other people's data. A ``Rule`` lets more through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote

from .refusals import Refusal

Protocol = Literal["chat", "completions", "embeddings", "responses", "messages", "gemini", "models", "other"]

METHODS = ("GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT", "PATCH")
READS = ("GET", "HEAD", "OPTIONS", "DELETE")

_NAME = r"(?:[\w.~@+=,-]|%[0-9A-Fa-f]{2})+"  # of a model or a deployment
_POST: dict[str, Protocol] = {
    "chat/completions": "chat",
    "completions": "completions",
    "embeddings": "embeddings",
    "responses": "responses",
    "responses/input_tokens": "responses",
    "messages": "messages",
    "messages/count_tokens": "messages",
}
_GEMINI = "generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents"
# Between the endpoint's URL and a call: a base URL has its version or not; Azure has deployments.
_BEFORE = rf"(?:/v1|/v1beta|/v1beta/openai|/openai|/openai/v1|(?:/openai)?/deployments/(?P<deployment>{_NAME}))?"
_CALL = re.compile(rf"{_BEFORE}/(?:(?P<call>{'|'.join(_POST)})|models/(?P<model>{_NAME}):(?:{_GEMINI}))", re.ASCII)
_LIST = re.compile(rf"{_BEFORE}/models(?:/(?:[\w.~@+=,:-]|%[0-9A-Fa-f]{{2}})+){{0,2}}", re.ASCII)
_COUNTS = re.compile(r".*(?:/count_tokens|:countTokens|/input_tokens)")
_SPENDS_NOTHING = re.compile(r".*/(?:files|uploads|uploads/[^/]+/(?:parts|complete|cancel)|tokenize|detokenize)")
_DEPLOYMENT = re.compile(r"/(?:deployments|models)/(.+?)(?=[:/][^/]*$|/)")  # in the path of a call that a rule allows
_PARAMETERS = frozenset(
    "api-version beta alt key limit order after before after_id before_id pageSize pageToken".split()
)  # that clients send; another one may be a method in disguise

# Steps, empty parts, what a server may take for the end of a path, and every escape but those that names need.
_ODD = re.compile(r"(?:^|/)\.\.?(?:[/:]|$)|//|[\x00-\x20\x7f-\U0010ffff\\?#;]|%(?!3[ADad]|40|2[BCbc])")


class Rule(NamedTuple):
    """One method and path that is forwarded, too. ``*`` is any part of a path between slashes, ``**`` any at all."""

    method: str
    path: str

    @classmethod
    def parse(cls, text: str) -> Rule:
        """From ``POST /v1/images/*``. Raises ValueError."""
        method, _, path = text.strip().partition(" ")
        path = path.strip()
        if method not in METHODS or not path.startswith("/") or _ODD.search(path):
            raise ValueError(f"{text!r} is not a method and a path; write it like 'POST /v1/images/*'")
        return cls(method, path)

    def matches(self, method: str, path: str) -> bool:
        """``path`` is as the client sent it, without the query."""
        parts = re.split(r"(\*\*?)", self.path)
        wild = {"**": ".*", "*": "[^/]*"}
        return method == self.method and bool(re.fullmatch("".join(wild.get(p) or re.escape(p) for p in parts), path))


class Route(NamedTuple):
    """A call that is forwarded."""

    protocol: Protocol
    spends: bool  # does a good answer cost tokens?
    model: str | None = None  # that its path names
    by_rule: bool = False  # only a rule lets it through


def find_route(base: str, rules: Sequence[Rule], method: str, path: str, query: str) -> Route:
    """The route of a request below the endpoint's path ``base``. Raises Refusal.

    Paths are compared as they were sent, case and all: an endpoint may normalize what the gateway does not.
    """
    if path != base and not path.startswith(base + "/"):
        raise Refusal(404, f"only calls below {base}/ are forwarded", "not_found_error")
    if _ODD.search(path):
        raise Refusal(400, "the path is not in its plain form")
    route = _builtin(method, path.removeprefix(base))
    if route is not None:
        for part in filter(None, query.split("&")):
            if (name := unquote(part.partition("=")[0])) not in _PARAMETERS:
                raise Refusal(400, f"the gateway does not forward the query parameter {name!r}")
        return route
    if any(rule.matches(method, path) for rule in rules):
        named = _DEPLOYMENT.search(path) if method not in READS else None
        spends = method not in READS and not _SPENDS_NOTHING.fullmatch(path)
        return Route("other", spends, unquote(named[1]) if named else None, by_rule=True)
    raise Refusal(
        403,
        f"{method} {path} is not a call of the model, so it is not forwarded (-G allow would let it through)",
        "permission_error",
    )


def _builtin(method: str, path: str) -> Route | None:
    if method == "GET" and _LIST.fullmatch(path):
        return Route("models", spends=False)
    match = _CALL.fullmatch(path) if method == "POST" else None
    if match is None:
        return None
    spends = not _COUNTS.fullmatch(path)
    named = match["model"] or match["deployment"]
    model = unquote(named) if named else None
    return Route(_POST[match["call"]] if match["call"] else "gemini", spends, model)
