"""A server of OpenAI's chat API whose model calls `bash` once per conversation, with the next of some commands.

`python scripted_model.py COMMANDS.json` prints its base URL, and serves until it is killed. Standard library alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from threading import Lock, Thread
from typing import Any


def create(commands: Sequence[str], context: int = 2**30) -> ThreadingHTTPServer:
    """The server, on a free port. ``server.seen`` are the bodies of the requests; ``context`` is their longest, in
    bytes."""
    following, lock, seen = cycle(commands), Lock(), list[dict[str, Any]]()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(size))
            if size > context:
                self.send_error(400, "the request exceeds the context")
                return
            with lock:
                seen.append(body)
                first = not any(message["role"] == "assistant" for message in body["messages"])
                message: dict[str, Any] = {"role": "assistant", "content": "I am done."}
                if first:
                    function = {"name": "bash", "arguments": json.dumps({"command": next(following)})}
                    call = {"index": 0, "id": f"call-{len(seen)}", "type": "function", "function": function}
                    message = {"role": "assistant", "reasoning_content": "Try.", "tool_calls": [call]}
            self._send(message, "tool_calls" if first else "stop", body.get("stream", False))

        def _send(self, message: dict[str, Any], reason: str, stream: bool) -> None:
            known = {"id": "chat", "created": 1, "model": "scripted"}
            usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
            if stream:
                choices = [{"index": 0, "delta": message}], [{"index": 0, "delta": {}, "finish_reason": reason}], []
                chunks = [{**known, "object": "chat.completion.chunk", "choices": choice} for choice in choices]
                chunks[-1]["usage"] = usage
                text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            else:
                choice = {"index": 0, "message": message, "finish_reason": reason}
                text = json.dumps({**known, "object": "chat.completion", "choices": [choice], "usage": usage})
            content = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = seen  # type: ignore[attr-defined]
    return server


@contextmanager
def serving(commands: Sequence[str], context: int = 2**30) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its base URL, and the bodies of its requests."""
    server = create(commands, context)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.seen  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    scripted = create(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print(f"http://127.0.0.1:{scripted.server_port}/v1", flush=True)
    scripted.serve_forever()
