"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mle_comp_random_acts_of_pizza import TARGET
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_json

if TYPE_CHECKING:
    from numpy.random import RandomState

KNOWN_LATER = [  # each counted at the request and at the retrieval of the data
    "requester_account_age_in_days",
    "requester_days_since_first_post_on_raop",
    "requester_number_of_comments",
    "requester_number_of_comments_in_raop",
    "requester_number_of_posts",
    "requester_number_of_posts_on_raop",
    "requester_upvotes_minus_downvotes",
    "requester_upvotes_plus_downvotes",
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    from numpy.random import RandomState

    rng = RandomState(seed)
    requests = [_request(rng, number) for number in range(max(60, round(1000 * size)))]
    write_json(requests, raw / "train.json", indent=4)
    later = ("post_was_edited", "request_text", TARGET, "requester_user_flair")
    known = sorted(  # another order of keys than in train.json
        key for key in requests[0] if not key.endswith("_at_retrieval") and key not in later
    )
    unlabelled = [_request(rng, len(requests) + number) for number in range(round(0.4 * len(requests)))]
    write_json([{key: item[key] for key in known} for item in unlabelled], raw / "test.json", indent=4)


def _request(rng: RandomState, number: int) -> dict[str, Any]:
    """One request; long texts, old accounts and children in need are more often granted."""
    words = "hungry broke student café payday kids family rent job week pizza please thanks «tonight» love".split()
    text = " ".join(words[i] for i in rng.randint(0, len(words), rng.randint(5, 40)))
    age = float(rng.randint(0, 1000)) + rng.rand()
    likely = len(text) / 400 + age / 2000 + 0.3 * ("kids" in text) - 0.6
    granted = bool(likely + 0.25 * rng.normal() > 0)
    item: dict[str, Any] = {
        "giver_username_if_known": f"giver{number}" if granted and rng.rand() < 0.3 else "N/A",
        "number_of_downvotes_of_request_at_retrieval": int(rng.randint(0, 5)),
        "number_of_upvotes_of_request_at_retrieval": int(rng.randint(0, 30)),
        "post_was_edited": False if rng.rand() < 0.8 else 1_300_000_000.5 + number,
        "request_id": f"t3_{number:04x}w",
        "request_number_of_comments_at_retrieval": int(rng.randint(0, 30)),
        "request_text": text + (" EDIT: got it!" if granted else ""),
        "request_text_edit_aware": text,
        "request_title": f"[Request] {text[:20]}",
    }
    for key in KNOWN_LATER:
        now = age if "age" in key else rng.rand() * 100 if "days" in key else int(rng.randint(0, 500))
        item |= {f"{key}_at_request": now, f"{key}_at_retrieval": now + (1 if isinstance(now, int) else 0.25)}
    posted = 1_297_000_000.0 + 4321 * number
    return item | {
        "requester_number_of_subreddits_at_request": int(rng.randint(0, 40)),
        TARGET: granted,
        "requester_subreddits_at_request": ["pics", "Random_Acts_Of_Pizza", "café"][: rng.randint(0, 4)],
        "requester_user_flair": ("shroom" if rng.rand() < 0.8 else "PIF") if granted else None,
        "requester_username": f"user{number}",
        "unix_timestamp_of_request": posted + 3600.0,
        "unix_timestamp_of_request_utc": posted,
    }
