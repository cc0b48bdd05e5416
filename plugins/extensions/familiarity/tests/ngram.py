"""A real, tiny language model: bigrams of words with add-one smoothing, behind the completions protocol."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from mlecore_testing.http_server import Handler

TOKEN = re.compile(r"\s*\S+")


class Bigrams:
    """P(word | the word before) = (pairs + 1) / (firsts + vocabulary + 1); the last 1 is for words never seen."""

    def __init__(self, text: str) -> None:
        words = text.split()
        self.pairs = Counter(pairwise(words))
        self.firsts = Counter(words[:-1])
        self.vocabulary = len(set(words))

    def probability(self, first: str, second: str) -> float:
        return (self.pairs[first, second] + 1) / (self.firsts[first] + self.vocabulary + 1)

    def mean(self, text: str) -> float:
        """Over the tokens of a text but the first."""
        found = [self.probability(first, second) for first, second in pairwise(text.split())]
        return math.fsum(found) / len(found)

    def completion(self, prompt: str) -> dict[str, Any]:
        tokens = list(TOKEN.finditer(prompt))
        words = [token[0].strip() for token in tokens]
        known = [math.log(self.probability(first, second)) for first, second in pairwise(words)]
        likely = max(self.pairs, key=lambda pair: (pair[0] == words[-1], self.pairs[pair]))[1]
        return {
            "tokens": [*(token[0] for token in tokens), f" {likely}"],
            "text_offset": [*(token.start() for token in tokens), len(prompt)],
            "token_logprobs": [None, *known, math.log(self.probability(words[-1], likely))],
        }


class Server(ThreadingHTTPServer):
    """Echoes log-probabilities by ``model``, and answers chats by ``reply``; ``status`` other than 200: an error."""

    daemon_threads = True
    model: Bigrams | None = None
    status = 200
    location = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Completions)
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []
        self.reply: Callable[[str], str] = lambda question: "I do not know."

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Completions(Handler):
    server: Server

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.body())
        self.server.asked.append((self.path, body, self.headers["Authorization"]))
        if self.path.endswith("/chat/completions"):
            content = self.server.reply(body["messages"][0]["content"])
            answer = {"choices": [{"message": {"role": "assistant", "content": content}}]}
        else:
            model = self.server.model
            answer = {"choices": [{"text": "", "logprobs": model and model.completion(body["prompt"])}]}
        counted = answer | {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}
        content = json.dumps(counted if self.server.status == 200 else {"said": self.headers["Authorization"]}).encode()
        self.answer(self.server.status, content, {"Location": self.server.location} if self.server.location else {})

    def do_GET(self) -> None:  # noqa: N802
        self.server.asked.append((self.path, {}, self.headers["Authorization"]))
        self.send_error(404)
