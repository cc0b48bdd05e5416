"""Rule: prepared data are where the facts say, and are nothing but files and folders."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore.data.manifest import walk
from mlecore.errors import DataError
from mlecore.model.sample import sample_bytes
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Stop


def layout(harness: Harness) -> Iterator[Broken]:
    try:
        files = sorted(path for path, _ in walk(harness.prepared))
    except DataError as error:
        raise Stop(str(error)) from None
    facts = harness.facts
    if not (harness.prepared / facts.answers).is_file():
        raise Stop(f"prepare wrote no {facts.answers}, where the answers should be")
    try:
        sample_bytes(facts, harness.public)
    except DataError as error:
        raise Stop(error.message) from None
    if facts.gold_submission and facts.gold_submission not in files:
        yield Broken(f"there is no {facts.gold_submission}", "competition.toml, gold_submission")
    for table, paths in (("md5", facts.md5), ("expect", facts.expect)):
        for path in paths:
            if path.startswith(("public/", "private/")) and not (harness.prepared / path).exists():
                yield Broken(f"prepare wrote no {path}", f"competition.toml, [{table}]")
    for path in files:
        if not path.isprintable() or "\\" in path or any(ord(letter) > 0xFFFF for letter in path):
            yield Broken("a file name that not every system allows", ascii(path))
    if harness.public.joinpath("description.md").read_text(encoding="utf-8") != facts.description:
        yield Broken("prepare wrote its own description.md; the package's is the one that counts", "public/")
