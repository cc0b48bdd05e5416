"""Synthetic data in the form of the download."""

from __future__ import annotations

from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter

if TYPE_CHECKING:
    from numpy.random import RandomState

WORDS = (
    "The A This Every".split(),
    "old new young tired".split(),
    "minister player café company".split(),
    "said found won lost".split(),
    "the a that one".split(),
    "game vote house prize".split(),
    "in after before during".split(),
    "May June July 2009".split(),
)
# about one line in a hundred is one of these
ODD = [
    "Hm",
    "No .",
    "Yes , Sir",
    'He said " no " to it .',
    '"Stay" , "she said " .',
    "  Blanks   between the   words and around .  ",
    "A no-break\u00a0space and a thin\u2009one .",
    "Ærø , Żółw and 漢字 \U0001d11e .",
    "",
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """20,000 sentences times ``size``, a hundredth of which will be judged; 1,515 gives as many as there really are."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    with (
        ZipWriter(raw / "train_v2.txt.zip") as archive,
        archive.open("train_v2.txt") as member,
        TextIOWrapper(member, encoding="utf-8", newline="") as lines,
    ):
        for left in range(max(3000, round(20_000 * size)), 0, -1000):
            lines.write("\n".join(_sentences(min(left, 1000), rng)) + ("\n" if left > 1000 else ""))
    with ZipWriter(raw / "test_v2.txt.zip") as archive:
        archive.add("test_v2.txt", b'"id","sentence"\n1,"He ""it ."\n')


def _sentences(count: int, rng: RandomState) -> list[str]:
    """Verb and noun, preposition and month go together, so that most missing words can be guessed."""
    chosen = rng.randint(0, 4, (count, len(WORDS)))
    chosen[:, 5], chosen[:, 7] = chosen[:, 3], chosen[:, 6]
    chosen[:, 4] = chosen[:, 0]
    lengths = rng.choice([4, 6, 8], count)
    odd = rng.randint(0, 100 * len(ODD), count)
    return [
        ODD[odd[i]] if odd[i] < len(ODD) else " ".join([*(WORDS[k][chosen[i, k]] for k in range(lengths[i])), "."])
        for i in range(count)
    ]
