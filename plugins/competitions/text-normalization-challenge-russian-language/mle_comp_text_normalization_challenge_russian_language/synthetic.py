"""Synthetic data: sentences of made-up tokens."""

from __future__ import annotations

from pathlib import Path

from mle_lib_text_normalization import Tokens, write_raw

from mlecore.hookspecs import hookimpl

SMALL = (
    "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
    "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать"
).split()
TENS = "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто".split()
DAYS = "первого второго третьего четвёртого пятого шестого седьмого восьмого девятого десятого".split()
MONTHS = "января февраля марта апреля мая июня июля августа сентября октября ноября декабря".split()
LETTERS = dict(zip("abdeiklmnoprstuv", "абдеиклмнопрстув", strict=True))
ODD = [
    ("VERBATIM", "&", "и"),
    ("VERBATIM", "", "ничего"),
    ("PLAIN", "тише", ""),
    *[("PLAIN", word, word) for word in ("NA", "NULL", "None", "nan", "NAN", "True", "1999", "0.10", " да", "0_0")],
    ("LETTERS", "N/A", "н а"),
    ("DIGIT", "007", "ноль ноль семь"),
    ("ELECTRONIC", "a,b", "а запятая б"),
    ("PLAIN", 'слово "да"', 'слово "да"'),
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Some 20,000 tokens times ``size``: 100 gives two million, 529 the real number."""
    write_raw(raw, "ru", _tokens(), seed, size)


def _tokens() -> Tokens:
    """Shares of all tokens, each with the tokens it is made up of: class, as written, as spoken."""
    syllables = "ба вер го дом ель ка ла мир но пол ре сто ти у фа ча".split()
    words = [a + b for a in syllables for b in syllables]
    names = [a + b for a in ("Al", "Ben", "Dor", "Mar", "Vik") for b in ("an", "eus", "ila", "ton")]
    days = [(f"{day} {month}", f"{spoken} {month}") for day, spoken in enumerate(DAYS, 1) for month in MONTHS]
    return [
        (0.08, [("PUNCT", mark, "sil") for mark in ".,;:()«»"]),
        (0.01, [("PUNCT", '"', '"')]),
        (0.73, [("PLAIN", word, word) for word in ["и", "в", "не", *words]]),
        (0.03, [("PLAIN", name, " ".join(f"{LETTERS[c]}_trans" for c in name.lower())) for name in names]),
        (0.06, [("CARDINAL", f"{n}", _spoken(n)) for n in range(100)]),
        (0.05, [("DATE", written, spoken) for written, spoken in days]),
        (0.04, ODD),
    ]


def _spoken(n: int) -> str:
    """0 to 99 in words."""
    if n < 20:
        return SMALL[n]
    return TENS[n // 10 - 2] + (f" {SMALL[n % 10]}" if n % 10 else "")
