"""Errors that keep a user from Kaggle's data, each with its fix, and their translation from HTTP errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlecore.data.http import Stale, Transient, busy, retry_after
from mlecore.errors import DataError, MlecoreError, UsageError, redacted

if TYPE_CHECKING:
    from requests import HTTPError

    from mlecore.model.facts import Facts


class NoLogin(UsageError):
    """There are no credentials, or Kaggle rejects them."""


class RulesNotAccepted(UsageError):
    """This account has not accepted the competition's rules."""


class CannotJoin(UsageError):
    """The competition takes no new participants, and this account has not joined it."""


class KaggleUnreachable(DataError):
    """Kaggle does not answer, or reports a problem on its side."""


HOW_TO_LOG_IN = (
    "Create a token at https://www.kaggle.com/settings/api and save it as ~/.kaggle/access_token, or set "
    "KAGGLE_API_TOKEN; an older kaggle.json in ~/.kaggle works as well"
)


def rules_page(slug: str) -> str:
    return f"https://www.kaggle.com/competitions/{slug}/rules"


def translated(error: HTTPError, facts: Facts | None, what: str) -> MlecoreError | Transient:
    """Translate an HTTPError of the client; the result is Transient if another attempt may help."""
    response = error.response
    code = response.status_code if response is not None else 0
    if code < 400 and response is not None:  # an error inside a JSON body
        code = int(response.json().get("code", 0))
    said = _said(error)
    if response is not None and response.history:  # from the storage, not from Kaggle
        if code == 416:
            return Stale("what has arrived is not a part of what the server has now")
        return Transient(busy("Kaggle's storage", code, ""), after=retry_after(response))
    if code in (408, 425, 429) or code >= 500:
        return Transient(busy("Kaggle", code, said), after=retry_after(response))
    if code == 401:
        return NoLogin(f"Kaggle rejects the login: {said}", fix=HOW_TO_LOG_IN)
    if code == 403 and facts is not None and facts.closed is not None:
        return CannotJoin(f"{facts.id} can no longer be joined on Kaggle ({said})", fix=facts.closed)
    if code == 403 and facts is not None:
        return RulesNotAccepted(
            f"Kaggle does not give the data of {facts.id} to this account: {said}",
            fix=f"Log in with it, open {rules_page(facts.kaggle or facts.id)}, accept the rules, and try again",
        )
    if code == 404 and facts is not None:
        return DataError(
            f"Kaggle has no data of {facts.kaggle} for this account: {said}",
            fix=f"Look at https://www.kaggle.com/competitions/{facts.kaggle}; with data from elsewhere: "
            f"mlecore prepare {facts.id} --archive FILE, or --raw DIR",
        )
    return DataError(f"{what}: Kaggle answers {code}: {said}")


def _said(error: HTTPError) -> str:
    """Kaggle's own message, as one short line."""
    try:
        text = str(error.response.json()["message"])
    except (AttributeError, ValueError, KeyError, TypeError):
        text = str(error).partition(" for url:")[0]
    return redacted(" ".join(text.split()))[:300]
