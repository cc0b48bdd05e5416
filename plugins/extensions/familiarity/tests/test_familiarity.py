"""Familiarity by a real bigram model, recomputed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_familiarity import command
from mle_ext_familiarity.calls import Calls, Endpoint
from mle_ext_familiarity.text import mean_probability, pieces, read_text, texts_of

from mlecore import competition
from mlecore.errors import UsageError

ID = "spooky-author-identification"
PAGE = "Identify horror authors from sentences of their stories . Identify horror authors !"


@pytest.fixture
def model(server, bigrams):
    server.model = bigrams("the cat sat . the cat ran . the dog sat .")
    return Calls(Endpoint(url=server.url, model="m", key="k"))


def test_the_mean_is_that_of_the_prompts_tokens(model, server) -> None:
    mean, tokens = mean_probability(model, "the cat sat\nquickly")
    # six words; after "the" (3 times) cat twice, after "cat" (twice) sat once, after "sat" (twice) never quickly
    assert tokens == 3
    assert mean == pytest.approx(((2 + 1) / (3 + 7) + (1 + 1) / (2 + 7) + (0 + 1) / (2 + 7)) / 3, abs=1e-12)
    ((path, asked, key),) = server.asked
    assert (path, asked["echo"], asked["logprobs"], key) == ("/v1/completions", True, 1, "Bearer k")


def test_a_long_text_is_sent_in_pieces_without_loss() -> None:
    text = "".join(f"line {n} of a text\n" for n in range(1000)) + "x" * 9000
    found = list(pieces(text))
    assert "".join(found) == text and max(map(len, found)) <= 4000
    assert all(piece.endswith("\n") for piece in found[:3])
    assert list(pieces(" \n")) == []


def run(server, tmp_path: Path, *more: str):
    asked = ["--model", "m", "--endpoint", server.url, "--runs", str(tmp_path / "runs"), *more]
    return CliRunner().invoke(command, asked)


def test_a_model_that_has_read_the_page_shows(server, bigrams, tmp_path: Path) -> None:
    (tmp_path / f"{ID}.html").write_text(
        f"<html><style>p {{}}</style><script>no()</script><p>{PAGE.replace('horror', 'horror&#32;')}</p></html>"
    )
    control = competition(ID).facts.obfuscated_description
    differences = []
    for text in (f"{PAGE} {PAGE}", "an unrelated story of a ship and its crew"):
        server.model = bigrams(text)
        done = run(server, tmp_path / text[:2], "--texts", str(tmp_path), "--json")
        (found,) = json.loads(done.stdout)["competitions"]
        assert found["value"] == pytest.approx(server.model.mean(PAGE))
        assert len(control) < 4000 and found["base"] == pytest.approx(server.model.mean(control))
        differences.append(found["value"] - found["base"])
    assert differences[0] > 0.02 > abs(differences[1])


def test_texts_that_are_missing_or_empty_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no text of an installed competition"):
        texts_of(tmp_path, [])
    (tmp_path / "unknown.md").write_text("x")
    with pytest.raises(UsageError, match=f"no text of {ID}"):
        texts_of(tmp_path, [ID])
    (tmp_path / f"{ID}.md").write_text(" ")
    assert list(texts_of(tmp_path, [])) == [ID]
    with pytest.raises(UsageError, match="has no text"):
        read_text(tmp_path / f"{ID}.md")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--competition", ID], "there is no text to measure"),
        (["--measure", "questions"], "no competition is named"),
        (["--cutoff", "2024-01"], "needs the days"),
    ],
)
def test_what_is_missing_is_named(server, tmp_path: Path, more: list[str], words: str) -> None:
    done = run(server, tmp_path, *more)
    assert done.exit_code != 0 and words in str(done.exception) and not server.asked
