"""Every error that mlecore raises on purpose, and the secrets that no message may show.

An error says what is wrong, where, and what to do about it; ``redacted`` masks what it quotes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping


class MlecoreError(Exception):
    """The root of the hierarchy.

    ``str(error)`` is the whole message; ``fix`` is its last line, what the reader can do, where there is such a thing.
    ``exit_code`` is what the command line ends with: 1 the thing checked is bad, 2 wrong usage, 3 undecided.
    Secrets in either are replaced by asterisks.
    """

    exit_code = 3

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        message, fix = redacted(message), redacted(fix) if fix else fix
        super().__init__(f"{message}\n{fix}" if fix else message)
        self.message = message
        self.fix = fix

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the fix, so that it survives the way back from a worker process."""
        return (_rebuild, (type(self), self.message, self.fix))


def _rebuild(cls: type[MlecoreError], message: str, fix: str | None) -> MlecoreError:
    return cls(message, fix=fix)


class InvalidSubmission(MlecoreError):
    """A submission that Kaggle's grader would refuse: the agent's fault, with the reason."""

    exit_code = 1


class UsageError(MlecoreError):
    """The caller asked for something impossible: an unknown name or option, a plan that contradicts itself."""

    exit_code = 2


class NotPrepared(UsageError):
    """The data of a competition are not prepared yet."""


class PluginError(MlecoreError):
    """A plugin is broken or did what its contract forbids; the message names the plugin and the hook."""


class DataError(MlecoreError):
    """Data are not what they should be: a damaged archive, a wrong checksum, a disk that is full."""


class DiskError(DataError):
    """A disk that mlecore needs is full, unmounted or failing: once it works again, a retry succeeds."""


class GradingError(MlecoreError):
    """A submission could not be graded, and not through its own fault: damaged answers, a bug, a limit of mlecore."""


class BackendError(MlecoreError):
    """A backend cannot do what was asked; asking again will not help, the fix will."""


class EndpointError(MlecoreError):
    """A model's endpoint cannot serve runs now: it is unreachable, fails, or the account's quota is used up."""


class ImageGone(BackendError):
    """What a backend built for an agent was removed. Building it again helps."""


class BackendUnreachable(BackendError):
    """A backend does not answer, so nothing is known about its jobs; ask again later."""


_SHORTEST = 8  # characters; anything shorter is not a key, and would be found everywhere
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
    """The text with asterisks for secrets: what was remembered, the values of variables named like one, and whatever
    looks like a key, a password in a URL or an authorization."""
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
    """A secret that is in no variable, such as the content of a token file: no later message of this process has it."""
    _known.update(_lines(secret))


def _lines(value: str) -> set[str]:
    parts = {part.strip().strip("'\"") for part in (value, *value.splitlines())}
    return {part for part in parts if len(part) >= _SHORTEST and not os.path.lexists(part)}
