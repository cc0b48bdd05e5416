"""Synthetic data: sentences of made-up tokens."""

from __future__ import annotations

from pathlib import Path

from mle_lib_text_normalization import Tokens, write_raw

from mlecore.hookspecs import hookimpl

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ODD = [
    ("VERBATIM", "&", "and"),
    ("VERBATIM", "", "nothing"),
    ("PLAIN", "hush", ""),
    *[("PLAIN", word, word) for word in ("NA", "null", "None", "nan", "NAN", "True", "1999", "0.10", " the", "Ærø")],
    ("LETTERS", "N/A", "n a"),
    ("DIGIT", "007", "o o seven"),
    ("DECIMAL", "1.0", "one point zero"),
    ("ELECTRONIC", "a,b", "a comma b"),
    ("PLAIN", 'say "x"', 'say "x"'),
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Some 20,000 tokens times ``size``: 100 gives two million, 496 the real number."""
    write_raw(raw, "en", _tokens(), seed, size)


def _tokens() -> Tokens:
    """Shares of all tokens, each with the tokens it is made up of: class, as written, as spoken."""
    syllables = "ba con der el for ing ka lo men no per ri sta ton ver wil".split()
    words = [a + b for a in syllables for b in syllables]
    return [
        (0.05, [("PUNCT", mark, mark) for mark in ".,;:()'\""]),
        (0.80, [("PLAIN", word, word) for word in ["the", "of", "and", *words]]),
        (0.05, [("CARDINAL", f"{n}", _spoken(n)) for n in range(100)]),
        (0.04, [("DATE", f"{year}", f"{_spoken(year // 100)} {_spoken(year % 100)}") for year in range(1950, 2000)]),
        (0.03, [("MEASURE", f"{n}ft", f"{_spoken(n)} feet") for n in range(2, 60)]),
        (0.03, ODD),
    ]


def _spoken(n: int) -> str:
    """0 to 99 in words."""
    if n < 20:
        return SMALL[n]
    return TENS[n // 10 - 2] + (f" {SMALL[n % 10]}" if n % 10 else "")
