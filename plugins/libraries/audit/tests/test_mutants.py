"""Mutated submissions: hundreds, the same for the same seed, of every kind."""

from __future__ import annotations

import re
from itertools import islice

from mlecore_audit.mutants import Grid, mutants

SAMPLE = ("id,target,note\n" + "".join(f'a{i},0.{i},"x, {i}"\n' for i in range(10))).encode()


def stream(count: int, seed: int = 0) -> dict[str, bytes]:
    return {m.name: m.data for m in islice(mutants({"sample": SAMPLE, "perfect": SAMPLE}, ["id"], seed), count)}


def test_the_same_seed_gives_the_same_stream_however_long() -> None:
    assert list(stream(900).items())[:300] == list(stream(300).items())
    assert stream(900) != stream(900, seed=1)


def test_every_kind_is_there() -> None:
    made = stream(1500)
    assert made["sample: blank file"] == b""
    assert made["sample: header only"] == b"id,target,note\n"
    assert made["sample: byte order mark"].startswith(b"\xef\xbb\xbfid")
    assert made["sample: CRLF"].count(b"\r\n") == 11
    assert made["sample: comma at the end of every row"].splitlines()[1] == b'a0,0.0,"x, 0",'
    assert made["sample: column target dropped"].splitlines()[1] == b'a0,"x, 0"'
    assert made["sample: an index column first"].splitlines()[:2] == [b",id,target,note", b'0,a0,0.0,"x, 0"']
    assert made["sample: all of target as floats"] == SAMPLE
    assert made["sample: all of target is '1e400'"].splitlines()[3] == b'a2,1e400,"x, 2"'
    assert made["perfect: all of target in full-width digits"].splitlines()[1].decode().split(",")[1] == "０.０"
    assert sorted(made["sample: rows shuffled"].splitlines()) == sorted(SAMPLE.splitlines())
    assert sum("; " in name for name in made) > 100  # pairs


def test_words_of_lists() -> None:
    boxes = b"id,boxes\n" + b"".join(b"a%d,car 0.5 %d 9\n" % (i, i) for i in range(5))
    made = {m.name: m.data for m in islice(mutants({"sample": boxes}, ["id"], 0), 500)}
    for what, cell in (
        ("word 2 is 'nan'", rb"car nan \d 9"),
        ("holds its words twice", rb"car 0.5 (\d) 9 car 0.5 \1 9"),
        ("has a blank at its end", rb"car 0.5 \d 9 "),
    ):
        name = next(name for name in made if name.startswith("sample: boxes of row") and name.endswith(what))
        assert re.search(rb",%s\n" % cell, made[name]), what


def test_a_grid_keeps_quotes_and_line_breaks() -> None:
    data = b'id,text\n1,"a ""quoted"" word"\n2,"two\nlines"\n3,\n'
    assert Grid.parse(data).render() == data
