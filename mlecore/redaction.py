"""Keeps secrets out of messages, records and logs: every error of mlecore passes through ``redacted``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_SHORTEST = 8  # characters; a shorter value is no key, and would be found everywhere
_STARS = "***"
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR(?!IZ))|_PAT$", re.IGNORECASE)
_PROXY = re.compile(r"_PROXY$", re.IGNORECASE)
_known: set[str] = set()

_SHAPES = tuple(
    (re.compile(pattern), rf"\g<1>{_STARS}")
    for pattern in (
        r"(//)(?:[^\s@/]+|[^\s@/:]*:(?!\d+/)[^\s@]*)(?=@)",  # user and password in a URL
        r"(?<![\w/:.@-])([A-Za-z_][\w.-]*:)[^\s:@/'\",]+(?=@(?!sha256:)[\w\[])",  # user:password@host
        r"(?i)([?&][^=&\s]*(?:key|token|secret|sig|auth|passw|credential)[^=&\s]*=)[^&\s'\"#]+",
        r"(?i)(\b(?:bearer|basic)\s+)(?=\S*\d|\S{16})[^\s'\",]{6,}",
        r"(?i)(\b(?:api[-_]?key|(?:proxy-)?authorization|private-token|x-auth-token)['\"]?\s*[:=]\s*)(?!\.\.\.)"
        r"(?:(?:bearer|basic)\s+)?['\"]?[^\s'\",}]+",
        r"(\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)=)(?!\.\.\.)\S+",
        r"(\b)(?:sk-|sk_|gsk_|xai-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abp]-|nvapi-|KGAT_|AKIA|AIza)"
        r"(?=[\w-]*\d)[\w-]{5,}",  # keys of known providers
        r"(\b)eyJ[\w-]{10,}\.[\w.-]+",  # a JSON web token
    )
)


def names_secret(variable: str) -> bool:
    """Does the name of a variable suggest that its value is a secret? Not GIT_AUTHOR_NAME."""
    return _SECRET.search(variable) is not None


def redacted(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """The text with asterisks for secrets: remembered values, the values of variables whose names suggest a secret, and
    anything that looks like a key, a password in a URL or an authorization."""
    proxies = (value.rpartition("@")[0].rpartition("//")[2] for name, value in environ.items() if _PROXY.search(name))
    values = {login for login in proxies if ":" in login}
    values |= {line for name, value in environ.items() if names_secret(name) for line in _lines(value)}
    for value in sorted(_known | values, key=len, reverse=True):
        if value in text:
            text = text.replace(value, _STARS)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text


def remember(secret: str) -> None:
    """Hide a secret from all later messages of this process, such as the content of a token file."""
    _known.update(_lines(secret))


def _lines(value: str) -> set[str]:
    parts = {part.strip().strip("'\"") for part in (value, *value.splitlines())}
    return {part for part in parts if len(part) >= _SHORTEST and not os.path.lexists(part)}
