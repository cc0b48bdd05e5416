"""Renamed data under attack from inside the sandbox, with all of mlecore's code at hand: only the seed is secret."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mle_ext_obfuscation import naming
from mle_ext_obfuscation.hiding import HiddenNames, renaming_of
from mle_ext_obfuscation.renaming import Renaming

from mlecore import competition
from mlecore.controller.shown import show
from mlecore.data.layout import OBFUSCATED, DataDirs
from mlecore.data.prepared import Prepared
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.model.facts import Facts
from mlecore.model.shown import Shown


@pytest.fixture
def target(tmp_path: Path) -> tuple[Facts, Prepared, DataDirs]:
    found, dirs = competition("spaceship-titanic"), DataDirs.of([tmp_path / "data"])
    return found.facts, prepare(found, dirs, Synthetic(size=2)).prepared, dirs


def guesses(shown: Shown, facts: Facts, data: Prepared) -> Iterator[bytes]:
    """Seeds that follow from what an agent sees or may know of the original."""
    name, description = shown.competition, shown.description
    known = [name, name.removeprefix("task-"), description, facts.id, facts.obfuscated_description, data.digest, ""]
    known += [f"{what}\0{data.digest}\0{facts.obfuscated_description}" for what in ("full", "description")]
    for text in [*known, shown.dataset.digest, shown.dataset.public.as_posix()]:
        digest = hashlib.sha256(text.encode())
        yield from (text.encode(), digest.digest(), digest.hexdigest().encode(), digest.hexdigest()[:16].encode())
        yield int(digest.hexdigest()[:16], 16).to_bytes(32)
    yield from (bytes(32), b"\0", b"1")


def renamed_orders(letter: str, count: int, new: set[str], seed: bytes, *what: str) -> Iterator[list[str]]:
    """New names in the order of the old ones, had they been drawn with this seed: by today's code and earlier code."""
    for random in (naming.random_for(seed, *what), np.random.default_rng(int.from_bytes(seed))):
        drawn = list(naming.fresh(letter, count, (), random))
        if set(drawn) == new:
            yield drawn


def seen_orders(public: Path, shown: Shown) -> Iterator[list[str]]:
    """Names as they follow each other in tables, on disk, and in the sandbox's own files."""
    for table in sorted(public.glob("*.csv")):
        with table.open(newline="") as file:
            header, *rows = csv.reader(file)
        yield header
        yield from ([row[place] for row in rows] for place in range(len(header)) if rows[0][place].startswith("r"))
    yield list(json.loads(shown.format.to_json(own_rules=False))["columns"])
    for folder in [public, *(path for path in public.iterdir() if path.is_dir())]:
        with os.scandir(folder) as entries:
            there = [(entry.stat(), entry.name) for entry in entries]
        yield [name for _, name in there]
        for key in ("st_ino", "st_mtime_ns", "st_ctime_ns"):
            yield [name for _, name in sorted(there, key=lambda pair: getattr(pair[0], key))]


def agreement(guess: list[str], truth: list[str]) -> float:
    """Rank correlation of two orders over the names that both have, without sign."""
    places = {name: place for place, name in enumerate(dict.fromkeys(guess))}
    found = [places[name] for name in truth if name in places]
    if len(found) < 10:
        return 0.0
    return abs(float(np.corrcoef(np.argsort(np.argsort(found)), np.arange(len(found)))[0, 1]))


def best(orders: Iterator[list[str]], truth: list[str]) -> float:
    return max(agreement(order, truth) for order in orders)


def test_no_order_comes_back_from_what_an_agent_has(target: tuple[Facts, Prepared, DataDirs]) -> None:
    facts, data, dirs = target
    shown = show(facts, data, dirs, "full")
    names = names_in(shown)
    public = shown.dataset.public
    every = sorted({json.dumps(order): order for order in seen_orders(public, shown)}.values())
    for letter, truth in (("c", list(names.columns.values())), ("r", list(names.ids.values()))):
        new = set(truth) if letter == "c" else all_ids(names, public)
        drawn = [
            order
            for seed in guesses(shown, facts, data)
            for what in (("columns",), ("ids", names.id), ("ids", names.columns[names.id]), ("rows", ""), ())
            for order in renamed_orders(letter, len(new), new, seed, *what)
        ]
        assert len(drawn) > 100  # the attack is carried out
        limit = 0.95 if len(truth) < 20 else 0.5  # one of some 500 random orders gets that far once in 10,000 times
        assert best(iter([*every, *drawn]), truth) < limit


def names_in(shown: Shown) -> Renaming:
    assert isinstance(shown, HiddenNames)
    return renaming_of(shown.facts, shown.prepared, shown.dataset.public.parents[1], shown.competition)


def all_ids(names: Renaming, public: Path) -> set[str]:
    """The new ids of all tables."""
    found = set()
    for table in public.glob("*.csv"):
        with table.open(newline="") as file:
            found |= {row[names.columns[names.id]] for row in csv.DictReader(file)}
    return found


def test_another_machine_has_other_names_and_the_same_one_has_them_again(
    target: tuple[Facts, Prepared, DataDirs], tmp_path: Path
) -> None:
    facts, data, dirs = target
    for hidden in ("description", "full"):
        here = show(facts, data, dirs, hidden)
        there = show(facts, data, DataDirs.of([tmp_path / "another", *dirs.dirs]), hidden)
        assert here.competition != there.competition and here.dataset.digest != there.dataset.digest
        assert here.description_digest == there.description_digest  # results compare
        assert show(facts, data, dirs, hidden).dataset == here.dataset
    assert names_in(here).ids != names_in(there).ids


@pytest.mark.skipif(os.name != "posix", reason="no permissions")
def test_only_the_user_reads_the_seed_and_the_names_and_neither_is_among_what_is_staged(
    target: tuple[Facts, Prepared, DataDirs],
) -> None:
    facts, data, dirs = target
    shown = show(facts, data, dirs, "full")
    (seed,) = (dirs.first / OBFUSCATED).glob("*.seed")
    for path in (seed, shown.dataset.public.parent / "names.json"):
        assert path.stat().st_mode & 0o777 == 0o600 and not path.is_relative_to(shown.dataset.public)
    secret = seed.read_bytes()
    assert len(secret) == 32
    for path in shown.dataset.public.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert secret not in content and secret.hex().encode() not in content
