"""Familiarity from an endpoint with scripted log-probabilities, recomputed by hand, and its relation to positions."""

from __future__ import annotations

import itertools
import json
import math
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_familiarity import command
from mle_ext_familiarity.measure import Familiarity, read_text, texts_of
from mle_ext_familiarity.probability import Endpoint, mean_probability, pieces
from mle_ext_familiarity.relation import relate

from mlecore import competition
from mlecore.errors import EndpointError, UsageError

ID = "spooky-author-identification"


def probability(word: str) -> float:
    """What the scripted model gives to a token: it knows long words."""
    return min(0.9, len(word.strip()) / 10 + 0.05)


class Model(BaseHTTPRequestHandler):
    """Completions that echo: a token is a word with the white space before it."""

    asked: list[dict[str, object]]
    keys: list[str | None]
    plain = False
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/completions"
        self.asked.append(body)
        self.keys.append(self.headers["Authorization"])
        tokens = list(re.finditer(r"\s*\S+", body["prompt"]))
        added = [" more"]
        logprobs = {
            "tokens": [token[0] for token in tokens] + added,
            "text_offset": [token.start() for token in tokens] + [len(body["prompt"])],
            "token_logprobs": [None, *(math.log(probability(token[0])) for token in tokens[1:]), -0.001],
        }
        choice = {"text": "", "logprobs": None if self.plain else logprobs}
        content = json.dumps({"choices": [choice]}).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[tuple[Endpoint, type[Model]]]:
    handler = type("Scripted", (Model,), {"asked": [], "keys": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Endpoint(url=f"http://127.0.0.1:{server.server_port}/v1", model="m", key="k"), handler
    server.shutdown()
    server.server_close()


def by_hand(text: str) -> float:
    words = text.split()[1:]
    return sum(map(probability, words)) / len(words)


def test_the_mean_is_that_of_the_prompts_tokens(model: tuple[Endpoint, type[Model]]) -> None:
    endpoint, handler = model
    mean, tokens = mean_probability(endpoint, "One two three\nfour, and antidisestablishment")
    assert tokens == 5
    assert mean == pytest.approx((0.35 + 0.55 + 0.55 + 0.35 + 0.9) / 5, abs=1e-12)
    (asked,) = handler.asked
    assert (asked["model"], asked["echo"], asked["logprobs"], handler.keys) == ("m", True, 1, ["Bearer k"])
    assert "k" not in repr(endpoint).replace("key", "")[-3:]


def test_a_long_text_is_sent_in_pieces_without_loss() -> None:
    text = "".join(f"line {n} of a text\n" for n in range(1000)) + "x" * 9000
    found = list(pieces(text))
    assert "".join(found) == text and max(map(len, found)) <= 4000
    assert all(piece.endswith("\n") for piece in found[:3])
    assert list(pieces(" \n")) == []


def test_pieces_count_by_their_tokens(model: tuple[Endpoint, type[Model]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mle_ext_familiarity.probability.pieces", lambda text: ["a bb ccc", "dd eeee"])
    mean, tokens = mean_probability(model[0], "")
    assert (mean, tokens) == (pytest.approx((0.25 + 0.35 + 0.45) / 3), 3)


@pytest.mark.parametrize(
    ("change", "words"), [({"plain": True}, "no log-probabilities"), ({"status": 403}, "answers 403")]
)
def test_an_endpoint_that_cannot_tell(
    model: tuple[Endpoint, type[Model]], change: dict[str, object], words: str
) -> None:
    endpoint, handler = model
    for name, value in change.items():
        setattr(handler, name, value)
    with pytest.raises(EndpointError, match=words):
        mean_probability(endpoint, "some words")


def test_an_endpoint_that_is_not_there() -> None:
    with pytest.raises(EndpointError, match="cannot be asked"):
        mean_probability(Endpoint(url="http://127.0.0.1:9", model="m"), "some words")


def test_the_command_compares_a_page_with_the_obfuscated_description(
    model: tuple[Endpoint, type[Model]], tmp_path: Path
) -> None:
    (tmp_path / f"{ID}.html").write_text(
        "<html><style>p {}</style><script>no()</script><p>Identify horror&nbsp;authors</p><p>from sentences</p></html>"
    )
    asked = ["--model", "m", "--endpoint", model[0].url, "--texts", str(tmp_path)]
    done = CliRunner().invoke(command, [*asked, "--json"], catch_exceptions=False)
    (found,) = json.loads(done.stdout)["competitions"]
    control = competition(ID).facts.obfuscated_description
    seen = [str(asked["prompt"]) for asked in model[1].asked]
    assert seen[-1].split() == "Identify horror authors from sentences".split() and "".join(seen[:-1]) == control
    assert found["text"] == pytest.approx(by_hand("Identify horror authors from sentences"))
    assert found["control"] == pytest.approx(by_hand(control))
    shown = CliRunner().invoke(command, asked, catch_exceptions=False).stdout.splitlines()
    assert shown[0].split() == ["competition", "text", "control", "difference", "tokens", "position"]
    assert shown[1].split() == [
        ID, f"{found['text']:.4f}", f"{found['control']:.4f}", f"{found['text'] - found['control']:.4f}", "4"
    ]  # fmt: skip


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


def row(text: float, control: float, position: float | None) -> Familiarity:
    return Familiarity(competition="x", text=text, control=control, tokens=1, position=position)


def spearman(x: tuple[float, ...], y: tuple[float, ...]) -> float:
    """Without ties, by the formula of the squared differences of ranks."""
    ranks = [[sorted(values).index(value) for value in values] for values in (x, y)]
    n = len(x)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(*ranks, strict=True)) / (n * (n * n - 1))


def test_a_relation_is_spearmans_with_an_exact_p() -> None:
    x, y = (0.3, 0.1, 0.5, 0.2, 0.4), (0.6, 0.2, 0.9, 0.1, 0.5)
    found = [row(a, 0.0, b) for a, b in zip(x, y, strict=True)]
    relation = relate([*found, row(0.9, 0.0, None)])[0]
    rho = spearman(x, y)
    all_rhos = [spearman(shuffled, y) for shuffled in itertools.permutations(x)]
    above = sum(value >= rho - 1e-9 for value in all_rhos) / len(all_rhos)
    below = sum(value <= rho + 1e-9 for value in all_rhos) / len(all_rhos)
    assert (relation.between, relation.competitions) == (("text", "position"), 5)
    assert relation.rho == pytest.approx(rho) and relation.p == pytest.approx(min(1.0, 2 * min(above, below)))


def test_the_difference_is_related_too() -> None:
    found = [row(0.5, control, position) for control, position in ((0.4, 0.1), (0.3, 0.2), (0.2, 0.3), (0.1, 0.4))]
    text, difference = relate(found)
    assert text.rho is None and "no relation" in str(text)
    assert difference.rho == pytest.approx(1.0) and "Spearman 1.000" in str(difference)


def test_many_competitions_give_the_same_p_each_time() -> None:
    found = [row(n / 30, 0.0, ((n * 7) % 30) / 30) for n in range(30)]
    first, again = relate(found)[0], relate(found)[0]
    assert first == again and first.p is not None and 0 < first.p <= 1
