"""A competition's published page and deadline, fetched with the user's own Kaggle login. Nothing is stored."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.data.kaggle.client import call_patiently, competitions_client
from mlecore.errors import DataError, UsageError

if TYPE_CHECKING:
    from mlecore.model.facts import Facts

_WANTED = ("description", "evaluation", "data-description")  # the pages that describe the task
_LARGEST = 1 << 20  # characters


@frozen(kw_only=True)
class Page:
    """A page in Kaggle's own form: HTML or Markdown."""

    content: str
    ended: date | None


def fetch_page(facts: Facts) -> Page:
    """Fetch it. Raises UsageError if the competition is not Kaggle's, an MlecoreError if Kaggle does not offer it."""
    from kagglesdk.competitions.types.competition_api_service import (
        ApiGetCompetitionRequest,
        ApiListCompetitionPagesRequest,
    )

    if facts.kaggle is None:
        raise UsageError(f"{facts.id} is not on Kaggle, so it has no page there", fix="Give its text with --texts.")
    listing, asking = ApiListCompetitionPagesRequest(), ApiGetCompetitionRequest()
    listing.competition_name = asking.competition_name = facts.kaggle
    what = f"asking for the page of {facts.id}"
    with competitions_client() as client:
        listed = call_patiently(lambda: client.list_competition_pages(listing), what, facts).pages or []
        about = call_patiently(lambda: client.get_competition(asking), what, facts)
    named = {_plain(page.name): page.content or "" for page in listed}
    texts = [named[name] for name in _WANTED if named.get(name)] or [text for text in named.values() if text]
    if not texts:
        raise DataError(f"Kaggle has no page of {facts.id}", fix="Save it with a browser and give it with --texts.")
    ended = about.deadline
    return Page(content="\n\n".join(texts)[:_LARGEST], ended=ended.date() if ended else None)


def _plain(name: str) -> str:
    return "-".join((name or "").casefold().split())
